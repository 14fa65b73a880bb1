"""Files of dataflow graphs, by their endings."""

from __future__ import annotations

from pathlib import Path

from sdf.graph import SdfGraph
from sdf.graph_json import parse_graph_json
from sdf.sdf3_xml import parse_sdf3, read_bytes


def read_graph(path: Path) -> SdfGraph:
    """The graph of a file: ``.json`` as ``dse csdf`` writes it, else SDF3's XML.

    Raises:
        GraphError: if the file cannot be read or is not a graph.
    """
    parse = parse_graph_json if path.suffix == ".json" else parse_sdf3
    return parse(read_bytes(path), origin=str(path))
