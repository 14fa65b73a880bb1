"""Result folders with random edits: with hashes every one is refused, without them none makes
verify raise."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from paretosoc.dse.certificate.verify import verify as verifying
from paretosoc.dse.certificate.verify.verify import FAILED, exit_status
from paretosoc.results.errors import ResultError
from paretosoc.results.io.canonical_json import parse
from tests.support.documented_keys import rests_on
from tests.support.proofs.tampered_folder import NAMES, Files


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
    "name",
    [
        "front.json",
        "problem.json",
        "certificate.json",
        "certificate.tree",
        "certificate.smt2",
        "costs.json",
    ],
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
        assert exit_status(list(verifying.verify(tmp_path))) == FAILED
        done += 1
    path.unlink()
    # Costs are beside the claims; everything else is missed.
    checks = list(verifying.verify(tmp_path))
    assert exit_status(checks) == (0 if name == "costs.json" else FAILED)


def places(content: Any, path: str = "") -> Iterator[tuple[Any, Any, str]]:
    """(container, key, path as docs/concepts/certificate.md has it) of everything within."""
    for key in content if isinstance(content, dict) else range(len(content)):
        here = f"{path}[]"
        if isinstance(content, dict):
            here = f"{path}.{'*' if path.endswith('units') else key}".lstrip(".")
        yield content, key, here
        if isinstance(content[key], dict | list):
            yield from places(content[key], here)


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
"""Whatever comes to mind; most of it does not follow the schema."""

MEANINGFUL: tuple[Callable[[random.Random, Any], Any], ...] = (
    lambda random_, old: old + random_.choice([-1, 1]) if type(old) is int else old,
    lambda _, old: old // 2 if type(old) is int else old,
    lambda _, old: old / 2 if type(old) is float else old,
    lambda _, old: not old if type(old) is bool else old,
    lambda _, old: f"{old}x" if isinstance(old, str) else old,
    lambda random_, old: random_.sample(old, len(old)) if isinstance(old, list) else old,
    lambda _, old: old[:-1] if isinstance(old, list | str) else old,
    lambda _, old: dict(zip(old, [*old.values()][::-1], strict=True)) if type(old) is dict else old,
)
"""What keeps the type, and so often the schema."""


def edited(
    random_: random.Random, files: Files, name: str, changes: tuple[Callable[..., Any], ...]
) -> Iterator[tuple[Files, str]]:
    """The files with one value changed, and its path, without end."""
    by_key: dict[str, list[int]] = {}
    for index, (_, key, _) in enumerate(places(getattr(files, name))):
        by_key.setdefault(str(key), []).append(index)
    while True:
        # A key first: else nearly all edits are in the tables.
        index = random_.choice(by_key[random_.choice(list(by_key))])
        changed = files.copy()
        container, key, path = next(islice(places(getattr(changed, name)), index, None))
        new = random_.choice(changes)(random_, container[key])
        if json.dumps(new) != json.dumps(container[key]):
            container[key] = new
            yield changed, path


@pytest.mark.parametrize("name", NAMES)
def test_no_edit_whatever_makes_verify_raise(files: Files, name: str) -> None:
    random_ = random.Random(name)
    seen: Counter[str] = Counter()
    for changed, _ in islice(edited(random_, files, name, CHANGES), 60):
        failing = changed.failing()
        assert failing is not None or changed.falsehood is None
        seen["holds" if failing is None else failing.name] += 1
    assert seen["files"] > 20, seen


@pytest.mark.parametrize("name", NAMES)
def test_an_edit_that_passes_is_true_and_documented_as_not_claimed(files: Files, name: str) -> None:
    """Edits that keep the types, with all hashes and the formula made anew. One that passes leaves
    all claims true, by enumeration, and is of a key that the table says is not claimed or given."""
    random_ = random.Random(f"{name} 2")
    seen: Counter[str] = Counter()
    for changed, path in islice(edited(random_, files, name, MEANINGFUL), 90):
        failing = changed.failing()
        if failing is not None:
            seen[failing.name] += 1
            continue
        assert changed.falsehood is None, path
        how = rests_on(f"{name}.json", path)
        assert how is not None, path
        # Hashes are made anew.
        free = path.endswith("_sha256")
        assert free or how.startswith(("not claimed", "given")), (path, how)
        seen[how.split()[0]] += 1
    assert seen["files"] > 10, seen
