"""Read the output of TensorRT's inspector about an engine: ``--exportLayerInfo`` of trtexec.

It has no times. With ``--profilingVerbosity=detailed`` each layer of the engine has the nodes of
the ONNX file that it was made of. The layer names of newer versions do not have them
(``__myl_Fc_myl0_1``).
"""

from __future__ import annotations

import re

from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.exact_json import parse_exact

_DUMP = re.compile(r'\s*\{\s*"')
_SEPARATORS = re.compile(r"\\u001[efEF]|[\x1e\x1f]")
"""Between the nodes of a layer: control characters, which no text of ours has."""
_NODE = re.compile(r"\[ONNX Layer: (.*?)\](?=\s|\[|$)")


def is_layer_info(text: str) -> bool:
    """Return whether a text is a dump of the inspector, an object, and not a profile."""
    return _DUMP.match(text) is not None


def parse_layer_info(text: str, label: str) -> dict[str, tuple[str, ...]]:
    """Return each layer of the engine with the nodes that it was made of.

    Messages start with ``label``.

    Raises:
        PlatformError: if the text is not JSON, or names no node.
    """
    document = parse_exact(_SEPARATORS.sub(" ", text).encode("utf-8", "replace"), label)
    layers = document.get("Layers")
    layers = layers if isinstance(layers, list) else []
    nodes: dict[str, tuple[str, ...]] = {}
    for layer in layers:
        if not isinstance(layer, dict) or not isinstance(layer.get("Name"), str):
            continue
        found = _NODE.findall(str(layer.get("Metadata", "")))
        if found:
            nodes[layer["Name"]] = tuple(dict.fromkeys(found))
    if not nodes:
        raise PlatformError(
            f"{label}: must name the ONNX nodes of Layers, got {len(layers)} without: build the "
            "engine with --profilingVerbosity=detailed"
        )
    return nodes
