"""A folder with a deployment: ``deployment.json``, which names all the others; written whole or not
at all."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from results.deploy.deployment_document import DEPLOYMENT_FORMAT
from results.errors import ResultError
from results.io.atomic_folder import check_own_folder, remove_files, write_whole_folder
from results.io.canonical_json import Json, canonical_bytes, parse
from results.io.schema import check_against_schema

DEPLOYMENT_FILE = "deployment.json"


def write_deployment(
    folder: Path,
    fill: Callable[[Path], Callable[[dict[str, str]], dict[str, Json]]],
    *,
    overwrite: bool = False,
) -> None:
    """Writes a deployment.

    Args:
        folder: where to; an older deployment is replaced with ``overwrite``.
        fill: writes the files into the folder that it is given, and returns what makes the content
            of ``deployment.json`` from their names and SHA-256s.
        overwrite: replace an older deployment.

    Raises:
        ResultError: where the folder exists (without ``overwrite``) or holds anything but a
            deployment of ours (with it), or cannot be written.
    """
    check_deployment_folder(folder, overwrite=overwrite)

    def fill_whole(part: Path) -> None:
        describe = fill(part)
        names = {path.name: _sha256(path) for path in part.iterdir()}
        document = describe(names)
        check_against_schema(document, "deployment")
        (part / DEPLOYMENT_FILE).write_bytes(canonical_bytes(document))

    write_whole_folder(
        folder,
        fill_whole,
        check=lambda: check_deployment_folder(folder, overwrite=overwrite),
        remove=lambda old: remove_files(old, _files_of(old)),
    )


def check_deployment_folder(folder: Path, *, overwrite: bool) -> None:
    """Accepts a folder that :func:`write_deployment` may write.

    Raises:
        ResultError: where the folder exists and ``overwrite`` is false, or holds anything that its
            ``deployment.json`` does not name.
    """
    check_own_folder(folder, lambda entry: entry.name in _files_of(folder), overwrite=overwrite)


def _files_of(folder: Path) -> set[str]:
    """Names that the folder's ``deployment.json`` names, itself included; none where it has none.

    Engines and profiles that were made beside the files are left alone.
    """
    path = folder / DEPLOYMENT_FILE
    if not path.is_file() or path.is_symlink():
        return set()
    try:
        document = parse(path.read_bytes())
    except ResultError:
        return set()
    if not isinstance(document, dict) or document.get("format") != DEPLOYMENT_FORMAT:
        return set()
    files = document.get("files")
    entries = files if isinstance(files, list) else []
    names = {entry.get("name") for entry in entries if isinstance(entry, dict)}
    own = {name for name in names if isinstance(name, str) and Path(name).name == name}
    return {DEPLOYMENT_FILE} | {
        name for name in own if not (folder / name).is_symlink() and not (folder / name).is_dir()
    }


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
