"""Inputs on which a network is measured: the user's own, or random ones."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.array_files import read_array
from paretosoc.dse.tools.deploy.random_weights import numpy_type, random_input
from paretosoc.dse.tools.sensitivity import images
from paretosoc.dse.tools.sensitivity.images import ImageScaling
from paretosoc.results.errors import ResultError
from paretosoc.sdf.onnx.parts import PartTensor

Sample = dict[str, NDArray[Any]]
"""An array for each input of the network."""
SUFFIXES = (".npy", ".npz")
_PLAIN = ImageScaling()


def random_samples(inputs: Sequence[PartTensor], count: int, *, label: str) -> list[Sample]:
    """Return random inputs: floats between -1 and 1, integers 0 and 1.

    Raises:
        ResultError: if an input has a type that no random values are made for.
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
    """Read samples from a folder's ``.npy``, ``.npz`` and image files, in the order of their names.

    An ``.npz`` file has an array for each input, under its name. An ``.npy`` file is for a network
    with one input. If an input's first dimension is 1, an ``.npy`` file may hold several samples
    along it. An image is for a network whose only input is one
    (:func:`dse.tools.sensitivity.images.read_image`).

    Args:
        most: maximum number of samples.
        scaling: of the values of images.

    Raises:
        ResultError: if there is none, a file cannot be read, or an array is missing, has another
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
            samples.append({inputs[0].name: _converted(array, inputs[0], path)})
        else:
            samples += _samples_of(path, inputs)
        if len(samples) >= most:
            break
    return samples[:most]


def _samples_of(path: Path, inputs: Sequence[PartTensor]) -> list[Sample]:
    try:
        if path.suffix.lower() == ".npz":
            return [_from_archive(path, inputs)]
        if len(inputs) > 1:
            raise _missing(path, inputs[1])
        with path.open("rb") as file:
            return _from_array(file, path, inputs[0])
    except ResultError:
        raise
    except Exception:
        # Damaged archives break zipfile and its decoders with errors of many types.
        raise ResultError(f"{path}: is no file of numpy, or a damaged one") from None


def _from_archive(path: Path, inputs: Sequence[PartTensor]) -> Sample:
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        sample = {}
        for tensor in inputs:
            if f"{tensor.name}.npy" not in names:
                raise _missing(path, tensor)
            with archive.open(f"{tensor.name}.npy") as member:
                array = read_array(member, path, ResultError, partial(_check, path, tensor))
            sample[tensor.name] = _converted(array, tensor, path)
    return sample


def _from_array(file: IO[bytes], path: Path, tensor: PartTensor) -> list[Sample]:
    """Return one sample, or several along the first dimension."""

    def accept(shape: tuple[int, ...]) -> None:
        several = expected[:1] == (1,) and shape[:1] > (1,) and shape[1:] == expected[1:]
        if not several:
            _check(path, tensor, shape)

    expected = tensor.shape or ()
    array = _converted(read_array(file, path, ResultError, accept), tensor, path)
    rows = [array] if array.shape == expected else np.split(array, len(array))
    return [{tensor.name: row} for row in rows]


def _missing(path: Path, tensor: PartTensor) -> ResultError:
    return ResultError(
        f"{path}: an array for each input is required; there is none for {tensor.name!r}"
        + ("; use .npz" if path.suffix.lower() == ".npy" else "")
    )


def _check(path: Path, tensor: PartTensor, shape: tuple[int, ...]) -> None:
    if shape != (tensor.shape or ()):
        raise ResultError(
            f"{path}: input {tensor.name!r} has the shape {list(tensor.shape or ())}, the array "
            f"{list(shape)}"
        )


def _converted(array: NDArray[Any], tensor: PartTensor, path: Path) -> NDArray[Any]:
    if not np.isfinite(array).all():
        raise ResultError(f"{path}: finite numbers are required for input {tensor.name!r}")
    return array.astype(numpy_type(tensor, str(path)))
