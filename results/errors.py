"""The error that reading, checking and building results raises."""

from paretosoc.common.errors import DseError


class ResultError(DseError, ValueError):
    """A problem, front or file that is not sound. The message names the field and the value."""


class MissingMemberError(ResultError, IndexError):
    """A position at which a front has no member. Loops over positions end at it."""
