"""Convert the pieces of this folder that run on NPU cores, by rknn-toolkit2.

    python convert.py [--inputs FILE.npz] [PIECE.onnx ...]

PIECE.onnx becomes PIECE.rknn. Without names all pieces are converted. Pieces on CPUs stay as they
are. INT8 is calibrated on the results of the pieces before: FILE.npz has an array for every input
of every network, with samples along a new first axis; NETWORK:INPUT names one of several networks
whose inputs are called alike. Inputs without an array are random, and the result serves timing
only.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

try:
    import numpy as np
    import onnxruntime
    from rknn.api import RKNN
except ImportError as error:
    sys.exit(f"convert.py: rknn-toolkit2 and onnxruntime are required: {error}")

from paretosoc.results.deploy.scripts.values import random_value, type_of

TARGET = "chip"
SAMPLES = 4


def networks_of(folder: Path) -> list[Any]:
    """Return the networks that have models: a task has none."""
    networks = json.loads((folder / "deployment.json").read_bytes())["networks"]
    return [network for network in networks if any("file" in s for s in network["segments"])]


def inputs_of(network: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the inputs of a network."""
    made = {tensor["name"] for part in network["segments"] for tensor in part["outputs"]}
    return [t for part in network["segments"] for t in part["inputs"] if t["name"] not in made]


def check_given(networks: list[Any], given: Mapping[str, Any]) -> None:
    """End the program if an array is of no input, or has not its shape."""
    taken: set[str] = set()
    for network in networks:
        for tensor in inputs_of(network):
            own, shape = f"{network['name']}:{tensor['name']}", tensor["shape"]
            key = own if own in given else tensor["name"]
            taken.add(key)
            found = list(given[key].shape) if key in given else [1, *shape]
            if not found or found[0] == 0 or found[1:] != shape:
                sizes = ", ".join(map(str, ("samples", *shape)))
                sys.exit(
                    f"convert.py: {key}: an array of the shape [{sizes}] is required for {own}, "
                    f"got {found}; the key {own} is of this network alone"
                )
    if unknown := sorted(given.keys() - taken):
        sys.exit(f"convert.py: {unknown[0]}: no network has this input: {', '.join(sorted(taken))}")


def samples_of(network: Mapping[str, Any], given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the values of a network's inputs, for each sample."""
    samples = []
    for k in range(min((len(array) for array in given.values()), default=SAMPLES)):
        rng, values = np.random.default_rng(k), {}
        for tensor in inputs_of(network):
            name, kind = tensor["name"], type_of(tensor["type"])
            array = given.get(f"{network['name']}:{name}", given.get(name))
            if array is not None:
                values[name] = array[k].astype(kind)
            else:
                values[name] = random_value(rng, tensor["shape"], kind)
        samples.append(values)
    return samples


def pieces(folder: Path, given: Mapping[str, Any]) -> Iterator[tuple[Any, list[dict[str, Any]]]]:
    """Yield every piece with the values that it reads, for each sample."""
    for network in networks_of(folder):
        samples = samples_of(network, given)
        for part in network["segments"]:
            yield part, samples
            session = onnxruntime.InferenceSession(
                str(folder / part["file"]), providers=["CPUExecutionProvider"]
            )
            names = [tensor["name"] for tensor in part["outputs"]]
            for values in samples:
                read = {tensor["name"]: values[tensor["name"]] for tensor in part["inputs"]}
                values.update(zip(names, session.run(names, read), strict=True))


def dataset(folder: Path, part: Mapping[str, Any], samples: list[dict[str, Any]]) -> Path:
    """Write the inputs of a piece, and the list of these files with a line for each sample."""
    stem = part["file"].removesuffix(".onnx")
    lines = []
    for k, values in enumerate(samples):
        files = [folder / f"{stem}.{k}.{i}.npy" for i in range(len(part["inputs"]))]
        for file, tensor in zip(files, part["inputs"], strict=True):
            np.save(file, values[tensor["name"]])
        lines.append(" ".join(str(file) for file in files))
    listed = folder / f"{stem}.txt"
    listed.write_text("\n".join(lines) + "\n", "utf-8")
    return listed


def convert(folder: Path, part: Mapping[str, Any], number_format: str, listed: Path | None) -> None:
    """Convert one piece."""
    model = folder / part["file"]
    rknn: Any = RKNN(verbose=False)
    steps: tuple[Callable[[], Any], ...] = (
        lambda: rknn.config(target_platform=TARGET, quantized_dtype="w8a8", float_dtype="float16"),
        lambda: rknn.load_onnx(model=str(model)),
        lambda: rknn.build(do_quantization=number_format == "int8", dataset=listed and str(listed)),
        lambda: rknn.export_rknn(str(model.with_suffix(".rknn"))),
    )
    for step in steps:
        failure = f"convert.py: rknn-toolkit2 cannot convert {model.name}"
        try:
            failed = step()  # None or 0 if all is well.
        except Exception as error:
            # Newer versions raise, with the lines of a traceback before the cause.
            sys.exit(f"{failure}: {str(error).strip().splitlines()[-1]}")
        if failed:
            sys.exit(failure)
    rknn.release()


def main() -> int:
    """Run the command. Return the exit status."""
    parser = argparse.ArgumentParser(description="Convert pieces for the NPU.")
    parser.add_argument("--inputs", type=Path, help="Samples of the networks' inputs (.npz).")
    parser.add_argument("pieces", nargs="*", help="Names of models of this folder.")
    asked = parser.parse_args()
    folder = Path(__file__).resolve().parent
    document = json.loads((folder / "deployment.json").read_bytes())
    given: dict[str, Any] = {}
    if asked.inputs is not None:
        try:
            given = dict(np.load(asked.inputs))
        except Exception as error:
            # Damaged archives break numpy and zipfile with errors of many types.
            sys.exit(
                f"convert.py: {asked.inputs}: an archive of arrays (.npz) is required: {error}"
            )
    networks = networks_of(folder)
    check_given(networks, given)
    parts = [part for network in networks for part in network["segments"]]
    known = {part["file"] for part in parts if document["devices"][part["unit"]] != "CPU"}
    if unknown := sorted(set(asked.pieces) - known):
        sys.exit(
            f"convert.py: {unknown[0]}: no piece for the NPU; there are {', '.join(sorted(known))}"
        )
    for part, samples in pieces(folder, given):
        if part["file"] not in (asked.pieces or known):
            continue
        number_format = part.get("number_format", document["precision"])
        listed = dataset(folder, part, samples) if number_format == "int8" else None
        convert(folder, part, number_format, listed)
        print(f"{part['file']}: {number_format}, for {document['devices'][part['unit']]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
