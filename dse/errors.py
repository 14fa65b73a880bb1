"""What the search refuses, and what it cannot find."""

from __future__ import annotations

from common.errors import DseError as DseError


class WorkloadError(DseError, ValueError):
    """A workload or option that cannot be used; names the field, the requirement, the value."""


class InfeasibleError(DseError):
    """A sound problem without a design point that meets all constraints; says what is nearest."""


class InternalError(Exception):
    """A fault of the program itself; nothing is returned or claimed."""
