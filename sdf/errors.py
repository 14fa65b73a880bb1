"""The one error that reading, building and analysing graphs raises."""


class GraphError(ValueError):
    """A model, graph or grouping that cannot be used; the message names what, where and why."""
