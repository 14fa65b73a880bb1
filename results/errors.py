"""The one error that reading, checking and building results raises."""


class ResultError(ValueError):
    """A problem, front or file that is not sound; the message names the field and the value."""
