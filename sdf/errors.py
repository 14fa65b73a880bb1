"""The one error that reading, building and analysing graphs raises."""

from paretosoc.common.errors import DseError


class GraphError(DseError, ValueError):
    """A model, graph or grouping that cannot be used. The message names the object, the place and
    the reason."""
