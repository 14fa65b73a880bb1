"""Folders of a joined front: ``joined.json``, ``front.csv``, the page, and below them the result
folder of each combination of variants."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from paretosoc.common.files import naming, read_file
from paretosoc.common.options import as_written
from paretosoc.common.text import pluralize
from paretosoc.dse.certificate.verify.checks import Check, fails, holds, not_checked
from paretosoc.dse.tools.choose.joined import CombinationFront, joined_csv, points_for
from paretosoc.dse.tools.choose.joined_result import JoinedResult
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import (
    PROBLEM_FILE,
    REPORT_FILE,
    RESULT_FILES,
    read_closed,
    read_results,
)
from paretosoc.results.io.atomic_folder import OwnFolder
from paretosoc.results.io.canonical_json import (
    canonical_bytes,
    check_signature,
    parse,
    sha256_of,
    signed,
)
from paretosoc.results.io.document import check_against_schema
from paretosoc.results.problem.problem_file import problem_sha256

FILE, FRONT = "joined.json", "front.csv"
FORMAT = "paretosoc-joined/1"
_FILES = (FILE, FRONT, REPORT_FILE)
FrontChecks = Callable[..., Iterator[Check]]
DOMINATED = "others are at least as good"
"""The reason why a combination has no front of its own."""


def folder_names(labels: Sequence[str]) -> list[str]:
    """Return the name of a folder for each combination of variants, from its label."""
    names = [re.sub(r"[^\w.=+-]+", "-", label).strip("-.=+") for label in labels]
    return [
        name if names.count(name) == 1 and name else f"{place}-{name}".rstrip("-")
        for place, name in enumerate(names)
    ]


class _JoinedFolder(OwnFolder):
    """A folder of a joined front."""

    def files(self, folder: Path) -> set[str]:
        """Return the names in the folder and in those of the combinations."""
        below = [path.name for path in folder.iterdir() if path.is_dir() and not path.is_symlink()]
        return {*_FILES, *(f"{own}/{name}" for own in below for name in RESULT_FILES)}

    def check(self, folder: Path, *, overwrite: bool) -> None:
        """Accept a folder that :func:`write_joined` may write. Call it before the explorations.

        Raises:
            ResultError: if it exists and ``overwrite`` is false, or holds anything but a joined
                front.
        """
        super().check(folder, overwrite=overwrite)
        if folder.is_dir() and any(folder.iterdir()) and not (folder / FILE).is_file():
            raise ResultError(f"{folder}: is not replaced, it holds no {FILE}")


JOINED_FOLDER = _JoinedFolder()
check_joined_folder = JOINED_FOLDER.check


def write_joined(
    folder: Path, explore: Callable[[Path], JoinedResult], *, overwrite: bool
) -> JoinedResult:
    """Write a folder, whole or not at all. Return what it holds.

    Args:
        explore: writes the folders of the combinations below the folder that it is given.

    Raises:
        ResultError: if the folder must not be replaced or cannot be written.
    """
    found: list[JoinedResult] = []

    def fill(part: Path) -> None:
        result = explore(part)
        page, _ = result.page(None)
        (part / FILE).write_bytes(canonical_bytes(_document(result)))
        (part / FRONT).write_bytes(joined_csv([result.joined]).encode())
        (part / REPORT_FILE).write_bytes(page)
        found.append(result)

    JOINED_FOLDER.write_whole(folder, fill, overwrite=overwrite)
    return found[0]


def _document(result: JoinedResult) -> dict[str, Any]:
    return signed(
        {
            "format": FORMAT,
            "platform": result.platform,
            "command": list(result.command),
            "accuracy_sources": list(result.accuracy_sources),
            "combinations": [
                {
                    "variants": dict(each.variants),
                    "accuracies": dict(each.accuracies),
                    "folder": each.run,
                    "problem_sha256": problem_sha256(part.problem) if part else "",
                    "reason": each.reason,
                }
                for each in result.combinations
                for part in (each.front or each.closed,)
            ],
        }
    )


def read_joined(folder: Path, *, check_hashes: bool = True) -> JoinedResult:
    """Return the joined front in a folder, made of the fronts in the folders below.

    Raises:
        ResultError: if a file is missing, cannot be read, was changed, or does not belong to the
            others. It names the file and the JSON path.
    """
    path = folder / FILE
    document: Any
    with naming(path, ResultError):
        document = parse(read_file(path, ResultError))
        check_against_schema(document, "joined")
        if check_hashes:
            check_signature(document)
    combinations = tuple(
        _combination(folder, entry, check_hashes=check_hashes) for entry in document["combinations"]
    )
    with naming(path, ResultError):
        return JoinedResult(
            platform=document["platform"],
            command=tuple(document["command"]),
            accuracy_sources=tuple(document["accuracy_sources"]),
            combinations=combinations,
        )


def _combination(folder: Path, entry: dict[str, Any], *, check_hashes: bool) -> CombinationFront:
    found = CombinationFront(
        entry["variants"], entry["accuracies"], entry["folder"], None, entry["reason"]
    )
    if not found.run:
        return found
    path = folder / found.run
    if found.reason:
        found = replace(found, closed=read_closed(path, check_hashes=check_hashes))
    else:
        found = replace(found, front=read_results(path, check_hashes=check_hashes))
    data = read_file(path / PROBLEM_FILE, ResultError)
    if check_hashes and sha256_of(data) != entry["problem_sha256"]:
        raise ResultError(f"{path / PROBLEM_FILE}: is not the problem of {FILE}")
    return found


def verify_joined(
    folder: Path, *, ignore_hashes: bool, verify_front: FrontChecks
) -> Iterator[Check]:
    """Check the folder of every combination, then that ``front.csv`` is the front of all.

    ``verify_front``: checks the folder of one front, or of the proof that it needs none.
    """
    try:
        result = read_joined(folder, check_hashes=not ignore_hashes)
        table = read_file(folder / FRONT, ResultError).decode(errors="replace")
    except ResultError as error:
        yield fails("files", str(error))
        return
    below = {path.name for path in folder.iterdir() if path.is_dir()}
    if foreign := sorted(below - {each.run for each in result.combinations}):
        yield fails("files", f"{foreign[0]}: {FILE} does not have this folder")
        return
    hashes = "schema" if ignore_hashes else "schema, hashes"
    yield holds("files", f"{hashes}, {len(result.combinations)} combinations of variants")
    if ignore_hashes:
        yield not_checked("hashes", as_written("ignore_hashes", value=True))
    for each in result.combinations:
        closed = each.closed
        if each.front is None and closed is None:
            yield holds(each.label, f"nothing is claimed: {each.reason}")
            continue
        for check in verify_front(folder / each.run, closed=closed is not None):
            yield Check(f"{each.run}: {check.name}", check.verdict, check.detail)
        if closed is None:
            continue
        width = len(closed.problem.objectives)
        if closed.is_reached_by(points_for(each.accuracies, result.combinations, width)):
            infeasible = "no design point keeps all limits"
            yield holds(each.label, infeasible if closed.is_infeasible else DOMINATED)
        else:
            yield fails(each.label, "some design point may be in the joined front")
    if table != joined_csv([result.joined]):
        why = "is not what remains of the fronts of all combinations"
        yield fails("joined front", f"{FRONT}: {why}; 'dse show --csv' prints it")
        return
    detail = f"{pluralize(len(result), 'member')} that no member of any front dominates"
    yield holds("joined front", f"{result.proof}: {detail}")
