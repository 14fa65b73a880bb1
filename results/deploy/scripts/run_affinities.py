"""Run the models of this folder in OpenVINO, each unit's operations on the unit's device.

    python run.py

Sets the affinity of every operation, compiles for HETERO, counts the layers on each device, and
compares results with those of the CPU in FP32. The exit status is 1 if a result differs by more
than 1e-5 of its largest value. An NPU computes in FP16: with one, a network of n layers may differ
by 16 sqrt(n) roundings, each 1/2048 of the largest value, and at most by a quarter of that value.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

try:
    import numpy as np
    import openvino
except ImportError as error:
    sys.exit(f"run.py: openvino is required: {error}")

from paretosoc.results.deploy.scripts.values import compare, random_value, tolerance_of

FP32 = {"INFERENCE_PRECISION_HINT": "f32"}
"""NPUs refuse it."""


def set_affinities(model: Any, devices: dict[str, str]) -> set[str]:
    """Give each operation its layer's device. Return the layers that were found.

    OpenVINO makes several operations of some layers, and none of others. An operation without a
    layer's name goes to the device of its producer, a constant or an input to the device of its
    first reader.

    Args:
        model: the model in OpenVINO, changed in place.
        devices: device by layer.
    """
    operations = list(model.get_ordered_ops())
    names = [op.get_friendly_name() for op in operations]
    places = {op.get_name(): k for k, op in enumerate(operations)}
    chosen = {k: devices[name] for k, name in enumerate(names) if name in devices}
    for k in range(len(operations)):
        read = [places[value.get_node().get_name()] for value in operations[k].input_values()]
        chosen.setdefault(k, next((chosen[r] for r in read if chosen[r]), ""))
    for k in reversed(range(len(operations))):
        readers = (
            places[port.get_node().get_name()]
            for output in operations[k].outputs()
            for port in output.get_target_inputs()
        )
        chosen[k] = chosen[k] or next((chosen[r] for r in readers if chosen[r]), "")
        operations[k].get_rt_info()["affinity"] = chosen[k]
    return devices.keys() & names


def _inputs(model: Any) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    values = {}
    for port in model.inputs:
        dtype = port.get_element_type().to_dtype()
        values[port.get_any_name()] = random_value(rng, list(port.get_shape()), dtype)
    return values


def main() -> int:
    """Run the command. Return the exit status."""
    folder = Path(__file__).resolve().parent
    document = json.loads((folder / "deployment.json").read_bytes())
    devices = document["devices"]
    core = openvino.Core()
    right = True
    # A task has no model: it is a program of the user's own.
    for network in (each for each in document["networks"] if each["model"] is not None):
        layers = {n: g["unit"] for g in network["groups"] for n in g["layers"]}
        used = dict.fromkeys(devices[unit] for unit in layers.values())
        target = "HETERO:" + ",".join(used)
        path = str(folder / network["model"])
        try:
            model = core.read_model(path)
            found = set_affinities(model, {name: devices[unit] for name, unit in layers.items()})
            for device in used.keys() - {"NPU"}:
                core.set_property(device, FP32)
            placed = core.compile_model(model, target)
            values = _inputs(model)
            alone = core.compile_model(core.read_model(path), "CPU", FP32)
            one, other = (list(compiled(values).values()) for compiled in (placed, alone))
        except RuntimeError as error:
            sys.exit(f"run.py: {target}: {str(error).strip().splitlines()[-1]}")
        results = [compare(*pair) for pair in zip(one, other, strict=True)]
        operations = {operation.get_type_name() for operation in model.get_ordered_ops()}
        tolerance = tolerance_of(len(layers), "fp16" if "NPU" in used else "fp32", operations)
        right &= all(difference <= tolerance * largest for difference, largest in results)
        difference, largest = (max(values) for values in zip(*results, strict=True))
        counts = ", ".join(
            f"{sum(devices[unit] == device for unit in layers.values())} layers on {device}"
            for device in used
        )
        print(
            f"{network['name']!r}: {target}, {counts} ({len(found)} of {len(layers)} are "
            f"operations); largest difference from CPU alone {difference:.3g}, largest value "
            f"{largest:.3g}"
        )
    print("as planned" if right else "NOT as planned")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
