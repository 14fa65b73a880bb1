"""Table II of Mobile-I: latency of SPARTA, Memolution and Mobile-I, published beside ours.

Usage: python -m examples.mobile_i.table2 [--json]

``published_table2.csv`` holds the paper's figures; it names neither their unit nor the number of
inferences, and its task times come from a neural compute stick, ours from the layers' work on
Neurocube. So seconds cannot agree: what can are the order of the methods, their ratios, the
utilisation, the prologue, and how close each schedule is to what no schedule can pass.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from rich.box import SIMPLE
from rich.table import Table

from dse.papers.mobile_i.explore import explore_periodic
from dse.papers.mobile_i.schedule.schedulers import (
    DEFAULT_INFERENCES,
    MEMOLUTION,
    METHODS,
    MOBILE_I,
    SPARTA,
    mobile_i,
)
from examples.mobile_i.printing import parser, print_figures, print_table
from results.periodic.periodic import PeriodicSchedule
from results.periodic.table import least_period_ps, least_prologue_periods

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
ENGINES = (16, 32, 64)
PUBLISHED_REDUCTION = {SPARTA: 0.6288, MEMOLUTION: 0.1754}
PUBLISHED_UTILISATION = {SPARTA: 0.3572, MEMOLUTION: 0.7975, MOBILE_I: 0.9614}
PUBLISHED_PROLOGUE = 0.1140
"""Mobile-I's over Memolution's."""


@dataclass(frozen=True)
class Benchmark:
    """A row of the table; ``published`` by engines and method."""

    name: str
    network: str
    vertices: int
    edges: int
    published: dict[tuple[int, str], float]


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


Schedules = dict[tuple[int, str], PeriodicSchedule]


def scheduled(benchmark: Benchmark) -> Schedules:
    """Our schedules of one row, by engines and method; all are played out and checked."""
    result = explore_periodic(benchmark.network, "neurocube", engines=ENGINES)
    return {(s.array.engines, s.method): s for s in (*result.members, *result.others)}


def paper_alone(schedule: PeriodicSchedule) -> PeriodicSchedule:
    """Mobile-I's schedule of the same graph and array by the paper's algorithms alone."""
    return mobile_i(schedule.graph, schedule.array, paper_only=True)


def in_order(latency: dict[tuple[int, str], float], engines: int) -> bool:
    """Mobile-I <= Memolution <= SPARTA."""
    sparta, memolution, mobile_i = (latency[engines, method] for method in METHODS)
    return mobile_i <= memolution <= sparta


def seconds(schedules: Schedules) -> dict[tuple[int, str], float]:
    """Latencies of all inferences."""
    return {key: s.latency_ps(DEFAULT_INFERENCES) / 1e12 for key, s in schedules.items()}


def reduction(latency: dict[tuple[int, str], float], engines: int, method: str) -> float:
    """By how much Mobile-I's latency is below another method's."""
    return 1 - latency[engines, MOBILE_I] / latency[engines, method]


def document(rows: list[tuple[Benchmark, Schedules]]) -> dict[str, object]:
    """All figures, for programs."""
    ours = [(benchmark, seconds(schedules)) for benchmark, schedules in rows]
    cells = [(latency, engines) for _, latency in ours for engines in ENGINES]
    published = [(benchmark.published, engines) for benchmark, _ in rows for engines in ENGINES]
    every = [(schedules, engines) for _, schedules in rows for engines in ENGINES]
    prologues = [
        (s[engines, MOBILE_I].prologue_ps, s[engines, MEMOLUTION].prologue_ps)
        for s, engines in every
    ]
    bounds = [
        (
            least_prologue_periods(s[engines, MOBILE_I]) * s[engines, MOBILE_I].period_ps,
            s[engines, MEMOLUTION].prologue_ps,
        )
        for s, engines in every
    ]
    printed = [paper_alone(s[engines, MOBILE_I]) for s, engines in every]
    return {
        "inferences": DEFAULT_INFERENCES,
        "cells": len(cells),
        "in_order": {
            "published": sum(in_order(*cell) for cell in published),
            "ours": sum(in_order(*cell) for cell in cells),
        },
        "reduction": {
            method: {
                "published": PUBLISHED_REDUCTION[method],
                "published_cells": mean(reduction(*cell, method) for cell in published),
                "ours": mean(reduction(*cell, method) for cell in cells),
            }
            for method in (SPARTA, MEMOLUTION)
        },
        "utilisation": {
            method: {
                "published": PUBLISHED_UTILISATION[method],
                "ours": mean(float(s[engines, method].utilisation) for s, engines in every),
            }
            for method in METHODS
        },
        "prologue": {
            "published": PUBLISHED_PROLOGUE,
            "ours": mean(own / other for own, other in prologues if other),
            "paper_alone": mean(
                own.prologue_ps / other
                for own, (_, other) in zip(printed, bounds, strict=True)
                if other
            ),
            "bound": mean(own / other for own, other in bounds if other),
        },
        "latency_over_paper_alone": mean(
            s[engines, MOBILE_I].latency_ps(DEFAULT_INFERENCES)
            / alone.latency_ps(DEFAULT_INFERENCES)
            for (s, engines), alone in zip(every, printed, strict=True)
        ),
        "above_least_period": {
            method: max(
                s[engines, method].period_ps / least_period_ps(s[engines, method]) - 1
                for s, engines in every
            )
            for method in (MEMOLUTION, MOBILE_I)
        },
        "prologue_periods": {
            method: {
                "periods": sum(s[engines, method].prologue_periods for s, engines in every),
                "bound": sum(least_prologue_periods(s[engines, method]) for s, engines in every),
            }
            for method in (MEMOLUTION, MOBILE_I)
        }
        | {"paper_alone": {"periods": sum(schedule.prologue_periods for schedule in printed)}},
        "benchmarks": [
            {
                "name": benchmark.name,
                "network": benchmark.network,
                "published_graph": [benchmark.vertices, benchmark.edges],
                "graph": graph_size(schedules),
                "seconds": {
                    f"{method} {engines}": latency[engines, method]
                    for engines in ENGINES
                    for method in METHODS
                },
                "copies": {
                    str(engines): schedules[engines, MOBILE_I].copies for engines in ENGINES
                },
            }
            for (benchmark, schedules), (_, latency) in zip(rows, ours, strict=True)
        ],
    }


def graph_size(schedules: Schedules) -> list[int]:
    """Vertices and edges of our task graph."""
    graph = schedules[ENGINES[0], MOBILE_I].graph
    return [len(graph.tasks), len(graph.transfers)]


def latency_grid(rows: list[tuple[Benchmark, Schedules]]) -> Table:
    """Latencies: ours in s, the published ones as they stand; sizes of the task graphs."""
    table = Table(
        title=f"Table II: ours in s for {DEFAULT_INFERENCES:,} inferences, published",
        title_justify="left",
        box=SIMPLE,
        padding=0,
        collapse_padding=True,
    )
    for header in ("network", "graph", "PEs", *("SPARTA", "Memolution", "Mobile-I")):
        end = header in ("network", "graph")
        table.add_column(header, justify="left" if end else "right", no_wrap=True)
        if header not in ("network", "PEs"):
            table.add_column("publ.", justify="right", no_wrap=True)
    for benchmark, schedules in rows:
        latency = seconds(schedules)
        for engines in ENGINES:
            first = engines == ENGINES[0]
            table.add_row(
                benchmark.network if first else "",
                "/".join(map(str, graph_size(schedules))) if first else "",
                f"{benchmark.vertices}/{benchmark.edges}" if first else "",
                str(engines),
                *(
                    f"{figure:.2f}"
                    for method in METHODS
                    for figure in (latency[engines, method], benchmark.published[engines, method])
                ),
            )
    return table


def summary(figures: dict[str, object]) -> list[str]:
    """The means, published beside ours."""
    d: dict[str, dict[str, object]] = figures  # type: ignore[assignment]
    order, use, near = d["in_order"], d["utilisation"], d["above_least_period"]
    lines = [
        f"Mobile-I <= Memolution <= SPARTA: published {order['published']}, ours {order['ours']} "
        f"of {figures['cells']} cells"
    ]
    for method, title in ((MEMOLUTION, "Memolution"), (SPARTA, "SPARTA")):
        row: dict[str, float] = d["reduction"][method]  # type: ignore[assignment]
        lines.append(
            f"Mobile-I below {title}: published {row['published']:.2%} (mean of the published "
            f"cells {row['published_cells']:.2%}), ours {row['ours']:.2%}"
        )
    shares: dict[str, dict[str, float]] = use  # type: ignore[assignment]
    lines.append(
        "Utilisation of Mobile-I, Memolution, SPARTA: published "
        + ", ".join(f"{shares[m]['published']:.2%}" for m in reversed(METHODS))
        + "; ours "
        + ", ".join(f"{shares[m]['ours']:.2%}" for m in reversed(METHODS))
    )
    lines.append(
        f"Prologue over Memolution's: published {d['prologue']['published']:.2%}, "
        f"ours {d['prologue']['ours']:.2%} ({d['prologue']['paper_alone']:.2%} by the paper's "
        f"algorithms alone; no placement at these periods below {d['prologue']['bound']:.2%})"
    )
    lines.append(
        "Latency by the mean of all cells, against the paper's algorithms alone: "
        f"{figures['latency_over_paper_alone']:.2%}"
    )
    lines.append(
        f"Period above the bound for its copies, at most: Mobile-I {near[MOBILE_I]:.2%}, "
        f"Memolution {near[MEMOLUTION]:.2%}"
    )
    for method, title in ((MOBILE_I, "Mobile-I"), (MEMOLUTION, "Memolution")):
        periods: dict[str, int] = d["prologue_periods"][method]  # type: ignore[assignment]
        lines.append(
            f"Prologue of {title}, periods of all cells: {periods['periods']}, the least for its "
            f"placements; any placement: at least {periods['bound']}"
        )
    alone: dict[str, int] = d["prologue_periods"]["paper_alone"]  # type: ignore[assignment]
    lines.append(f"By the paper's algorithms alone: {alone['periods']} periods")
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Schedules and prints."""
    options = parser("examples.mobile_i.table2", "Table II of Mobile-I, published beside ours.")
    chosen = options.parse_args(arguments)
    rows = [(benchmark, scheduled(benchmark)) for benchmark in benchmarks()]
    figures = document(rows)
    if chosen.json:
        print_figures(figures)
    else:
        print_table(latency_grid(rows), summary(figures))


if __name__ == "__main__":
    main()
