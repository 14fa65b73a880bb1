"""Reading a platform: by its name, or from a user's own file, which may extend another, and the
text of its file."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from paretosoc.common.files import naming
from paretosoc.common.text import did_you_mean
from paretosoc.platforms.deployment import NAMED_BY_UNIT
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.exact_json import (
    canonical_json,
    check_against_schema,
    json_numbers,
    parse_exact,
)
from paretosoc.platforms.io.platform_build import build_platform
from paretosoc.platforms.platform import Platform
from paretosoc.platforms.power_mode import board_and_mode, power_modes_named

MAX_BYTES = 20_000_000
"""Larger files are refused before they are read."""

MAX_BASES = 20
"""Files of which each extends the next."""
MERGED_BY = {
    "domains": "name",
    "units": "name",
    "memory_pools": "name",
    "transitions": "unit",
    "peaks": "precision",
    "power": "domain",
    "controls": "domain",
}
"""Lists whose entries are merged one by one, and the key that identifies them."""

REPLACED = frozenset({"ladder", "voltage", "idle", "busy", "error"})
"""Objects that are replaced entirely, since halves of two would make no sense."""


@cache
def platform_names() -> tuple[str, ...]:
    """Names of the platforms that come with the program, sorted."""
    names = [
        entry.name.removesuffix(".json")
        for entry in resources.files("paretosoc.platforms.data").iterdir()
        if entry.name.endswith(".json") and not entry.name.endswith(".schema.json")
    ]
    return tuple(sorted(names))


def load_platform(name_or_path: str | Path) -> Platform:
    """Return the platform of that name, or the one that a JSON file describes.

    A string that is the name of a platform means that platform. Anything with a path separator or
    the suffix ``.json`` is a file. ``@MODE`` after either is one of its power modes.

    Raises:
        PlatformError: if there is none (the nearest names are suggested), the file does not fit
            the schema ``platforms/data/platform.schema.json`` or contradicts itself, or there are
            several modes.
    """
    found = load_platforms(name_or_path)
    if len(found) > 1:
        names = ", ".join(platform.name for platform in found)
        raise PlatformError(f"{name_or_path}: one power mode is required, got {names}")
    return found[0]


def load_platforms(name_or_path: str | Path) -> list[Platform]:
    """Return the platform of :func:`load_platform`, or one for each of several modes:
    ``@MODE,MODE`` or ``@all``.

    Raises:
        PlatformError: as there.
    """
    if not isinstance(name_or_path, str | Path):
        raise PlatformError(f"platform: a name or a path is required, got {name_or_path!r}")
    board, modes = board_and_mode(str(name_or_path))
    if board not in ("", str(name_or_path)) and not Path(name_or_path).exists():
        return power_modes_named(_load(board), modes)
    return [_load(name_or_path)]


def _load(name_or_path: str | Path) -> Platform:
    if str(name_or_path) in platform_names():
        return _load_shipped(str(name_or_path))
    document, label = platform_document(name_or_path)
    try:
        check_against_schema(document, "platform", label)
        return replace(_built(document, label), file=label)
    except PlatformError as error:
        raise PlatformError(f"{error}{_which_entry(document, label, str(error))}") from None


def _which_entry(document: dict[str, Any], label: str, fault: str) -> str:
    """Return which entry of a list is faulty, whose place counts the entries of the platform that
    the file extends: the name, or that it is a new one, or that its unit was removed. Empty for all
    other faults."""
    place = re.match(r"(\w+)\[([0-9]+)\]", fault.removeprefix(f"{label}: "))
    own = parse_exact(_read_file(Path(label), label), label)
    if place is None or place[1] not in MERGED_BY or "extends" not in own:
        return ""
    base, _ = _resolved(own["extends"], Path(label).parent, ())
    key = MERGED_BY[place[1]]
    entry, others = document[place[1]][int(place[2])], base.get(place[1])
    if not isinstance(entry, dict) or not isinstance(others, list):
        return ""
    known = [str(other.get(key)) for other in others if isinstance(other, dict)]
    name = entry.get(key)
    if not isinstance(name, str):
        return ""
    units = own.get("units", [])
    if place[1] == "transitions" and {"name": name, "remove": True} in units:
        entry_text = json.dumps({key: name, "remove": True})
        return f". Unit {name!r} is removed: remove its entry of transitions as well: {entry_text}"
    if name in known:
        return f". With the entries of {own['extends']}, {place[0]} is the one of {key} {name!r}"
    hint = did_you_mean(name, known, "", most=1)
    listed = f"{', '.join(known)}{hint and f'; {hint}'}"
    none = f"{own['extends']} has none of that {key} ({listed})"
    return f". {place[0]} is {name!r}, a new entry: {none}"


@cache
def _load_shipped(name: str) -> Platform:
    """Return a platform that comes with the program. The tests check its file by the schema."""
    return _built(*platform_document(name))


def _built(document: dict[str, Any], label: str) -> Platform:
    digest = hashlib.sha256(canonical_json(document)).hexdigest()
    with naming(label, PlatformError):
        return build_platform(document, digest)


def platform_document(name_or_path: str | Path) -> tuple[dict[str, Any], str]:
    """Return the document of a platform with all that it extends merged in, and its label.

    Raises:
        PlatformError: if there is none, or no JSON object.
    """
    return _resolved(str(name_or_path), None, ())


def _resolved(
    reference: str, beside: Path | None, seen: tuple[str, ...]
) -> tuple[dict[str, Any], str]:
    """Return the document of ``reference`` with all that it extends merged in, and its label."""
    if reference in platform_names():
        data = (resources.files("paretosoc.platforms.data") / f"{reference}.json").read_bytes()
        label, identity, folder = reference, reference, None
    else:
        path = Path(reference) if beside is None else beside / reference
        data = _read_file(path, reference)
        label, identity, folder = str(path), str(path.resolve()), path.parent
    if identity in seen:
        raise PlatformError(f"{label}: extends must not come back to the file itself")
    if len(seen) > MAX_BASES:
        raise PlatformError(f"{label}: extends must name at most {MAX_BASES} files in a row")
    document = parse_exact(data, label)
    if not isinstance(document, dict):
        raise PlatformError(f"{label}: must be an object")
    base: dict[str, Any] = {}
    if "extends" in document:
        base_reference = document["extends"]
        if not isinstance(base_reference, str) or not base_reference:
            raise PlatformError(f"{label}: extends must be the name or path of a platform")
        with naming(f"{label}: extends", PlatformError):
            base, _ = _resolved(base_reference, folder, (*seen, identity))
    own = {key: value for key, value in document.items() if key != "extends"}

    def foreign(place: str) -> Any:
        other, _, name = place.rpartition(":")
        units = _resolved(other, folder, (*seen, identity))[0].get("units") or ()
        by_name = {str(unit.get("name")): unit for unit in units if isinstance(unit, dict)}
        if name not in by_name:
            hint = did_you_mean(name, by_name)
            raise PlatformError(f"units: {other!r} has no unit {name!r} to extend ({hint})")
        return by_name[name]

    with naming(label, PlatformError):
        merged: dict[str, Any] = _merged(base, own, foreign)
    if "deployment" in merged:
        merged["deployment"] = _without_removed(merged["deployment"], own)
    return merged, label


def _without_removed(deployment: Any, own: Mapping[str, Any]) -> Any:
    """Return the section without what it says of domains and units that a file removes."""

    def removed(key: str) -> list[Any]:
        entries = own[key] if isinstance(own.get(key), list) else []
        objects = (one for one in entries if isinstance(one, dict))
        return [one.get("name") for one in objects if one.get("remove") is True]

    gone = {"max_mhz": removed("domains"), **dict.fromkeys(NAMED_BY_UNIT, removed("units"))}

    def left(value: Any, key: str = "") -> Any:
        if isinstance(value, list):
            return [left(one) for one in value if not _is_of(one, gone["max_mhz"])]
        if isinstance(value, dict):
            names = gone.get(key, ())
            return {name: left(one, name) for name, one in value.items() if name not in names}
        return value

    return left(deployment)


def _is_of(entry: Any, domains: Sequence[Any]) -> bool:
    return isinstance(entry, dict) and entry.get("domain") in domains


def _read_file(path: Path, reference: str) -> bytes:
    try:
        if not path.is_file():
            raise FileNotFoundError
        if path.stat().st_size > MAX_BYTES:
            raise PlatformError(f"{path}: must have at most {MAX_BYTES} bytes")
        return path.read_bytes()
    except PlatformError:
        raise
    except (OSError, ValueError):
        hint = "'dse choose --boards' takes several platforms"
        if reference.partition(",")[0] not in platform_names():
            hint = did_you_mean(reference.lower(), platform_names(), most=3, cutoff=0.5)
        is_file = reference.endswith(".json") or "/" in reference
        what = "no readable file" if is_file else "no chip and no readable file"
        raise PlatformError(
            f"platform {reference!r}: there is {what} of that name ({hint})"
        ) from None


def _merged(base: Any, own: Any, foreign: Callable[[str], Any], key: str = "") -> Any:
    """Return ``base``, which may be None, with ``own`` merged in. ``foreign``: unit of another
    platform, by ``PLATFORM:UNIT``."""
    if isinstance(own, list) and key in MERGED_BY:
        return _merged_list(base if isinstance(base, list) else [], own, foreign, key)
    if not isinstance(own, Mapping) or key in REPLACED:
        return own
    result = dict(base) if isinstance(base, Mapping) else {}
    for name, value in own.items():
        if isinstance(value, Mapping) and value.get("remove") is True:
            if name not in result:
                hint = did_you_mean(name, result)
                raise PlatformError(f"there is no {name!r} to remove ({hint})")
            del result[name]
        else:
            result[name] = _merged(result.get(name), value, foreign, name)
    return result


def _merged_list(
    base: list[Any], own: list[Any], foreign: Callable[[str], Any], key: str
) -> list[Any]:
    """Return ``base`` with the entries of ``own`` merged in. New entries go to the end."""
    identity, result, of_base = MERGED_BY[key], list(base), len(base)

    def place_of(name: Any, end: int) -> int | None:
        named = (isinstance(entry, dict) and entry.get(identity) == name for entry in result[:end])
        return next((place for place, found in enumerate(named) if found), None)

    def hint(name: Any) -> str:
        known = [str(entry.get(identity)) for entry in result if isinstance(entry, dict)]
        return did_you_mean(str(name), known)

    for entry in own:
        if not isinstance(entry, dict):
            result.append(entry)  # The schema refuses it, with its path.
            continue
        name = entry.get(identity)
        place = place_of(name, of_base)
        if entry.get("remove") is True:
            if place is None:
                raise PlatformError(
                    f"there is no entry with {identity} {name!r} to remove ({hint(name)})"
                )
            del result[place]
            of_base -= 1
            continue
        extended = None if place is None else result[place]
        if "extends" in entry:
            entry = dict(entry)
            other = entry.pop("extends")
            above = place_of(other, len(result))
            extended = None if above is None else result[above]
            if key == "units" and isinstance(other, str) and ":" in other:
                if place is not None:
                    raise PlatformError(
                        f"units: {name!r} is there already, and its measurements do not hold for "
                        f"{other!r}: remove {name!r}, and give the new unit a name of its own"
                    )
                extended = foreign(other)
            if extended is None:
                raise PlatformError(
                    f"{key}: {name!r} must extend an entry above it, or of the platform that the "
                    f"file extends, got {other!r} ({hint(other)})"
                )
        whole = _merged(extended, entry, foreign)
        if place is None:
            result.append(whole)
        else:
            result[place] = whole
    return result


_LINE = 100
"""Values without sources that fit are written on one line of so many characters."""


def platform_source(name_or_path: str) -> str:
    """Return the JSON text of a platform, complete and readable by :func:`load_platform`.

    Raises:
        PlatformError: as :func:`load_platform`, apart from faults that the schema finds.
    """
    document, _ = platform_document(name_or_path)
    return _text(document, 0) + "\n"


def new_platform_source() -> str:
    """Return the JSON text of a board with no known figures: every figure is assumed, and its
    source says how to get a better one."""
    return (resources.files("paretosoc.platforms.data") / "new_platform.txt").read_text("utf-8")


def _text(value: Any, depth: int) -> str:
    line = json.dumps(json_numbers(value), ensure_ascii=False)
    if not isinstance(value, dict | list) or not value:
        return line
    if "source" not in value and len(line) + depth <= _LINE:
        return line
    inner, outer = "\n" + " " * (depth + 1), "\n" + " " * depth
    if isinstance(value, dict):
        items = [f"{json.dumps(key)}: {_text(item, depth + 1)}" for key, item in value.items()]
        return "{" + inner + f",{inner}".join(items) + outer + "}"
    if not any(isinstance(item, dict | list) for item in value):
        return line
    return "[" + inner + f",{inner}".join(_text(item, depth + 1) for item in value) + outer + "]"
