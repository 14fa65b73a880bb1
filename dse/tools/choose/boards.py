"""The answer of ``dse choose``: the standing and the figures of each board and combination of
variants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from math import isfinite
from typing import Any

from paretosoc.common.text import did_you_mean, pluralize
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.tools.choose.joined import JoinedFront, label_of
from paretosoc.results.front.choices import SURE
from paretosoc.results.io.canonical_json import finite_or_none


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
