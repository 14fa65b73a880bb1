"""Tables behind a pointer: compiled code reads and writes what numpy has at the same place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from paretosoc.fitness.simulator.jit import jit
from paretosoc.fitness.simulator.types.tables import (
    CACHE_LINE,
    RecordArray,
    Tables,
    columns,
    ones,
    record,
    records,
    words_of,
)

ENTRY = record("first", "second", "third")
BLOCK = columns(left=(4, np.int64), right=(4, np.float64))


@dataclass(frozen=True, eq=False)
class Everything(Tables):
    """One field of every kind."""

    count: int
    flag: bool
    one: RecordArray
    row: RecordArray
    table: RecordArray
    flat: NDArray[np.int64]
    cube: NDArray[np.int64]
    block: RecordArray
    flags: NDArray[np.bool_]


def everything(*, flag: bool = True) -> Everything:
    """With values that differ everywhere."""
    rng = np.random.default_rng(3)
    made = Everything(
        count=7,
        flag=flag,
        one=records(ENTRY),
        row=records(ENTRY, 5),
        table=records(ENTRY, 2, 5),
        flat=rng.integers(-(2**62), 2**62, 6),
        cube=rng.integers(-9, 9, (2, 3, 4)),
        block=ones(BLOCK),
        flags=np.array([True, False, True]),
    )
    for words in map(words_of, (made.one, made.row, made.table)):
        words[:] = rng.integers(-(2**62), 2**62, len(words))
    made.block.left[:], made.block.right[:] = rng.integers(-9, 9, 4), rng.random(4)
    return made


@jit
def read(tables, i, j, k, out):
    """Every kind of access that kernels make."""
    out[0] = tables.count
    out[1] = 1 if tables.flag else 0
    out[2] = tables.one.second
    out[3] = tables.row[i].third
    out[4] = tables.table[j, i].first
    line = tables.table[j]
    out[5] = line[i].second
    out[6] = tables.flat[i]
    out[7] = tables.cube[j, k, i - 1]
    out[8] = tables.cube[j][k, i - 1]
    out[9] = tables.block.left[k]
    out[10] = np.int64(tables.block.right[k] * 1000)
    out[11] = tables.cube.shape[0] * 100 + tables.cube.shape[1] * 10 + line.shape[0]
    out[12] = np.int64(tables.flags[k])


@jit
def write(tables, i, j, k):
    """The same for writing, also whole records."""
    tables.one.first = 11
    tables.row[i].second = 12
    tables.row[0] = tables.row[i]
    tables.table[j, i] = tables.row[i]
    tables.table[j][0].third += 13
    tables.flat[i] = 14
    tables.cube[j, k, i] = 15
    tables.block.left[k] = 16
    tables.block.right[k] = 0.5


@pytest.mark.parametrize("flag", [False, True])
@pytest.mark.parametrize(("i", "j", "k"), [(1, 0, 0), (3, 1, 2), (2, 1, 1)])
def test_what_is_read_is_what_numpy_has(i: int, j: int, k: int, flag: bool) -> None:
    tables = everything(flag=flag)
    out = np.zeros(13, dtype=np.int64)
    read(tables, i, j, k, out)
    assert out.tolist() == [
        7,
        int(flag),
        tables.one.second,
        tables.row.third[i],
        tables.table.first[j, i],
        tables.table.second[j, i],
        tables.flat[i],
        tables.cube[j, k, i - 1],
        tables.cube[j, k, i - 1],
        tables.block.left[k],
        int(tables.block.right[k] * 1000),
        235,
        int(tables.flags[k]),
    ]


def test_what_is_written_is_in_numpy_and_nothing_else() -> None:
    tables, same = everything(), everything()
    i, j, k = 3, 1, 2
    write(tables, i, j, k)
    same.one.first = 11
    same.row.second[i] = 12
    words_of(same.row).reshape(5, 3)[0] = words_of(same.row).reshape(5, 3)[i]
    words_of(same.table).reshape(2, 5, 3)[j, i] = words_of(same.row).reshape(5, 3)[i]
    same.table.third[j, 0] += 13
    same.flat[i], same.cube[j, k, i] = 14, 15
    same.block.left[k], same.block.right[k] = 16, 0.5
    for name in ("one", "row", "table", "flat", "cube", "block"):
        assert getattr(tables, name).tobytes() == getattr(same, name).tobytes(), name


@pytest.mark.parametrize("other_values", [replace, Everything.with_values])
def test_another_table_is_another_pointer(other_values: Callable[..., Everything]) -> None:
    tables = everything()
    other = other_values(tables, flat=tables.flat[::-1], count=8, table=records(ENTRY, 3, 7))
    out = np.zeros(13, dtype=np.int64)
    read(other, 1, 0, 0, out)
    assert (out[0], out[4], out[6], out[11]) == (8, 0, tables.flat[-2], 237)
    read(tables, 1, 0, 0, out)
    assert (out[0], out[4], out[6], out[11]) == (7, tables.table.first[0, 1], tables.flat[1], 235)
    assert other.signature == tables.signature
    assert len(read.loaded) <= 2, "the same types are not compiled again"


def test_strided_arrays_are_laid_out() -> None:
    tables = replace(everything(), flat=np.arange(12)[::2])
    out = np.zeros(13, dtype=np.int64)
    read(tables, 2, 0, 0, out)
    assert out[6] == 4


def test_records_begin_at_a_cache_line() -> None:
    for shape in ((), (3,), (2, 7)):
        assert records(ENTRY, *shape).ctypes.data % CACHE_LINE == 0
