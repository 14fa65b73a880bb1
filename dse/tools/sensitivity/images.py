"""Images as inputs of a network."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.files import read_file
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.kinds import parse_number
from paretosoc.results.errors import ResultError
from paretosoc.results.io.optional import optional_import
from paretosoc.sdf.onnx.parts import PartTensor

SUFFIXES = (".png", ".jpg", ".jpeg")
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
            _check_image(path, image)
            fitted = operations.fit(
                image.convert(_MODES[shape[axis]]), (width, height), pillow.Resampling.BILINEAR
            )
    except ResultError:
        raise
    except pillow.DecompressionBombError:
        raise _too_large(path) from None
    except (OSError, ValueError, SyntaxError):
        raise ResultError(f"{path}: is no PNG or JPEG image, or a damaged one") from None
    values = np.asarray(fitted, np.float32).reshape(height, width, shape[axis]) / 255
    scaled = (values - np.array(scaling.mean)) / np.array(scaling.std)
    ordered = scaled.transpose(2, 0, 1) if axis == 1 else scaled
    image_input: NDArray[np.float32] = ordered[None].astype(np.float32)
    return image_input


def _check_image(path: Path, image: Any) -> None:
    """Check an image's header, before anything is unpacked."""
    if prod(image.size) > MAX_PIXELS:
        raise _too_large(path)
    if image.mode in _WIDE or image.mode.startswith("I;"):
        raise ResultError(
            f"{path}: 8 bits per channel are required, got an image of mode {image.mode}"
        )


def _too_large(path: Path) -> ResultError:
    return ResultError(f"{path}: an image must have at most {MAX_PIXELS} pixels")
