"""Run the models of this folder in ONNX Runtime, each unit's nodes on the unit's provider.

    python run.py [--optimize]

Prints which provider got each segment, and how results differ from those of the CPU's provider
alone. The exit status is 1 if a node is on another provider, or a result differs by more than 1e-5
of its largest value. With ``--optimize`` ONNX Runtime may fuse nodes. Only the remaining ones are
checked.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

CPU = "CPUExecutionProvider"
TOLERANCE = 1e-5
INTEGERS = {"tensor(bool)": np.bool_, "tensor(uint8)": np.uint8, "tensor(int8)": np.int8,
            "tensor(int32)": np.int32, "tensor(int64)": np.int64}  # fmt: skip
FLOATS = {"tensor(float16)": np.float16, "tensor(float)": np.float32, "tensor(double)": np.float64}


def placed_session(path: Path, providers: dict[str, Any], *, optimize: bool = False) -> Any:
    """Return a session with the nodes of each unit on the unit's provider.

    Args:
        path: path of the model. Nodes have their unit in ``layer_ann``.
        providers: providers by unit, as in ``deployment.json``.
        optimize: let ONNX Runtime fuse nodes.
    """
    options = _options(optimize)
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    names = dict.fromkeys(entry["provider"] for entry in providers.values())
    rules = "; ".join(
        f"{name}({', '.join('=' + u for u, e in providers.items() if e['provider'] == name)})"
        for name in names
    )
    options.add_session_config_entry("session.layer_assignment_settings", rules)
    chosen = {}
    for entry in providers.values():
        chosen[entry["provider"]] = entry["options"]
        for key, value in entry["session"].items():
            options.add_session_config_entry(key, value)
    # ONNX Runtime adds the CPU's provider as the last one if it is missing.
    own = chosen.pop(CPU, {})
    return onnxruntime.InferenceSession(str(path), options, providers=[*chosen.items(), (CPU, own)])


def assigned(session: Any) -> dict[str, str]:
    """Map each node to its provider, as ONNX Runtime reports it."""
    return {
        node.name: part.ep_name
        for part in session.get_provider_graph_assignment_info()
        for node in part.get_nodes()
    }


def _options(optimize: bool) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimize else levels.ORT_DISABLE_ALL
    return options


def _inputs(session: Any) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    values = {}
    for entry in session.get_inputs():
        if entry.type in FLOATS:
            values[entry.name] = rng.uniform(-1, 1, entry.shape).astype(FLOATS[entry.type])
        else:
            values[entry.name] = rng.integers(0, 2, entry.shape).astype(INTEGERS[entry.type])
    return values


def _check_assignment(network: dict[str, Any], providers: dict[str, Any], session: Any,
                      optimize: bool) -> bool:  # fmt: skip
    found, right = assigned(session), True
    for segment in network["segments"]:
        unit, last = segment["unit"], segment["last_group"]
        provider, groups = providers[unit]["provider"], network["groups"]
        layers = [
            name for group in groups[segment["first_group"] : last + 1] for name in group["layers"]
        ]
        there = sum(found.get(name) == provider for name in layers)
        print(
            f"{network['name']!r}: {groups[segment['first_group']]['name']!r} to "
            f"{groups[last]['name']!r} on {unit}: {there} of {len(layers)} nodes on {provider}"
        )
        for name in layers:
            place = found.get(name)
            if place != provider and (place is not None or not optimize):
                print(f"{network['name']!r}: node {name!r}: on {place}, not on {provider}")
                right = False
    return right


def _check_results(network: dict[str, Any], path: Path, session: Any) -> bool:
    alone = onnxruntime.InferenceSession(str(path), _options(False), providers=[CPU])
    values, right = _inputs(session), True
    for output, one, other in zip(
        session.get_outputs(), session.run(None, values), alone.run(None, values), strict=True
    ):
        found, expected = (np.asarray(array).astype(np.float64) for array in (one, other))
        largest = float(np.abs(expected).max(initial=0.0))
        difference = float(np.abs(found - expected).max(initial=0.0))
        print(
            f"{network['name']!r}: {output.name!r}: largest difference from {CPU} alone "
            f"{difference:.3g}, largest value {largest:.3g}"
        )
        right &= difference <= TOLERANCE * largest
    return right


def main() -> int:
    """Run the command. Return the exit status."""
    parser = argparse.ArgumentParser(description="Run models on the providers of their units.")
    parser.add_argument("--optimize", action="store_true", help="Let ONNX Runtime fuse nodes.")
    optimize = parser.parse_args().optimize
    folder = Path(__file__).resolve().parent
    document = json.loads((folder / "deployment.json").read_bytes())
    providers = document["providers"]
    lacking = {e["provider"] for e in providers.values()} - set(
        onnxruntime.get_available_providers()
    )
    if lacking or not hasattr(onnxruntime.InferenceSession, "get_provider_graph_assignment_info"):
        needed = ", ".join(sorted(lacking)) or "reports of assignments (from 1.25 on)"
        sys.exit(f"run.py: this ONNX Runtime ({onnxruntime.__version__}) has no {needed}")
    right = True
    for network in document["networks"]:
        path = folder / network["model"]
        used = {segment["unit"] for segment in network["segments"]}
        own = {unit: entry for unit, entry in providers.items() if unit in used}
        session = placed_session(path, own, optimize=optimize)
        right &= _check_assignment(network, own, session, optimize)
        right &= _check_results(network, path, session)
    print("assignment and results as planned" if right else "NOT as planned")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
