"""Making profile files: measurements as the JSON that :mod:`fitness.profiles.profile_file`
reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from paretosoc.common.units import PS_PER_MS
from paretosoc.fitness.profiles.layer_names import LayerNames
from paretosoc.fitness.profiles.measured_layers import LayerTime, combined
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.exact_json import json_numbers
from paretosoc.platforms.ladder import ROUNDING_KHZ
from paretosoc.platforms.measurement import Clocks
from paretosoc.platforms.platform import Platform
from paretosoc.platforms.source import decimal_number, round_half_up
from paretosoc.results.io.canonical_json import canonical_bytes
from paretosoc.sdf.grouping.groups import GroupedNetwork

Document = dict[str, Any]
FIGURES = ("ms", "traffic_gbps", "traffic_percent", "requested_percent", "power_mw", "notes")


@dataclass(frozen=True)
class Subject:
    """The measured network, with its multiply-accumulates, at named clocks."""

    network: str
    macs: int
    precision: str
    clocks_khz: Clocks
    batch: int = 1
    """Images that were computed at once. ``macs`` are of one."""


def ms(time_ps: Fraction) -> int | float:
    """Return a time in milliseconds, rounded to whole picoseconds, at least one."""
    return decimal_number(max(1, round_half_up(time_ps)), PS_PER_MS)


def rounded(value: Fraction, decimals: int) -> int | float:
    """Return a number with this many decimals, rounded half up."""
    return decimal_number(round_half_up(value * 10**decimals), 10**decimals)


def merged(first: Document, second: Document) -> Document:
    """Return two profiles of one platform as one.

    Records of the same network at the same clocks join.

    Raises:
        PlatformError: if they are of two platforms, or both measured the same thing.
    """
    if first["platform"] != second["platform"]:
        raise PlatformError(
            f"profiles of one platform are required to be merged, got {first['platform']!r} and "
            f"{second['platform']!r}"
        )
    records = json_numbers(first.get("networks", []))
    for new in json_numbers(second.get("networks", [])):
        old = next((record for record in records if _joins(record, new)), None)
        if old is None:
            records.append(new)
        else:
            _merge_record(old, new)
    others = {key: value for document in (second, first) for key, value in document.items()}
    comparisons = {
        (entry["network"], entry["unit"], entry["precision"]): entry
        for document in (first, second)
        for entry in json_numbers(document.get("comparisons", []))
    }
    return {
        **others,
        "platform": first["platform"],
        "networks": records,
        **({"comparisons": list(comparisons.values())} if comparisons else {}),
    }


def _joins(old: Document, new: Document) -> bool:
    clocks = old["clocks_mhz"]
    return (
        all(
            old.get(key) == new.get(key)
            for key in ("network", "macs", "precision", "batch", "status")
        )
        and all(
            1000 * abs(clocks.get(name, mhz) - mhz) < ROUNDING_KHZ
            for name, mhz in new["clocks_mhz"].items()
        )
        and all("name" in part or "names" in part for part in old.get("groups", ()))
    )


def _merge_record(old: Document, new: Document) -> None:
    old["clocks_mhz"] = {**old["clocks_mhz"], **new["clocks_mhz"]}
    if new["source"] not in old["source"]:
        old["source"] = f"{old['source']}; {new['source']}"[:4000]
    for key in ("groups", "layers"):
        parts = {_names(part): dict(part) for part in old.get(key, ())}
        for part in new.get(key, ()):
            known = parts.setdefault(_names(part), {k: part[k] for k in _identity(part)})
            for figure in FIGURES:
                for unit, value in part.get(figure, {}).items():
                    values = known.setdefault(figure, {})
                    if figure == "notes" and unit in values:
                        if value not in values[unit]:
                            values[unit] = f"{values[unit]}; {value}"
                    elif values.get(unit, value) != value:
                        raise PlatformError(
                            f"{figure} of {', '.join(_names(part)[:3])} on {unit} is in both "
                            f"profiles: {values[unit]} and {value} (import their files at once "
                            "for means)"
                        )
                    else:
                        values[unit] = value
        old[key] = list(parts.values())
    transitions = {(t["after"], t["from"], t["to"]): t for t in old.get("transitions", ())}
    for item in new.get("transitions", ()):
        place = (item["after"], item["from"], item["to"])
        if transitions.get(place, item) != item:
            raise PlatformError(
                f"the transition after {place[0]!r} from {place[1]} to {place[2]} is in both "
                f"profiles: {transitions[place]['ms']} and {item['ms']} ms"
            )
        transitions[place] = item
    old["transitions"] = list(transitions.values())


def _identity(part: Document) -> list[str]:
    return [key for key in ("name", "names") if key in part]


def _names(part: Document) -> tuple[str, ...]:
    return tuple(part["names"]) if "names" in part else (part["name"],)


def document_bytes(document: Document) -> bytes:
    """Return the file's text. Lists without entries are left out."""
    plain = {key: json_numbers(value) for key, value in document.items()}
    records = [
        {key: value for key, value in record.items() if value != []}
        for record in plain.pop("networks", [])
    ]
    return canonical_bytes(plain | ({"networks": records} if records else {}))


@dataclass
class Import:
    """A profile of one network that an importer fills, with a report for the user."""

    network: GroupedNetwork
    platform: Platform
    subject: Subject
    source: str
    """Origin of the measurements, recorded with them."""
    lines: list[str] = field(default_factory=list)
    """Sentences about what the import has found."""
    flagged: list[str] = field(default_factory=list)
    """Sentences about each part that was left out, with the reason."""
    document: Document = field(init=False)
    """The profile, of one network."""

    def __post_init__(self) -> None:
        subject = self.subject
        self.document = {
            "platform": self.platform.measured_name,
            "networks": [
                {
                    "network": subject.network,
                    "macs": subject.macs,
                    "precision": subject.precision,
                    **({"batch": subject.batch} if subject.batch > 1 else {}),
                    "clocks_mhz": {
                        name: decimal_number(khz, 1000) for name, khz in subject.clocks_khz
                    },
                    "groups": [],
                    "layers": [],
                    "transitions": [],
                    "source": self.source[:4000],
                    "status": "measured",
                }
            ],
        }

    @property
    def record(self) -> Document:
        """Return the document's part with the network."""
        record: Document = self.document["networks"][0]
        return record

    def add_part(
        self, key: str, names: Sequence[str], figures: Mapping[str, Mapping[str, Any]]
    ) -> None:
        """Add figures (``ms``, ... to unit to value) of a group or of layers measured together."""
        part: Document = {"name": names[0]} if len(names) == 1 else {"names": list(names)}
        part |= {figure: dict(values) for figure, values in figures.items() if values}
        self.record[key].append(part)

    def add_time(
        self, layers: Sequence[str], units: Sequence[str], time_ps: Fraction, note: str
    ) -> None:
        """Add the time of layers that were measured together on each of ``units``."""
        notes = dict.fromkeys(units, note) if note else {}
        self.add_part("layers", layers, {"ms": dict.fromkeys(units, ms(time_ps)), "notes": notes})

    def add_layer_times(
        self,
        names: LayerNames,
        units: Sequence[str],
        profiles: Sequence[Sequence[LayerTime]],
        *,
        subtract: bool,
    ) -> None:
        """Add the layer times of several profiles on each of ``units``.

        :func:`fitness.profiles.measured_layers.combined` combines the profiles.
        """
        sets, flagged = combined(profiles, subtract=subtract)
        for item in sorted(sets, key=lambda item: names.place(item.layers)):
            self.add_time(names.in_order(item.layers), units, item.time_ps, item.note)
        self.flagged += flagged
