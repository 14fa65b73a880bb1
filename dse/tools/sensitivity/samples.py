"""Inputs on which a network is measured: the user's own, images among them, or random ones."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.array_files import read_array
from paretosoc.common.files import read_file
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.exact_numbers import parse_number
from paretosoc.dse.tools.deploy.random_weights import numpy_type, random_input
from paretosoc.results.errors import ResultError
from paretosoc.results.io.optional import optional_import
from paretosoc.sdf.onnx.parts import PartTensor

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg")
_MODES = {1: "L", 3: "RGB"}
"""Channels -> mode of Pillow."""
MAX_PIXELS = 1 << 26
"""Pillow takes four bytes for each, several times; a few kilobytes can unpack to as many."""
_WIDE = {"I", "F"}
"""Pillow's modes of more than 8 bits; converted, all above 255 becomes 255."""


@dataclass(frozen=True)
class ImageScaling:
    """(value - mean) / std of values from 0 to 1: per channel, or one for all."""

    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)


def parse_scaling(mean: str | None, std: str | None) -> ImageScaling:
    """Parse texts such as ``0.485,0.456,0.406``.

    Raises:
        WorkloadError: if a text is not one number or three, or a std is 0.
    """

    def numbers(text: str | None, option: str, default: tuple[float, ...]) -> tuple[float, ...]:
        if text is None:
            return default
        found = [parse_number(part.strip()) for part in text.split(",")]
        known = tuple(float(value) for value in found if value is not None)
        if len(known) < len(found) or len(found) not in _MODES:
            raise WorkloadError(f"{option}: one number or three are required, got {text!r}")
        return known

    scaling = ImageScaling(
        numbers(mean, "--image-mean", ImageScaling.mean),
        numbers(std, "--image-std", ImageScaling.std),
    )
    if min(scaling.std) <= 0:
        raise WorkloadError(f"--image-std: numbers above 0 are required, got {std!r}")
    return scaling


def read_image(path: Path, inputs: Sequence[PartTensor], scaling: ImageScaling) -> NDArray[Any]:
    """Return an image in the shape of a network's only input, in float32.

    It is scaled by bilinear filtering until it covers the input, and cut off evenly at both sides.

    Args:
        path: a PNG or JPEG file of at most ``MAX_PIXELS``.
        inputs: the network's inputs: one, of the shape [1, channels, height, width] or [1, height,
            width, channels] with 1 or 3 channels.
        scaling: of its values, which are from 0 to 1.

    Raises:
        WorkloadError: if the scaling is of three channels, and the network has one.
        ResultError: if the network has other inputs, or the file cannot be read.
    """
    shape = inputs[0].shape or ()
    axis = next((k for k in (1, 3) if len(shape) == 4 and shape[k] in _MODES), None)
    if len(inputs) != 1 or axis is None or shape[0] != 1:
        stated = "; ".join(f"{tensor.name} {list(tensor.shape or ())}" for tensor in inputs)
        raise ResultError(
            f"{path}: an image needs one input of the shape [1, channels, height, width] or [1, "
            f"height, width, channels] with 1 or 3 channels; the network has {stated}. Use .npz"
        )
    for option, numbers in (("--image-mean", scaling.mean), ("--image-std", scaling.std)):
        if len(numbers) not in (1, shape[axis]):
            raise WorkloadError(f"{option}: one number is required for one channel, got 3")
    height, width = (size for k, size in enumerate(shape) if k not in (0, axis))
    pillow = optional_import("PIL.Image", extra="host", purpose="reading images")
    operations = optional_import("PIL.ImageOps", extra="host", purpose="reading images")
    data = io.BytesIO(read_file(path, ResultError))
    try:
        # Of Pillow's other formats some start programs, such as Ghostscript on PostScript.
        with (
            warnings.catch_warnings(action="ignore"),
            pillow.open(data, formats=("PNG", "JPEG")) as image,
        ):
            # By its header, before anything is unpacked.
            if prod(image.size) > MAX_PIXELS:
                raise pillow.DecompressionBombError
            if image.mode in _WIDE or image.mode.startswith("I;"):
                raise ResultError(
                    f"{path}: 8 bits per channel are required, got an image of mode {image.mode}"
                )
            fitted = operations.fit(
                image.convert(_MODES[shape[axis]]), (width, height), pillow.Resampling.BILINEAR
            )
    except ResultError:
        raise
    except pillow.DecompressionBombError:
        raise ResultError(f"{path}: an image must have at most {MAX_PIXELS} pixels") from None
    except (OSError, ValueError, SyntaxError):
        raise ResultError(f"{path}: is no PNG or JPEG image, or a damaged one") from None
    values = np.asarray(fitted, np.float32).reshape(height, width, shape[axis]) / 255
    scaled = (values - np.array(scaling.mean)) / np.array(scaling.std)
    ordered = scaled.transpose(2, 0, 1) if axis == 1 else scaled
    image_input: NDArray[np.float32] = ordered[None].astype(np.float32)
    return image_input


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
    folder: Path, inputs: Sequence[PartTensor], most: int, scaling: ImageScaling = _PLAIN
) -> list[Sample]:
    """Read samples from a folder's ``.npy``, ``.npz`` and image files, in the order of their names.

    An ``.npz`` file has an array for each input, under its name. An ``.npy`` file is for a network
    with one input. If an input's first dimension is 1, an ``.npy`` file may hold several samples
    along it. An image is for a network whose only input is one
    (:func:`read_image`).

    Args:
        scaling: of the values of images.

    Raises:
        ResultError: if there is none, a file cannot be read, or an array is missing, has another
            shape, or values that are no finite numbers.
    """
    known = (*SUFFIXES, *IMAGE_SUFFIXES)
    files = sorted(path for path in folder.glob("*") if path.suffix.lower() in known)
    if not files:
        raise ResultError(
            f"{folder}: a folder with samples ({', '.join(known)}) is required, found none"
        )
    samples: list[Sample] = []
    for path in files:
        if path.suffix.lower() in IMAGE_SUFFIXES:
            array = read_image(path, inputs, scaling)
            samples.append({inputs[0].name: _converted(array, inputs[0], path)})
        else:
            samples += _samples_of(path, inputs)
        if len(samples) >= most:
            break
    return samples[:most]


def _samples_of(path: Path, inputs: Sequence[PartTensor]) -> list[Sample]:
    """Return the sample of an archive, or one or several of an array."""
    try:
        if path.suffix.lower() == ".npy":
            if len(inputs) > 1:
                raise _missing(path, inputs[1])
            with path.open("rb") as file:
                return _rows(file, path, inputs[0])
        sample = {}
        with zipfile.ZipFile(path) as archive:
            for tensor in inputs:
                if f"{tensor.name}.npy" not in archive.namelist():
                    raise _missing(path, tensor)
                with archive.open(f"{tensor.name}.npy") as member:
                    array = read_array(member, path, ResultError, partial(_check, path, tensor))
                sample[tensor.name] = _converted(array, tensor, path)
        return [sample]
    except ResultError:
        raise
    except Exception:
        # Damaged archives break zipfile and its decoders with errors of many types.
        raise ResultError(f"{path}: is no file of numpy, or a damaged one") from None


def _rows(file: IO[bytes], path: Path, tensor: PartTensor) -> list[Sample]:
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
    with np.errstate(all="ignore"):
        converted = array.astype(numpy_type(tensor, str(path)))
    if not np.isfinite(converted).all() or not np.isfinite(array).all():
        raise ResultError(f"{path}: finite numbers are required for input {tensor.name!r}")
    if converted.dtype.kind in "iu" and (converted != array).any():
        raise ResultError(
            f"{path}: whole numbers of {converted.dtype} are required for input {tensor.name!r}"
        )
    return converted
