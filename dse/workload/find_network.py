"""The one gate for networks: what a text names, wherever it comes from."""

from __future__ import annotations

import os
from collections.abc import Callable

from common.text import has_control_characters
from dse.errors import WorkloadError
from dse.workload.workload import split_copies


def find_network(text: str, locate: Callable[[str], str] = str) -> tuple[str, int]:
    """Return the source of a network and its number of copies.

    Args:
        text: ``NAME`` of the catalogue or ``FILE``, each also with ``*COPIES``.
        locate: turns a file that is named into the one that is read; raises if it may not be.

    Raises:
        WorkloadError: on a text that names neither, or a number of copies that is none.
    """
    from sdf.catalogue.catalogue import catalogue, nearest_names

    if has_control_characters(text):
        raise WorkloadError(f"network {text!r}: must not have control characters")
    source, copies = split_copies(text)
    if any(entry.name == source for entry in catalogue()):
        return source, copies
    file = locate(source)
    if os.path.isfile(file):
        return file, copies
    if source.endswith(".onnx"):
        raise WorkloadError(f"network {source!r}: there is no file {file!r}")
    raise WorkloadError(
        f"no network {source!r} in the catalogue, and no such .onnx file; {nearest_names(source)}"
    )
