"""A folder with a deployment: ``deployment.json``, which names all the others. Written whole or not
at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePosixPath

from paretosoc.common.files import file_sha256
from paretosoc.results.deploy.deployment_document import DEPLOYMENT_FORMAT
from paretosoc.results.errors import ResultError
from paretosoc.results.io.atomic_folder import check_own_folder, remove_files, write_whole_folder
from paretosoc.results.io.canonical_json import Json, canonical_bytes, parse
from paretosoc.results.io.document import check_against_schema

DEPLOYMENT_FILE = "deployment.json"


def write_deployment(
    folder: Path,
    fill: Callable[[Path], Callable[[dict[str, str]], dict[str, Json]]],
    *,
    overwrite: bool = False,
) -> None:
    """Write a deployment.

    Args:
        folder: the target. An older deployment is replaced with ``overwrite``.
        fill: writes the files into the folder that it is given, and returns a function from their
            names and SHA-256s to the content of ``deployment.json``.
        overwrite: replace an older deployment.

    Raises:
        ResultError: if the folder exists (without ``overwrite``) or holds anything but a deployment
            of ours (with it), or cannot be written.
    """
    check_deployment_folder(folder, overwrite=overwrite)

    def fill_whole(part: Path) -> None:
        describe = fill(part)
        names = {
            path.relative_to(part).as_posix(): file_sha256(path)
            for path in part.rglob("*")
            if path.is_file()
        }
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
    """Accept a folder that :func:`write_deployment` may write.

    Raises:
        ResultError: if the folder exists and ``overwrite`` is false, or holds anything that its
            ``deployment.json`` does not name.
    """
    check_own_folder(folder, lambda entry: _is_own(entry, folder), overwrite=overwrite)


def _files_of(folder: Path) -> set[str]:
    """Return the names that the folder's ``deployment.json`` lists, itself included. There are none
    if the folder has no such file.

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
    return {DEPLOYMENT_FILE} | {n for n in names if isinstance(n, str) and _is_file_of(folder, n)}


def _is_file_of(folder: Path, name: str) -> bool:
    """Return whether a name is a file below the folder, neither a folder nor reached by a link."""
    path = PurePosixPath(name)
    if path.as_posix() != name or path.is_absolute() or ".." in path.parts:
        return False
    steps = [folder / step for step in (path, *path.parents) if step.parts]
    return not (folder / path).is_dir() and not any(step.is_symlink() for step in steps)


def _is_own(entry: Path, folder: Path) -> bool:
    """Return whether a file is ours, or a folder holds ours alone."""
    own = _files_of(folder)
    if entry.is_dir() and not entry.is_symlink():
        held = [path for path in entry.rglob("*") if path.is_symlink() or not path.is_dir()]
        return bool(held or any(name.startswith(f"{entry.name}/") for name in own)) and all(
            path.relative_to(folder).as_posix() in own for path in held
        )
    return entry.name in own
