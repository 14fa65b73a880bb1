"""Files of dataflow graphs, by their endings."""

from __future__ import annotations

from pathlib import Path

from paretosoc.common.files import read_file
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.formats.graph_json import parse_graph_json
from paretosoc.sdf.formats.sdf3_xml import MAX_BYTES, parse_sdf3
from paretosoc.sdf.graph import SdfGraph


def read_graph(path: Path) -> SdfGraph:
    """Return the graph of a file: ``.json`` as ``dse analyze csdf`` writes it, else SDF3's XML.

    Raises:
        GraphError: if the file cannot be read or is not a graph.
    """
    parse = parse_graph_json if path.suffix == ".json" else parse_sdf3
    return parse(read_file(path, GraphError, MAX_BYTES), origin=str(path))
