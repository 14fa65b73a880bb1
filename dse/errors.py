"""What the search refuses, and what it cannot find."""


class WorkloadError(ValueError):
    """A workload or option that cannot be used; names the field, the requirement, the value."""


class InternalError(Exception):
    """A fault of the program itself; nothing is returned or claimed."""


class InfeasibleError(Exception):
    """A sound problem without a design point that meets all constraints; says what is nearest."""
