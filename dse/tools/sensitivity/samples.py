"""Inputs on which a network is measured: the user's own, or random ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dse.tools.deploy.random_weights import numpy_type, random_input
from dse.tools.sensitivity import images
from dse.tools.sensitivity.images import ImageScaling
from results.errors import ResultError
from sdf.onnx.parts import PartTensor

Sample = dict[str, NDArray[Any]]
"""An array for each input of the network."""
SUFFIXES = (".npy", ".npz")
_PLAIN = ImageScaling()


def random_samples(inputs: Sequence[PartTensor], count: int, *, label: str) -> list[Sample]:
    """Random inputs: floats between -1 and 1, integers 0 and 1.

    Raises:
        ResultError: where an input has a type that no random values are made for.
    """
    return [
        {tensor.name: random_input(seed, tensor, numpy_type(tensor, label)) for tensor in inputs}
        for seed in range(count)
    ]


def read_samples(
    folder: Path,
    inputs: Sequence[PartTensor],
    most: int,
    scaling: ImageScaling = _PLAIN,
) -> list[Sample]:
    """Samples from a folder's ``.npy``, ``.npz`` and image files, in the order of their names.

    An ``.npz`` file has an array for each input, under its name; an ``.npy`` file is for a network
    with one input. Where an input's first dimension is 1, an ``.npy`` file may hold several samples
    along it. An image is for a network whose only input is one
    (:func:`dse.tools.sensitivity.images.read_image`).

    Args:
        most: how many samples are taken at most.
        scaling: of the values of images.

    Raises:
        ResultError: where there is none, a file cannot be read, or an array is missing, has another
            shape, or values that are no finite numbers.
    """
    known = (*SUFFIXES, *images.SUFFIXES)
    files = sorted(path for path in folder.glob("*") if path.suffix.lower() in known)
    if not files:
        raise ResultError(
            f"{folder}: a folder with samples ({', '.join(known)}) is required, found none"
        )
    samples: list[Sample] = []
    for path in files:
        if path.suffix.lower() in images.SUFFIXES:
            array = images.read_image(path, inputs, scaling)
            samples.append({inputs[0].name: _checked(array, inputs[0], path)})
        else:
            samples += _samples_of(path, inputs)
        if len(samples) >= most:
            break
    return samples[:most]


def _samples_of(path: Path, inputs: Sequence[PartTensor]) -> list[Sample]:
    try:
        loaded = np.load(path, allow_pickle=False)
        arrays = dict(loaded) if path.suffix.lower() == ".npz" else {inputs[0].name: loaded}
    except Exception as error:
        # Damaged files break numpy's readers with errors of many types.
        raise ResultError(f"{path}: cannot be read: {error}") from None
    if missing := [tensor.name for tensor in inputs if tensor.name not in arrays]:
        raise ResultError(
            f"{path}: an array for each input is required; there is none for {missing[0]!r}"
            + ("; use .npz" if path.suffix.lower() == ".npy" else "")
        )
    if path.suffix.lower() == ".npy" and _holds_several(arrays[inputs[0].name], inputs[0]):
        rows = arrays[inputs[0].name]
        return [
            {inputs[0].name: _checked(rows[k : k + 1], inputs[0], path)} for k in range(len(rows))
        ]
    return [{tensor.name: _checked(arrays[tensor.name], tensor, path) for tensor in inputs}]


def _holds_several(array: NDArray[Any], tensor: PartTensor) -> bool:
    shape = tensor.shape or ()
    return shape[:1] == (1,) and array.shape[:1] > (1,) and array.shape[1:] == shape[1:]


def _checked(array: NDArray[Any], tensor: PartTensor, path: Path) -> NDArray[Any]:
    if array.shape != (tensor.shape or ()):
        raise ResultError(
            f"{path}: input {tensor.name!r} has the shape {list(tensor.shape or ())}, the array "
            f"{list(array.shape)}"
        )
    if array.dtype.kind not in "fiub" or not np.isfinite(array).all():
        raise ResultError(f"{path}: finite numbers are required for input {tensor.name!r}")
    return array.astype(numpy_type(tensor, str(path)))
