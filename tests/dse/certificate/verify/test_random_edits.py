"""Result folders with random edits: with hashes every one is refused, without them none makes
verify raise."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dse.certificate.verify import verify as verifying
from results.errors import ResultError
from results.io.canonical_json import parse
from tests.support.tampered_folder import Files


def edits(random_: random.Random, data: bytes) -> bytes:
    """Something else in the text: a byte, a digit, a line less, two lines swapped, a key less."""
    lines = data.splitlines(keepends=True)
    place = random_.randrange(len(data))
    match random_.randrange(6):
        case 0:
            return (
                data[:place]
                + bytes([data[place] ^ (1 << random_.randrange(8))])
                + data[place + 1 :]
            )
        case 1:
            digits = [i for i, byte in enumerate(data) if chr(byte).isdigit()]
            place = random_.choice(digits)
            return data[:place] + str(random_.randrange(10)).encode() + data[place + 1 :]
        case 2:
            del lines[random_.randrange(len(lines))]
            return b"".join(lines)
        case 3:
            a, b = random_.randrange(len(lines)), random_.randrange(len(lines))
            lines[a], lines[b] = lines[b], lines[a]
            return b"".join(lines)
        case 4:
            return data[:place]
    return data[:place] + data[place + random_.randrange(1, 40) :]


def content_of(path: Path, data: bytes) -> object:
    """What the hashes are of: JSON content, whatever its layout; else the bytes."""
    try:
        return parse(data) if path.suffix == ".json" else data
    except ResultError:
        return data


@pytest.mark.parametrize(
    "name", ["front.json", "problem.json", "certificate.json", "certificate.smt2"]
)
def test_with_hashes_every_edit_is_refused(certified: Path, tmp_path: Path, name: str) -> None:
    random_ = random.Random(name)
    for source in certified.iterdir():
        (tmp_path / source.name).write_bytes(source.read_bytes())
    path = tmp_path / name
    original = path.read_bytes()
    done = 0
    while done < 60:
        changed = edits(random_, original)
        if content_of(path, changed) == content_of(path, original):
            continue
        path.write_bytes(changed)
        assert not list(verifying.verify(tmp_path))[-1].holds
        done += 1
    path.unlink()
    assert not list(verifying.verify(tmp_path))[-1].holds


def places(content: Any) -> Iterator[tuple[Any, Any]]:
    """(container, key) of everything within."""
    keys = content if isinstance(content, dict) else range(len(content))
    for key in keys:
        yield content, key
        if isinstance(content[key], dict | list):
            yield from places(content[key])


CHANGES: tuple[Callable[[random.Random, Any], Any], ...] = (
    lambda _, __: None,
    lambda _, __: [],
    lambda _, __: {},
    lambda _, __: "",
    lambda random_, __: random_.choice([0, -1, 1, 2**31, 2**47 - 1, 2**62, 2**63 - 1, 10**30]),
    lambda random_, __: random_.choice([True, False, 0.5, 1e300]),
    lambda random_, old: old + random_.choice([-1, 1]) if type(old) is int else old,
    lambda random_, old: old * random_.choice([2, 1000]) if type(old) is int else old,
    lambda _, old: not old if type(old) is bool else old,
    lambda _, old: old[1:] if isinstance(old, list | str) else old,
    lambda _, old: [*old, old[-1]] if isinstance(old, list) and old else old,
)


@pytest.mark.parametrize("name", ["front", "problem", "certificate"])
def test_no_edit_whatever_makes_verify_raise(files: Files, name: str) -> None:
    random_ = random.Random(name)
    seen: Counter[str] = Counter()
    by_key: dict[str, list[int]] = {}
    for index, (_, key) in enumerate(places(getattr(files, name))):
        by_key.setdefault(str(key), []).append(index)
    for _ in range(80):
        changed = files.copy()
        # A key first: else nearly all edits are in the tables.
        index = random_.choice(by_key[random_.choice(list(by_key))])
        container, key = list(places(getattr(changed, name)))[index]
        old = container[key]
        if random_.randrange(6) == 0:
            del container[key]
        else:
            container[key] = random_.choice(CHANGES)(random_, old)
        verdict = changed.verdict()
        if verdict.holds:
            assert changed.falsehood is None
        seen["holds" if verdict.holds else verdict.name] += 1
    assert seen["files"] > 30, seen
