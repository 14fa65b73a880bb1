"""One file as the result of a command. An unusable path is refused before the work."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from paretosoc.common.files import check_replaceable
from paretosoc.common.options import overwriting
from paretosoc.common.unfinished import unfinished
from paretosoc.dse.errors import WorkloadError


def check_output_file(
    path: Path | None, *, option: str = "--output", overwrite: bool, suffixes: Sequence[str] = ()
) -> None:
    """Accept a path that :func:`common.files.replace_file` may write, or None.

    Args:
        option: names the path in messages.
        suffixes: the name must end in one of these, if there are any.

    Raises:
        WorkloadError: on another ending, a file that exists (without ``overwrite``), anything else
            that exists, or a folder in which no file can be made.
    """
    if path is None:
        return
    if suffixes and path.suffix not in suffixes:
        *others, last = suffixes
        endings = f"{', '.join(others)} or {last}" if others else last
        raise WorkloadError(f"{option} {path}: a name that ends in {endings} is required")
    try:
        exists = check_replaceable(path)
    except OSError as error:
        raise WorkloadError(f"{option} {path}: {error.strerror}") from None
    if exists and not overwrite:
        raise WorkloadError(f"{option} {path}: exists already; {overwriting()} replaces it")
    target = Path(os.path.realpath(path))
    parent = next(folder for folder in target.parents if folder.exists())
    try:
        with unfinished(parent / target.name):
            pass
    except OSError as error:
        raise WorkloadError(f"{option} {path}: cannot be written: {error.strerror}") from None
