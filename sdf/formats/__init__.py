"""File formats of dataflow graphs: SDF3 XML and JSON."""

GRAPH_SUFFIX = ".xml"
"""Ending of a dataflow graph in SDF3's format."""


def is_graph_file(path: str) -> bool:
    """Return whether a path is that of a dataflow graph, by its ending."""
    return path.lower().endswith(GRAPH_SUFFIX)
