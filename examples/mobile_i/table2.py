"""Table II of Mobile-I: latency of SPARTA, Memolution and Mobile-I, published beside ours.

Usage: python -m examples.mobile_i.table2 [--json]

``published_table2.csv`` holds the paper's figures; it names neither their unit nor the number of
inferences N, and its task times come from a neural compute stick, ours from the layers' work on
Neurocube. So seconds cannot agree: what can are the order of the methods, their ratios, the
utilisation, the prologue, and how close each schedule is to what no schedule can pass. All that is
printed for several N, for Mobile-I by the paper's algorithms alone and with our stages, and for
both readings of Memolution; then, what the allocation of transfers to caches gains.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

from rich.box import SIMPLE
from rich.table import Table

from examples.mobile_i.cells import (
    BY_COPY,
    ENGINES,
    INFERENCES,
    PAPER,
    STAGED,
    Cell,
    scheduled,
    task_graphs,
)
from examples.mobile_i.printing import parser, print_figures, print_table
from examples.mobile_i.transfers import CACHES, Gain, gains
from paretosoc.dse.papers.mobile_i.periodic import PeriodicSchedule
from paretosoc.dse.papers.mobile_i.schedule.schedulers import (
    MEMOLUTION,
    METHODS,
    MOBILE_I,
    SPARTA,
    memolution,
)
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.platform import Platform

NETWORKS = {
    "MobileNetSSD": "mobilenet_ssd",
    "AgeNet": "agenet",
    "AlexNet": "alexnet",
    "GENDERNET": "gendernet",
    "GoogLeNet": "googlenet",
    "Inception_ResNet": "inception_resnet_v2",
    "Inception_v1": "inception_v1",
    "Inception_v2": "inception_v2",
    "SqueezeNet": "squeezenet",
    "Tiny-YOLO": "tiny_yolo",
}
PUBLISHED_REDUCTION = {SPARTA: 0.6288, MEMOLUTION: 0.1754}
PUBLISHED_UTILISATION = {SPARTA: 0.3572, MEMOLUTION: 0.7975, MOBILE_I: 0.9614}
PUBLISHED_PROLOGUE = 0.1140
"""Mobile-I's over Memolution's."""
OURS = (PAPER, STAGED)


@dataclass(frozen=True)
class Benchmark:
    """A row of the table; ``published`` by engines and method."""

    name: str
    network: str
    vertices: int
    edges: int
    published: dict[tuple[int, str], float]


@dataclass(frozen=True)
class Row:
    """A benchmark with our cells, by engines."""

    benchmark: Benchmark
    cells: dict[int, Cell]

    @property
    def graph(self) -> list[int]:
        """Vertices and edges of our task graph."""
        graph = next(iter(self.cells.values())).schedules[PAPER].graph
        return [len(graph.tasks), len(graph.transfers)]


@dataclass(frozen=True)
class Means:
    """Over all cells, Mobile-I by one method (``PAPER`` or ``STAGED``) for N inferences.

    The keys of ``in_order`` and ``prologue`` are readings of Memolution, of ``below`` those and
    SPARTA.
    """

    inferences: int
    method: str
    cells: int
    in_order: dict[str, int]
    """Cells with Mobile-I <= Memolution <= SPARTA."""
    fastest: int
    """Cells where no other is faster, by either reading."""
    below: dict[str, float]
    """By how much Mobile-I's latency is below the other's."""
    utilisation: float
    prologue: dict[str, float]
    """Mobile-I's over Memolution's, where that is not 0."""
    prologue_periods: int
    over_paper_alone: float
    """Latency over that of the paper's algorithms alone."""


def benchmarks() -> list[Benchmark]:
    """The rows of the published table."""
    path = Path(__file__).parent / "published_table2.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Benchmark(
                row["benchmark"],
                NETWORKS[row["benchmark"]],
                int(row["vertices"]),
                int(row["edges"]),
                {
                    (engines, method): float(row[f"{method.replace('-', '_')}_{engines}pe"])
                    for engines in ENGINES
                    for method in METHODS
                },
            )
            for row in csv.DictReader(file)
        ]


def row_of(benchmark: Benchmark, platform: Platform) -> Row:
    """Our schedules of one row."""
    return Row(
        benchmark,
        {
            array.engines: scheduled(graph, array)
            for graph, array in task_graphs(benchmark.network, platform)
        },
    )


def in_order(mobile_i: float, memolution: float, sparta: float) -> bool:
    """Mobile-I <= Memolution <= SPARTA."""
    return mobile_i <= memolution <= sparta


def means(cells: Sequence[Cell], inferences: int, method: str) -> Means:
    """Of all cells."""
    seconds = [
        {name: cell.seconds(name, inferences) for name in (SPARTA, MEMOLUTION, BY_COPY, *OURS)}
        for cell in cells
    ]
    schedules = [cell.schedule(method, inferences) for cell in cells]
    return Means(
        inferences=inferences,
        method=method,
        cells=len(cells),
        in_order={
            reading: sum(in_order(s[method], s[reading], s[SPARTA]) for s in seconds)
            for reading in (MEMOLUTION, BY_COPY)
        },
        fastest=sum(s[method] <= min(s[m] for m in (MEMOLUTION, BY_COPY, SPARTA)) for s in seconds),
        below={
            other: mean(1 - s[method] / s[other] for s in seconds)
            for other in (MEMOLUTION, BY_COPY, SPARTA)
        },
        utilisation=mean(float(schedule.utilisation) for schedule in schedules),
        prologue={
            reading: _prologue_over(cells, reading, [s.prologue_ps for s in schedules])
            for reading in (MEMOLUTION, BY_COPY)
        },
        prologue_periods=sum(schedule.prologue_periods for schedule in schedules),
        over_paper_alone=mean(s[method] / s[PAPER] for s in seconds),
    )


def _prologue_over(cells: Sequence[Cell], reading: str, prologues_ps: Sequence[int]) -> float:
    others = [cell.schedules[reading].prologue_ps for cell in cells]
    return mean(own / other for own, other in zip(prologues_ps, others, strict=True) if other)


def document(rows: Sequence[Row], allocation: Sequence[Gain]) -> dict[str, Any]:
    """All figures, for programs."""
    cells = [row.cells[engines] for row in rows for engines in ENGINES]
    published = [
        {method: row.benchmark.published[engines, method] for method in METHODS}
        for row in rows
        for engines in ENGINES
    ]
    staged = [cell.staged[INFERENCES[-1]] for cell in cells]
    memolutions = [cell.schedules[MEMOLUTION] for cell in cells]
    return {
        "published": {
            "in_order": sum(in_order(f[MOBILE_I], f[MEMOLUTION], f[SPARTA]) for f in published),
            "below": PUBLISHED_REDUCTION,
            "below_by_cells": {
                other: mean(1 - figures[MOBILE_I] / figures[other] for figures in published)
                for other in (MEMOLUTION, SPARTA)
            },
            "utilisation": PUBLISHED_UTILISATION,
            "prologue": PUBLISHED_PROLOGUE,
        },
        "means": [
            asdict(means(cells, inferences, method)) for inferences in INFERENCES for method in OURS
        ],
        "utilisation": {
            method: mean(float(cell.schedules[method].utilisation) for cell in cells)
            for method in (SPARTA, MEMOLUTION, BY_COPY)
        },
        "least_prologue": {
            reading: _prologue_over(
                cells, reading, [s.least_prologue_periods * s.period_ps for s in staged]
            )
            for reading in (MEMOLUTION, BY_COPY)
        },
        "prologue_periods": {
            MEMOLUTION: sum(schedule.prologue_periods for schedule in memolutions),
            "least": sum(s.least_prologue_periods for s in staged),
        },
        "above_least_period": {
            MEMOLUTION: _above_least(memolutions),
            STAGED: _above_least(staged),
        },
        "transfers_cached": {
            MEMOLUTION: _cached(memolutions),
            PAPER: _cached([cell.schedules[PAPER] for cell in cells]),
            STAGED: _cached([s for cell in cells for s in cell.staged.values()]),
        },
        "memolution_cells_that_need_caches": sum(
            memolution(s.graph, replace(s.array, cache_bytes=0), s.copies).prologue_periods
            > s.prologue_periods
            for s in memolutions
        ),
        "caches_bytes": list(CACHES),
        "allocation": [asdict(gain) for gain in allocation],
        "benchmarks": [
            {
                "name": row.benchmark.name,
                "network": row.benchmark.network,
                "published_graph": [row.benchmark.vertices, row.benchmark.edges],
                "graph": row.graph,
                "copies": {str(e): row.cells[e].schedules[PAPER].copies for e in ENGINES},
                "seconds": {
                    f"{method} {engines} {inferences}": row.cells[engines].seconds(
                        method, inferences
                    )
                    for inferences in INFERENCES
                    for engines in ENGINES
                    for method in (SPARTA, MEMOLUTION, BY_COPY, *OURS)
                },
            }
            for row in rows
        ],
    }


def _cached(schedules: Sequence[PeriodicSchedule]) -> int:
    return sum(len(schedule.cached) for schedule in schedules)


def _above_least(schedules: Sequence[PeriodicSchedule]) -> float:
    return max(s.period_ps / s.least_period_ps - 1 for s in schedules)


def _grid(title: str, left: Sequence[str], right: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE, padding=0, collapse_padding=True)
    for header in left:
        table.add_column(header, no_wrap=True)
    for header in right:
        table.add_column(header, justify="right", no_wrap=True)
    return table


def latency_grid(rows: Sequence[Row], inferences: int) -> Table:
    """Latencies: ours in s for N inferences, the published ones as they stand."""
    table = _grid(
        f"Table II, ours in s for N = {inferences:,} inferences, published",
        ("network", "graph", "publ."),
        ("PEs", "SPARTA", "publ.", "Memol. (a)", "publ.", "M-I (1)", "M-I (2)", "publ."),
    )
    for row in rows:
        for engines in ENGINES:
            first = engines == ENGINES[0]
            cell, published = row.cells[engines], row.benchmark.published
            table.add_row(
                row.benchmark.network if first else "",
                "/".join(map(str, row.graph)) if first else "",
                f"{row.benchmark.vertices}/{row.benchmark.edges}" if first else "",
                str(engines),
                *(
                    f"{figure:.2f}"
                    for figure in (
                        cell.seconds(SPARTA, inferences),
                        published[engines, SPARTA],
                        cell.seconds(MEMOLUTION, inferences),
                        published[engines, MEMOLUTION],
                        *(cell.seconds(method, inferences) for method in OURS),
                        published[engines, MOBILE_I],
                    )
                ),
            )
    return table


LINES: tuple[tuple[str, Callable[[dict[str, Any]], float | None], Callable[..., float]], ...] = (
    (
        "M-I <= Memolution (a) <= SPARTA",
        lambda p: p["in_order"],
        lambda m: m["in_order"][MEMOLUTION],
    ),
    ("M-I <= Memolution (b) <= SPARTA", lambda _: None, lambda m: m["in_order"][BY_COPY]),
    ("M-I fastest of all", lambda _: None, lambda m: m["fastest"]),
    ("below Memolution (a)", lambda p: p["below"][MEMOLUTION], lambda m: m["below"][MEMOLUTION]),
    ("below Memolution (b)", lambda _: None, lambda m: m["below"][BY_COPY]),
    ("below SPARTA", lambda p: p["below"][SPARTA], lambda m: m["below"][SPARTA]),
    ("utilisation", lambda p: p["utilisation"][MOBILE_I], lambda m: m["utilisation"]),
    (
        "prologue over Memolution's (a)",
        lambda p: p["prologue"],
        lambda m: m["prologue"][MEMOLUTION],
    ),
    ("prologue over Memolution's (b)", lambda _: None, lambda m: m["prologue"][BY_COPY]),
    ("prologue, periods", lambda _: None, lambda m: m["prologue_periods"]),
    ("latency over (1)", lambda _: None, lambda m: m["over_paper_alone"]),
)
"""What the table of means has: title, published figure, ours."""


def means_grid(figures: dict[str, Any]) -> Table:
    """The means over N: published, Mobile-I by the paper's algorithms, with our stages."""
    every = figures["means"]
    table = _grid(
        f"Means of {every[0]['cells']} cells, Mobile-I (M-I) over N",
        ("",),
        ("published", *(f"{m['inferences']:,}\n({OURS.index(m['method']) + 1})" for m in every)),
    )
    for title, published, ours in LINES:
        shown = (published(figures["published"]), *(ours(m) for m in every))
        table.add_row(title, *map(_figure, shown))
    return table


def _figure(figure: float | None) -> str:
    if figure is None:
        return ""
    return str(figure) if isinstance(figure, int) else f"{figure:.2%}"


def allocation_grid(allocation: Sequence[Gain]) -> Table:
    """What caches gain: cells with a shorter prologue, and periods saved of all."""
    table = _grid(
        "Transfers in caches of a size: cells whose prologue they shorten / periods saved",
        ("layers in", "memory", "M-I"),
        (
            *("cells", "periods", *(f"{size / 1024:g} KB" for size in CACHES)),
            *("instant", "longest"),
        ),
    )
    for gain in allocation:
        table.add_row(
            "1 operation" if gain.parts == 1 else f"{gain.parts} operations",
            "as it is" if gain.slower == 1 else f"{gain.slower} x slower",
            f"({OURS.index(gain.method) + 1})",
            str(gain.cells),
            str(gain.prologue_periods),
            *(f"{c} / {p}" for c, p in zip(gain.cells_shorter, gain.periods_saved, strict=True)),
            str(gain.periods_saved_instant),
            f"{gain.longest_transfer:.1%}",
        )
    return table


def readings(figures: dict[str, Any]) -> list[str]:
    """What the columns stand for, and why that reading was chosen."""
    use = figures["utilisation"]
    return [
        "N, the number of inferences, is ours: the paper prints none, but names several hundreds.",
        "(1): Mobile-I by the paper's algorithms alone, the better of the orders before and after "
        "Algorithm III.2. (2): with our stages, where they have less latency.",
        "Memolution is described in one sentence. (a): a task of all copies before the next one, "
        f"utilisation {use[MEMOLUTION]:.2%}; (b): copy by copy, {use[BY_COPY]:.2%}. (a) was chosen "
        f"for closeness to the published {PUBLISHED_UTILISATION[MEMOLUTION]:.2%}.",
    ]


def summary(figures: dict[str, Any]) -> list[str]:
    """What does not depend on N, in sentences."""
    use, near, cached = (
        figures[key] for key in ("utilisation", "above_least_period", "transfers_cached")
    )
    cells, periods = figures["published"]["below_by_cells"], figures["prologue_periods"]
    least = figures["least_prologue"]
    return [
        f"Utilisation of SPARTA: published {PUBLISHED_UTILISATION[SPARTA]:.2%}, "
        f"ours {use[SPARTA]:.2%}.",
        f"Mean of the published cells: Mobile-I {cells[MEMOLUTION]:.2%} below Memolution, "
        f"{cells[SPARTA]:.2%} below SPARTA.",
        "Prologue over Memolution's, with no placement at these periods below: (a) "
        f"{least[MEMOLUTION]:.2%}, (b) {least[BY_COPY]:.2%}; periods of all cells: Memolution (a) "
        f"{periods[MEMOLUTION]}, any placement at least {periods['least']}.",
        f"Period above the bound for its copies, at most: Mobile-I (2) {near[STAGED]:.2%}, "
        f"Memolution (a) {near[MEMOLUTION]:.2%}.",
        f"Transfers in caches, all cells: Mobile-I (1) {cached[PAPER]}, (2) {cached[STAGED]}; "
        f"Memolution (a) {cached[MEMOLUTION]}, needed for its prologue in "
        f"{figures['memolution_cells_that_need_caches']} cells.",
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Schedules and prints."""
    options = parser("examples.mobile_i.table2", "Table II of Mobile-I, published beside ours.")
    chosen = options.parse_args(arguments)
    platform = load_platform("neurocube")
    rows = [row_of(benchmark, platform) for benchmark in benchmarks()]
    allocation = gains(list(NETWORKS.values()), platform)
    figures = document(rows, allocation)
    if chosen.json:
        print_figures(figures)
        return
    for inferences in INFERENCES:
        print_table(latency_grid(rows, inferences), ())
    print_table(means_grid(figures), (*readings(figures), *summary(figures)))
    print_table(
        allocation_grid(allocation),
        (
            "instant: periods saved if transfers took no time at all; longest: of the transfers "
            "through the memory, as a share of the period.",
        ),
    )


if __name__ == "__main__":
    main()
