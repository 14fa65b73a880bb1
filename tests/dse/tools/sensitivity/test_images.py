"""Images as samples: shapes, cutting and scaling by hand, and what is refused."""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import EpsImagePlugin, Image

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.tools.sensitivity.samples import (
    MAX_PIXELS,
    ImageScaling,
    parse_scaling,
    read_image,
    read_samples,
)
from paretosoc.results.errors import ResultError
from paretosoc.sdf.onnx.parts import PartTensor

FLOAT = 1


def tensor(*shape: int) -> PartTensor:
    return PartTensor("x", shape, FLOAT)


def saved(folder: Path, pixels: np.ndarray, name: str = "a.png") -> Path:
    Image.fromarray(pixels).save(folder / name)
    return folder / name


def test_an_image_of_the_size_keeps_its_pixels(tmp_path: Path) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (4, 6, 3), dtype=np.uint8)
    scaling = ImageScaling((0.5, 0.25, 0.0), (0.5, 1.0, 2.0))
    found = read_image(saved(tmp_path, pixels), [tensor(1, 3, 4, 6)], scaling)
    assert found.shape == (1, 3, 4, 6)
    assert found.dtype == np.float32
    for c, (mean, std) in enumerate(zip(scaling.mean, scaling.std, strict=True)):
        assert found[0, c] == pytest.approx((pixels[:, :, c] / 255 - mean) / std, abs=1e-6)
    last = read_image(tmp_path / "a.png", [tensor(1, 4, 6, 3)], ImageScaling())
    assert last[0] == pytest.approx(pixels / 255, abs=1e-6)


def test_a_wider_image_is_cut_at_both_sides(tmp_path: Path) -> None:
    """Twice as high and four times as wide: halved, and a quarter is left out on each side."""
    pixels = np.repeat(np.arange(16, dtype=np.uint8)[None] * 16, 8, axis=0)
    found = read_image(saved(tmp_path, pixels), [tensor(1, 1, 4, 4)], ImageScaling())
    # Bilinear filtering of a slope keeps it: columns 4 and 5 to 10 and 11 in pairs.
    assert found[0, 0] == pytest.approx(np.tile(np.arange(4.5, 12, 2) * 16 / 255, (4, 1)), abs=0.01)


@pytest.mark.parametrize("field", ["mean", "std"])
def test_three_numbers_are_of_three_channels(tmp_path: Path, field: str) -> None:
    path = saved(tmp_path, np.zeros((4, 4), np.uint8))
    scaling = ImageScaling(**{field: (0.5, 0.25, 0.125)})
    with pytest.raises(WorkloadError, match=f"--image-{field}: one number is required .* got 3"):
        read_image(path, [tensor(1, 1, 4, 4)], scaling)


def test_images_and_arrays_are_read_in_the_order_of_names(tmp_path: Path) -> None:
    saved(tmp_path, np.full((2, 2, 3), 255, np.uint8), "b.JPG")
    np.save(tmp_path / "a.npy", np.zeros((1, 3, 2, 2), np.float32))
    samples = read_samples(tmp_path, [tensor(1, 3, 2, 2)], 9, ImageScaling((1.0,), (1.0,)))
    assert [float(sample["x"].max()) for sample in samples] == [0, 0]
    assert [float(sample["x"].min()) for sample in samples] == pytest.approx([0, 0], abs=0.02)
    assert len(read_samples(tmp_path, [tensor(1, 3, 2, 2)], 1)) == 1


@pytest.mark.parametrize(
    "inputs",
    [[tensor(1, 10)], [tensor(1, 2, 4, 4)], [tensor(2, 3, 4, 4)], [tensor(1, 3, 4, 4)] * 2],
)
def test_other_inputs_are_refused(tmp_path: Path, inputs: list[PartTensor]) -> None:
    path = saved(tmp_path, np.zeros((4, 4, 3), np.uint8))
    with pytest.raises(ResultError, match=r"a\.png: an image needs one input .*Use \.npz"):
        read_image(path, inputs, ImageScaling())


def test_a_broken_image_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(saved(tmp_path, np.zeros((40, 40, 3), np.uint8)).read_bytes()[:40])
    with pytest.raises(ResultError, match=r"a\.png: is no PNG or JPEG image, or a damaged"):
        read_image(path, [tensor(1, 3, 4, 4)], ImageScaling())


@pytest.mark.parametrize("name", ["a.png", "a.jpg"])
def test_hostile_postscript_starts_no_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Pillow hands PostScript to Ghostscript, whatever the file is called."""
    program = tmp_path / "bin" / "gs"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho started >> {tmp_path}/log\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(EpsImagePlugin, "gs_binary", None)
    path = tmp_path / name
    path.write_text("%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n%%EndComments\n%%EOF\n")
    with pytest.raises(ResultError, match="is no PNG or JPEG image"):
        read_image(path, [tensor(1, 3, 4, 4)], ImageScaling())
    assert not (tmp_path / "log").exists()


@pytest.mark.parametrize("pixels", [MAX_PIXELS + 10_000, 100_000_000, 400_000_000])
def test_hostile_images_are_refused_by_their_header(tmp_path: Path, pixels: int) -> None:
    """Also beyond the two limits of Pillow, which warns at one and raises at the other."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data).to_bytes(4, "big")
        return len(data).to_bytes(4, "big") + kind + data + check

    header = struct.pack(">IIBBBBB", 10_000, pixels // 10_000, 8, 2, 0, 0, 0)
    path = tmp_path / "a.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b""))
    with pytest.raises(ResultError, match=r"a\.png: an image must have at most 67108864 pixels"):
        read_image(path, [tensor(1, 3, 4, 4)], ImageScaling())


def test_an_image_of_16_bits_is_refused(tmp_path: Path) -> None:
    """Read as 8 bits all above 255 would be white."""
    path = saved(tmp_path, np.arange(16, dtype=np.uint16).reshape(4, 4) * 4096)
    with pytest.raises(ResultError, match=r"a\.png: 8 bits per channel are required, got .* I;16"):
        read_image(path, [tensor(1, 1, 4, 4)], ImageScaling())


def test_texts_of_scaling() -> None:
    assert parse_scaling("0.5", "0.1, 0.2,0.3") == ImageScaling((0.5,), (0.1, 0.2, 0.3))
    assert parse_scaling(None, None) == ImageScaling()
    for mean, std, named in (
        ("1,2", None, "--image-mean: one number or three are required, got '1,2'"),
        ("x", None, "--image-mean: one number or three"),
        (None, "0", "--image-std: numbers above 0 are required"),
    ):
        with pytest.raises(WorkloadError, match=named):
            parse_scaling(mean, std)
