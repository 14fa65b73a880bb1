"""Errors of the search: refused inputs and problems without a solution."""

from __future__ import annotations

from paretosoc.common.errors import DseError as DseError


class WorkloadError(DseError, ValueError):
    """A workload or option that cannot be used. Names the field, the requirement and the value."""


class InfeasibleError(DseError):
    """A sound problem without a design point that meets all constraints. Says what is nearest."""


class InternalError(Exception):
    """A fault of the program itself. Nothing is returned or claimed."""
