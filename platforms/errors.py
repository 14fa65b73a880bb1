"""The one error that reading and checking platforms raises."""

from paretosoc.common.errors import DseError


class PlatformError(DseError, ValueError):
    """A platform that cannot be used. The message names the field, the requirement and the
    value."""
