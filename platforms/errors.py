"""The one error that reading and checking platforms raises."""


class PlatformError(ValueError):
    """A platform that cannot be used; the message names the field, the requirement, the value."""
