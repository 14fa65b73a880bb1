"""The layout of array objects, which machine code reads: stated once."""

import ctypes
from pathlib import Path

import numpy as np

from paretosoc.common.arrays import HEAD, address_of

ROOT = Path(__file__).parents[2]


def test_an_array_object_has_its_figures_behind_its_head():
    array = np.zeros((3, 5, 7), dtype=np.int64)[::2, 1:, ::3]
    assert address_of(array) == array.ctypes.data
    words = np.ctypeslib.as_array((ctypes.c_int64 * 4).from_address(id(array) + HEAD))
    assert words[1] & 0xFFFFFFFF == array.ndim
    for place, figures in ((2, array.shape), (3, array.strides)):
        assert (*(ctypes.c_int64 * 3).from_address(int(words[place])),) == figures


def test_the_head_is_stated_once():
    parts = ("common", "dse", "fitness", "platforms", "results", "sdf")
    sources = [path for part in parts for path in (ROOT / part).rglob("*.py")]
    naming = [path.name for path in sources if "__basicsize__" in path.read_text("utf-8")]
    assert naming == ["arrays.py"]
