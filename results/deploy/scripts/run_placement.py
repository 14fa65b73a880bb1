"""Run the models of this folder in ONNX Runtime, each on its unit's provider, in planned order.

    python run.py [--frames N] [--warm-up N]

Prints which provider got the nodes of each segment, how results differ from those of the CPU's
provider alone, and the latencies of the networks. The exit status is 1 if a node is on another
provider, or a result differs by more than 1e-5 of its largest value; a network of n layers with
FP16, in its model or by a provider, may differ by 16 sqrt(n) roundings, each 1/2048 of that value,
and at most by a quarter of it.
Both are checked before ONNX Runtime fuses nodes, latencies are measured afterwards.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

try:
    import numpy as np
    import onnxruntime
except ImportError as error:
    sys.exit(f"run.py: onnxruntime is required: {error}")

from paretosoc.results.deploy.scripts.frame_plan import frame_options, run_plan
from paretosoc.results.deploy.scripts.values import (
    compare,
    random_value,
    tolerance_of,
    type_of,
)

CPU = "CPUExecutionProvider"
EXACT = {"CUDAExecutionProvider": {"use_tf32": "0"}}
"""From Ampere on CUDA rounds FP32 to TF32 unless it is told not to: ten bits instead of 23."""
HALVES = ("GPU", "NPU")
"""Devices on which OpenVINO's provider computes in FP16 unless it is told not to."""
CPU_ALONE = {"provider": CPU, "options": {}, "session": {}}


def open_session(
    path: Path, unit: Mapping[str, Any], *, fused: bool = False, threads: int = 0
) -> Any:
    """Return a session with all nodes that the unit's provider takes on it.

    Args:
        path: path of the model.
        unit: its entry of ``providers`` in ``deployment.json``.
        fused: let ONNX Runtime fuse nodes.
        threads: of the CPU's provider; 0: one for each core.
    """
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if fused else levels.ORT_DISABLE_ALL
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    for key, value in unit["session"].items():
        options.add_session_config_entry(key, value)
    # ONNX Runtime adds the CPU's provider as the last one if it is missing.
    chosen = {unit["provider"]: EXACT.get(unit["provider"], {}) | unit["options"]}
    own = chosen.pop(CPU, {})
    return onnxruntime.InferenceSession(str(path), options, providers=[*chosen.items(), (CPU, own)])


def run_session(session: Any, values: dict[str, Any]) -> None:
    """Run a session on a network's tensors, and add its results to them. Missing inputs are
    random."""
    rng = np.random.default_rng(0)
    for entry in session.get_inputs():
        if entry.name not in values:
            values[entry.name] = random_value(rng, entry.shape, type_of(entry.type))
    read = {entry.name: values[entry.name] for entry in session.get_inputs()}
    names = [entry.name for entry in session.get_outputs()]
    values.update(zip(names, session.run(names, read), strict=True))


def computes_in_half(unit: Mapping[str, Any]) -> bool:
    """Return whether the provider of a unit computes in FP16 what the model has in FP32."""
    options = unit["options"]
    told = options.get("precision") == "FP32"
    is_half = str(options.get("device_type")).startswith(HALVES) and not told
    return is_half or options.get("trt_fp16_enable") == "1"


def _check_assignment(
    network: Mapping[str, Any], segment: Mapping[str, Any], session: Any, provider: str
) -> bool:
    """Print where ONNX Runtime put its nodes, into which it may have expanded one of the model's.
    Return whether all are on the segment's provider."""
    nodes = [
        (node.name or node.op_type, part.ep_name)
        for part in session.get_provider_graph_assignment_info()
        for node in part.get_nodes()
    ]
    elsewhere = [(name, place) for name, place in nodes if place != provider]
    groups = network["groups"][segment["first_group"] : segment["last_group"] + 1]
    print(
        f"{network['name']!r}: {groups[0]['name']!r} to {groups[-1]['name']!r} on "
        f"{segment['unit']}: {len(nodes) - len(elsewhere)} of {len(nodes)} nodes on {provider}"
    )
    for name, place in elsewhere:
        print(f"{network['name']!r}: node {name!r}: on {place}, not on {provider}")
    return bool(nodes) and not elsewhere


def _check_results(network: Mapping[str, Any], folder: Path, values: Mapping[str, Any]) -> bool:
    """Compare the results of a network with those of the CPU's provider alone."""
    read = {tensor["name"] for part in network["segments"] for tensor in part["inputs"]}
    alone: dict[str, Any] = {}
    operations: set[str] = set()
    for part in network["segments"]:
        session = open_session(folder / part["file"], CPU_ALONE)
        run_session(session, alone)
        for assigned in session.get_provider_graph_assignment_info():
            operations |= {node.op_type for node in assigned.get_nodes()}
    layers = sum(len(group["layers"]) for group in network["groups"])
    number_format, right = "fp16" if network["half"] else "fp32", True
    tolerance = tolerance_of(layers, number_format, operations)
    results = [tensor["name"] for part in network["segments"] for tensor in part["outputs"]]
    for name in [each for each in results if each not in read]:
        difference, largest = compare(values[name], alone[name])
        print(
            f"{network['name']!r}: {name!r}: largest difference from {CPU} alone "
            f"{difference:.3g}, largest value {largest:.3g}"
        )
        right &= difference <= tolerance * largest
    return right


def main() -> int:
    """Run the command. Return the exit status."""
    parser = argparse.ArgumentParser(description="Run models on the providers of their units.")
    frame_options(parser)
    given = parser.parse_args()
    folder = Path(__file__).resolve().parent
    document = json.loads((folder / "deployment.json").read_bytes())
    providers, networks = document["providers"], document["networks"]
    lacking = {e["provider"] for e in providers.values()} - set(
        onnxruntime.get_available_providers()
    )
    if lacking or not hasattr(onnxruntime.InferenceSession, "get_provider_graph_assignment_info"):
        needed = ", ".join(sorted(lacking)) or "reports of assignments (from 1.25 on)"
        sys.exit(f"run.py: this ONNX Runtime ({onnxruntime.__version__}) has no {needed}")
    right = True
    for network in networks:
        values: dict[str, Any] = {}
        for part in network["segments"]:
            unit = providers[part["unit"]]
            session = open_session(folder / part["file"], unit)
            right &= _check_assignment(network, part, session, unit["provider"])
            run_session(session, values)
            network["half"] |= computes_in_half(unit)
        right &= _check_results(network, folder, values)
    print("assignment and results as planned" if right else "NOT as planned")
    # Units that are all the CPU's provider get equal parts of the cores.
    on_cpu = [unit["provider"] for unit in providers.values()].count(CPU)
    threads = max(1, (os.cpu_count() or 1) // on_cpu) if on_cpu > 1 else 0
    fused = [
        [
            open_session(folder / p["file"], providers[p["unit"]], fused=True, threads=threads)
            for p in n["segments"]
        ]
        for n in networks
    ]
    tensors: list[dict[str, Any]] = [{} for _ in networks]
    run_plan(
        *(document, lambda n, s: run_session(fused[n][s], tensors[n])),
        *(given.warm_up, given.frames),
    )
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
