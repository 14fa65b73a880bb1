"""certificate.tree: round trips, a reading by the page's script, bytes that are none."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretosoc.results.errors import ResultError
from paretosoc.results.front.proof_tree import (
    MEMBERS,
    NODE_KINDS,
    PART,
    SPLIT,
    TIME_LIMIT,
    ProofTree,
    tree_bytes,
    tree_from_bytes,
)
from tests.support.documented_keys import ROOT

KINDS = st.integers(0, len(NODE_KINDS) - 1)
PARTS = st.lists(st.lists(KINDS, max_size=9), min_size=1, max_size=5).filter(
    lambda parts: sum(map(len, parts)) >= len(parts) - 1
)


def tree_of(parts: list[list[int]]) -> ProofTree:
    return ProofTree(tuple(np.array(part, dtype=np.uint8) for part in parts))


@settings(deadline=None, derandomize=True, max_examples=100)
@given(PARTS)
def test_round_trip(parts: list[list[int]]) -> None:
    data = tree_bytes(tree_of(parts))
    again = tree_from_bytes(data)
    assert [part.tolist() for part in again.parts] == parts
    assert tree_bytes(again) == data
    flat = [kind for part in parts for kind in part]
    assert again.nodes == len(flat) - flat.count(PART)
    assert again.leaves == sum(kind > PART for kind in flat)
    assert again.is_complete == all(parts)


def test_half_a_byte_per_node() -> None:
    data = tree_bytes(tree_of([[SPLIT, MEMBERS, TIME_LIMIT], [MEMBERS]]))
    head = b"paretosoc-tree/1" + b"".join(n.to_bytes(8, "little") for n in (2, 3, 1))
    assert data == head + bytes([0x20, 0x04, 0x02])


@settings(deadline=None, derandomize=True, max_examples=100)
@given(PARTS, st.integers(0, 10_000), st.integers(0, 255))
def test_bytes_with_a_change_are_another_tree_or_none(
    parts: list[list[int]], place: int, byte: int
) -> None:
    data = bytearray(tree_bytes(tree_of(parts)))
    data[place % len(data)] = byte
    try:
        again = tree_from_bytes(bytes(data))
    except ResultError:
        return
    assert tree_bytes(again) == data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "must begin with 'paretosoc-tree/1'"),
        (b"paretosoc-tree/2", "must begin with 'paretosoc-tree/1'"),
        (b"paretosoc-tree/1", "ends before"),
        (b"paretosoc-tree/1" + bytes(8), "at least one part"),
        (b"paretosoc-tree/1" + b"\xff" * 8, "ends before"),
        (b"paretosoc-tree/1" + b"\1" + bytes(7) + b"\xff" * 8, "must have .* bytes"),
        (tree_bytes(tree_of([[1], [], []])), "at least 2 nodes to lead to its 3 parts, got 1"),
        (tree_bytes(tree_of([[2, 2]])) + b"\0", "must have 33 bytes .* got 34"),
        (tree_bytes(tree_of([[2, 2]]))[:-1] + b"\x26", "no known kind"),
        (tree_bytes(tree_of([[2]]))[:-1] + b"\x22", "no known kind"),
    ],
)
def test_what_is_no_tree(data: bytes, message: str) -> None:
    with pytest.raises(ResultError, match=message):
        tree_from_bytes(data)


def test_the_script_of_the_page_reads_a_tree(tmp_path: Path) -> None:
    page = (ROOT / "docs/concepts/certificate.md").read_text()
    found = re.search("### The file of a tree\n.*?```python\n(.*?)```", page, re.DOTALL)
    assert found is not None
    rng = np.random.default_rng(1)
    parts = [rng.integers(0, len(NODE_KINDS), size).tolist() for size in (1, 8, 0, 13, 200)]
    path = tmp_path / "certificate.tree"
    path.write_bytes(tree_bytes(tree_of(parts)))
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-", str(path)],
        input=found[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    lines = [line.split(" ", 1) for line in done.stdout.splitlines()]
    counted = {name: int(count) for count, name in lines}
    flat = [kind for part in parts for kind in part]
    kinds = {name: flat.count(kind) for kind, name in enumerate(NODE_KINDS)}
    assert counted == {**kinds, "open": 1}
