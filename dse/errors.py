"""Errors of the search: refused inputs and problems without a solution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paretosoc.common.errors import DseError as DseError

if TYPE_CHECKING:
    from paretosoc.results.export.result_folder import Closed


class WorkloadError(DseError, ValueError):
    """A workload or option that cannot be used. Names the field, the requirement and the value."""


class InfeasibleError(DseError):
    """A sound problem without a design point that meets all constraints. Says what is nearest.

    Args:
        closed: the proof that there is none. Without one, none was found.
    """

    def __init__(self, message: str, closed: Closed | None = None) -> None:
        super().__init__(message)
        self.closed = closed


class InternalError(Exception):
    """A fault of the program itself. Nothing is returned or claimed."""
