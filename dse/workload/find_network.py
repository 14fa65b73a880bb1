"""Resolution of a network's name or file, with its number of copies."""

from __future__ import annotations

from collections.abc import Callable

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.workload.workload import split_copies
from paretosoc.sdf.errors import GraphError


def find_network(text: str, locate: Callable[[str], str] = str) -> tuple[str, int]:
    """Return the source of a network and its number of copies.

    Args:
        text: ``NAME`` of the catalogue or ``FILE``, each also with ``*COPIES``.
        locate: maps a named file to the one that is read. Raises if that is not permitted.

    Raises:
        WorkloadError: on a text that names neither, or a number of copies that is none.
    """
    # Imported here: most commands read result folders, and need no catalogue.
    from paretosoc.sdf.catalogue.catalogue import find_source

    source, copies = split_copies(text)
    try:
        return find_source(source, locate), copies
    except GraphError as error:
        raise WorkloadError(str(error)) from None
