"""The answer of ``dse choose``: the standing and the figures of each board and combination of
variants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from math import isfinite
from typing import Any

from paretosoc.common.options import as_written
from paretosoc.common.text import did_you_mean, pluralize
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem.runtime_limits import unserved_units
from paretosoc.dse.tools.choose.joined import JoinedFront, label_of
from paretosoc.dse.workload.options import Options
from paretosoc.platforms.platform import Platform, Unit
from paretosoc.results.front.choices import SURE
from paretosoc.results.io.canonical_json import finite_or_none
from paretosoc.results.problem.runtimes import RUNTIMES, Runtime, usual_runtime


class Standing(Enum):
    """Whether a board serves the workload. The order is that of the table."""

    SERVES = "yes"
    """It keeps all limits in ``SURE`` of the draws or more."""
    UNKNOWN = "open"
    """The errors of its costs are too large to tell."""
    FAILS = "no"
    """It keeps all limits in 1 - ``SURE`` of the draws or fewer."""
    REFUSED = "cannot run"
    """The workload cannot be put on it."""
    LEFT_OUT = "left out"
    """It was not explored."""


def standing_of(probability: float) -> Standing:
    """Return the standing of a board with this probability."""
    if probability >= SURE:
        return Standing.SERVES
    return Standing.FAILS if 1 - probability >= SURE else Standing.UNKNOWN


@dataclass(frozen=True)
class Figure:
    """A figure of a design point: with nominal costs, and its 5th and 95th percentile over the
    draws. Infinite if networks with rates are overloaded there."""

    nominal: float
    least: float
    most: float


@dataclass(frozen=True)
class Board:
    """One board of the table, with one of the combinations of variants that the networks have."""

    name: str
    title: str
    standing: Standing
    reason: str = ""
    """Why it fails, cannot run the workload, or was left out."""
    probability: float | None = None
    """Share of the draws in which some choice of its front keeps all limits."""
    number_format: str = ""
    remark: str = ""
    """Why its number format differs from that of the others, and which units do not have it."""
    figures: Mapping[str, Figure] | None = None
    """Of the design point shown, by name with unit."""
    probability_of_design: float | None = None
    """Share of the draws in which the design point shown keeps all limits."""
    memory_mb: float | None = None
    """Weights and activations of the design point. None if the board's memory is not known."""
    memory_left_mb: float | None = None
    times_off_percent: tuple[int, int] | None = None
    """By how much times of networks on the units of the design point are off at most: half of them,
    nine of ten."""
    assumed: tuple[str, ...] = ()
    """Figures behind those of the design point that nobody measured or derived."""
    price: float | None = None
    run: str | None = None
    """Its run in the campaign's folder."""
    variants: Mapping[str, str] = field(default_factory=dict)
    """By network."""
    accuracies: Mapping[str, float] = field(default_factory=dict)
    """In percent, by network, of those that have variants whose accuracies are known."""

    @property
    def label(self) -> str:
        """Return its name and its variants."""
        return " ".join([self.name, *filter(None, [label_of(self.variants)])])


@dataclass(frozen=True)
class BoardChoice:
    """Boards for a workload, best first: those that serve it by price if there are prices, then by
    accuracy if there are variants, then by energy, then the others by probability."""

    workload: str
    requirements: tuple[str, ...]
    """Rates and limits that a board must keep."""
    draws: int
    seed: int
    boards: tuple[Board, ...]
    currency: str = ""
    energy_per: str = ""
    """The unit of work that the energy is counted for."""
    limits: Mapping[str, float] = field(default_factory=dict)
    """Limits of the figures, by name."""
    fronts: tuple[JoinedFront, ...] = ()
    """Of each board with all combinations. None if there are no variants."""
    accuracy_sources: tuple[str, ...] = ()
    """Of the accuracies, in words."""
    format_reason: str = ""
    """Why the number format is this one, if nobody asked for it."""

    def __getitem__(self, name: str) -> Board:
        """Return the board of this name, with the best combination of variants.

        Raises:
            WorkloadError: if there is none.
        """
        for board in self.boards:
            if board.name == name:
                return board
        hint = did_you_mean(str(name), dict.fromkeys(board.name for board in self.boards))
        raise WorkloadError(f"there is no board {name!r} ({hint})")

    def __repr__(self) -> str:
        first = self.boards[0]
        words = f"{pluralize(len(self.boards), 'row')}, first {first.name} ({first.standing.value})"
        return f"<dse.BoardChoice of {self.workload}: {words}>"

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON content. Infinite figures are null."""
        document = asdict(self)
        for board in document["boards"]:
            board["standing"] = board["standing"].value
            for figure in (board["figures"] or {}).values():
                figure |= {name: finite_or_none(value) for name, value in figure.items()}
        return document


def in_order(boards: list[Board], energy: str) -> tuple[Board, ...]:
    """Return the boards, best first. ``energy``: name of the figure of equal prices."""
    places = list(Standing)

    def key(board: Board) -> tuple[float, ...]:
        inf = float("inf")
        figure = (board.figures or {}).get(energy)
        used = figure.nominal if figure is not None and isfinite(figure.nominal) else inf
        price = inf if board.price is None else board.price
        if board.standing is Standing.SERVES:
            accurate = [-percent for percent in board.accuracies.values()]
            return places.index(board.standing), price, *accurate, used
        return places.index(board.standing), -(board.probability or 0.0), used

    return tuple(sorted(boards, key=key))


_CPU = "cpu"


@dataclass(frozen=True)
class BoardFormat:
    """The number format of a board. ``left_out``: why it has none. ``remark``: what the table says
    about it. ``reason``: why it is that of all boards, if nobody asked for it."""

    name: str
    left_out: str = ""
    remark: str = ""
    reason: str = ""


def choose_formats(
    platforms: Sequence[Platform], asked: Sequence[str], runtime: Runtime | None
) -> dict[str, BoardFormat]:
    """Return the format of every platform, by its name.

    It is the one that is asked for, or one that all of them have: of several the default of most,
    then the one that most units have, then the narrowest.

    Args:
        asked: ``FORMAT`` for all or ``BOARD=FORMAT`` for one.
        runtime: that of the workload. None: the platform's own.

    Raises:
        WorkloadError: on a board that is not there, a format that no board has, or no common one.
    """
    of = {each.name: runtime or usual_runtime(each) for each in platforms}
    have = {platform.name: _formats_of(platform, of[platform.name]) for platform in platforms}
    common, own = _parse(asked, have)
    usual, reason = (common, "") if common else _common(platforms, have)
    found = {}
    for platform in platforms:
        name = own.get(platform.name, usual)
        board = _of_board(platform, name, usual, list(have[platform.name]), of[platform.name])
        found[platform.name] = replace(board, reason=reason)
    return found


def _parse(
    asked: Sequence[str], have: Mapping[str, Mapping[str, int]]
) -> tuple[str | None, dict[str, str]]:
    formats: dict[str, str] = {}
    known = dict.fromkeys(name for formats in have.values() for name in formats)
    for text in asked:
        board, equals, name = text.rpartition("=")
        if equals and board not in have:
            hint = did_you_mean(board, have)
            raise WorkloadError(f"{as_written('precision')}: there is no board {board!r} ({hint})")
        if name not in known:
            raise WorkloadError(
                f"{as_written('precision')}: [BOARD=]FORMAT with one of {', '.join(known)} is "
                f"required, got {text!r}"
            )
        if board in formats:
            raise WorkloadError(
                f"{as_written('precision')}: one format for {board or 'all boards'} is required, "
                f"got {formats[board]} and {name}"
            )
        formats[board] = name
    return formats.pop("", None), formats


def _common(
    platforms: Sequence[Platform], have: Mapping[str, Mapping[str, int]]
) -> tuple[str, str]:
    """Return the format, and why it is this one."""
    first = have[platforms[0].name]
    shared = [name for name in first if all(name in formats for formats in have.values())]
    if not shared:
        each = "; ".join(f"{board}: {', '.join(formats)}" for board, formats in have.items())
        raise WorkloadError(
            f"{as_written('precision')}: the boards have no number format in common ({each}); "
            "with FORMAT those that do not have it are left out, BOARD=FORMAT gives one its own"
        )
    defaults = [platform.default_precision for platform in platforms]

    def rank(name: str) -> tuple[int, int, int]:
        units = sum(formats[name] for formats in have.values())
        return -defaults.count(name), -units, int("".join(filter(str.isdigit, name)))

    name = min(shared, key=rank)
    others = [other for other in shared if other != name]
    if not others:
        return name, "the only number format that all have"
    count = defaults.count(name)
    of = f" of {count} of {len(defaults)}" if len(defaults) > 1 else ""
    how = f"the default{of}" if count else "which most units have"
    other = min(others, key=rank)
    return name, f"{how}; {as_written('precision', other)} takes {other.upper()} for all"


def _of_board(
    platform: Platform, name: str, usual: str, have: Sequence[str], runtime: Runtime
) -> BoardFormat:
    if name not in have:
        return BoardFormat(name, left_out=f"has no {name.upper()} ({', '.join(have).upper()})")
    remarks = [*unserved_units(platform, Options(), runtime)]
    if name != usual:
        remarks.append(f"{name.upper()} as asked for, {usual.upper()} elsewhere")
    without = [
        unit
        for unit in _served(platform, runtime)
        if unit.kind != _CPU and name not in unit.peak_by_format
    ]
    if without:
        unused = ", ".join(unit.name for unit in without)
        first = next(other for unit in without for other in unit.peak_by_format)
        own = as_written("precision", f"{platform.name}={first}")
        remarks.append(f"{unused} unused, as it has no {name.upper()} ({own} uses it)")
    return BoardFormat(name, remark="; ".join(remarks))


def _formats_of(platform: Platform, runtime: Runtime) -> dict[str, int]:
    """Return the formats that a board has, each with the number of units that have it."""
    refusal = RUNTIMES[runtime].refusal
    names = (name for unit in _served(platform, runtime) for name in unit.peak_by_format)
    return Counter(name for name in names if refusal((name,)) is None)


def _served(platform: Platform, runtime: Runtime) -> list[Unit]:
    places = RUNTIMES[runtime].places(platform)
    return [unit for unit in platform.units if unit.name in places]
