"""Networks with copies: what a text names, wherever it comes from."""

from __future__ import annotations

from collections.abc import Callable

from dse.errors import WorkloadError
from dse.workload.workload import split_copies
from sdf.errors import GraphError


def find_network(text: str, locate: Callable[[str], str] = str) -> tuple[str, int]:
    """Return the source of a network and its number of copies.

    Args:
        text: ``NAME`` of the catalogue or ``FILE``, each also with ``*COPIES``.
        locate: turns a file that is named into the one that is read; raises if it may not be.

    Raises:
        WorkloadError: on a text that names neither, or a number of copies that is none.
    """
    # Imported here: most commands read result folders, and need no catalogue.
    from sdf.catalogue.catalogue import find_source

    source, copies = split_copies(text)
    try:
        return find_source(source, locate), copies
    except GraphError as error:
        raise WorkloadError(str(error)) from None
