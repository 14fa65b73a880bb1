"""What the search refuses, and what it cannot find."""


class DseError(Exception):
    """Base of all errors that are the input's fault."""


class WorkloadError(ValueError):
    """A workload or option that cannot be used; names the field, the requirement, the value."""


class InternalError(Exception):
    """A fault of the program itself; nothing is returned or claimed."""


class InfeasibleError(Exception):
    """A sound problem without a design point that meets all constraints; says what is nearest."""
