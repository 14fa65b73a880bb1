"""Fig. 7 of MapFormer: inferences per joule of all managers; 6, 8, 10 networks, three power caps.

Usage: python -m examples.mapformer.figure7 [--json] [--mixes N] [--picture FILE]

Each cell is the mean over ten random mixes. Our explorer is given the time that MapFormer took on
the same mix. The timeline judges all; what the paper says of its board stands beside.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import mean

from rich.console import Console
from rich.table import Table

from examples.mapformer.contenders import (
    MANAGERS,
    MAPFORMER,
    MIN_RATE_HZ,
    OURS,
    OURS_WITH_RATES,
    Answer,
    manager,
    mapformer,
    ours,
    ours_with_rates,
)
from examples.mapformer.figure_options import figure_options
from examples.mapformer.mixes import CAPS_W, SIZES, Mix, mixes, problem_of
from examples.mapformer.published import GAIN_PERCENT, gain_percent
from examples.wide_console import wide_console
from paretosoc.dse.problem.network_tables import NetworkTables
from paretosoc.fitness.warm_up import warm_up
from paretosoc.results.plots.chart import PAGE, Axis, Chart, Charts
from paretosoc.results.plots.items import bar
from paretosoc.results.plots.style import PICTURE_MAKERS

EVERYBODY = (*MANAGERS, MAPFORMER, OURS)

Answers = dict[str, Answer]
Results = dict[tuple[int, int], list[tuple[Mix, Answers]]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Computes and prints."""
    options = figure_options("Fig. 7 of MapFormer, predicted.", arguments)
    results = compute(options.mixes, Console(stderr=True, highlight=False))
    if options.picture is not None:
        draw(results, options.picture)
    if options.as_json:
        print(json.dumps(document(results), indent=2))
        return
    console = wide_console()
    console.print(table(results))
    console.print(published_table(results))
    console.print(rates_table(results))
    for line in summary(results):
        console.print(line, soft_wrap=True)


def compute(count: int, progress: Console) -> Results:
    """Every manager on every mix."""
    warm_up()
    known: dict[Hashable, NetworkTables] = {}
    results: Results = {}
    for size in SIZES:
        for cap in CAPS_W:
            cell = []
            for mix in mixes(size, cap, count):
                cell.append((mix, answers(mix, known)))
                progress.print(f"{size} networks, {cap} W: {len(cell)} of {count} mixes", end="\r")
            results[size, cap] = cell
    progress.print()
    return results


def answers(mix: Mix, known: dict[Hashable, NetworkTables]) -> Answers:
    """Everybody on one mix, one after the other."""
    problem = problem_of(mix, known)
    given = {name: manager(name, problem, mix.number) for name in MANAGERS}
    given[MAPFORMER] = mapformer(problem, mix.number)
    given[OURS] = ours(problem, mix.number, given[MAPFORMER].seconds)
    given[OURS_WITH_RATES] = ours_with_rates(problem, mix.number, given[MAPFORMER].seconds)
    return given


def efficiency(results: Results, name: str) -> dict[tuple[int, int], float]:
    """Mean inferences per joule by size and cap."""
    return {
        key: mean(entry[name].efficiency_per_j for _, entry in cell)
        for key, cell in results.items()
    }


def mean_gain_percent(results: Results, winner: str, other: str, size: int) -> float | None:
    """:func:`gain_percent` of the mean efficiencies of a size, mean over the caps; of ten networks
    at the lowest cap alone, as the paper says it. None where ``winner`` gave no answer at a cap."""
    caps = CAPS_W[:1] if size == SIZES[-1] else CAPS_W
    best, rest = efficiency(results, winner), efficiency(results, other)
    if any(best[size, cap] == 0 for cap in caps):
        return None
    return mean(gain_percent(best[size, cap], rest[size, cap]) for cap in caps)


def table(results: Results) -> Table:
    """Mean efficiency of everybody."""
    grid = Table(
        title="Fig. 7: inferences per joule, mean over mixes",
        caption=f"{OURS} and GA evaluate on the timeline that judges; {MAPFORMER} and the others "
        "ask their own cost models only.",
        title_justify="left",
        caption_justify="left",
    )
    grid.add_column("manager")
    means = {name: efficiency(results, name) for name in EVERYBODY}
    for size, cap in results:
        grid.add_column(f"{size}\n{cap} W", justify="right")
    grid.add_column("above\nthe cap", justify="right")
    grid.add_column("no\nanswer", justify="right")
    every = [entry for cell in results.values() for _, entry in cell]
    for name in EVERYBODY:
        above = sum(not entry[name].within_cap for entry in every)
        silent = sum(entry[name].efficiency_per_j == 0 for entry in every)
        cells = [f"{means[name][key]:.2f}" for key in results]
        grid.add_row(name, *cells, str(above), str(silent))
    return grid


def rates_table(results: Results) -> Table:
    """The second view: what the slowest network of a mix gets, and what least rates cost."""
    grid = Table(
        title="Inferences per second of the slowest network, mean over mixes",
        caption=f"A sum of rates is largest where heavy networks wait. {OURS_WITH_RATES}: the "
        f"same search with a least rate of {MIN_RATE_HZ} Hz for every network.",
        title_justify="left",
        caption_justify="left",
    )
    grid.add_column("manager")
    for size, cap in results:
        grid.add_column(f"{size}\n{cap} W", justify="right")
    grid.add_column(f"mixes below\n{MIN_RATE_HZ} Hz", justify="right")
    grid.add_column("inferences\nper joule", justify="right")
    every = [entry for cell in results.values() for _, entry in cell]
    for name in (*EVERYBODY, OURS_WITH_RATES):
        below = sum(entry[name].slowest_hz < MIN_RATE_HZ for entry in every)
        cells = [
            f"{mean(entry[name].slowest_hz for _, entry in cell):.2f}" for cell in results.values()
        ]
        efficient = mean(entry[name].efficiency_per_j for entry in every)
        grid.add_row(name, *cells, f"{below} of {len(every)}", f"{efficient:.2f}")
    return grid


def published_table(results: Results) -> Table:
    """MapFormer's improvement over the others, predicted and published, and ours."""
    grid = Table(
        title="100 (1 - other / winner) of mean efficiencies, %, predicted (published); 10 "
        "networks: at 10 W",
        title_justify="left",
    )
    grid.add_column("over")
    for size in SIZES:
        grid.add_column(f"{MAPFORMER}\n{size} networks", justify="right")
    for size in SIZES:
        grid.add_column(f"{OURS}\n{size} networks", justify="right")
    for other in (*MANAGERS, MAPFORMER):
        row = []
        for size in SIZES:
            published = GAIN_PERCENT[size].get(other)
            beside = "" if published is None else f" ({published:g})"
            value = mean_gain_percent(results, MAPFORMER, other, size) if beside else None
            row.append("" if value is None else f"{value:.1f}{beside}")
        for size in SIZES:
            value = mean_gain_percent(results, OURS, other, size)
            row.append("" if value is None else f"{value:.1f}")
        grid.add_row(other, *row)
    return grid


def summary(results: Results) -> list[str]:
    """How often ours is ahead."""
    every = [entry for cell in results.values() for _, entry in cell]
    lines = []
    for other in (*MANAGERS, MAPFORMER):
        ahead = sum(e[OURS].efficiency_per_j > e[other].efficiency_per_j for e in every)
        lines.append(f"{OURS} ahead of {other} on {ahead} of {len(every)} mixes")
    best = sum(
        all(e[OURS].efficiency_per_j > e[other].efficiency_per_j for other in EVERYBODY[:-1])
        for e in every
    )
    lines.append(
        f"{OURS} ahead of everybody on {best} of {len(every)}; above the cap on "
        f"{sum(not e[OURS].within_cap for e in every)}"
    )
    longer = sum(e[OURS].seconds > e[MAPFORMER].seconds for e in every)
    lines.append(f"{OURS} took longer than {MAPFORMER} on {longer} of {len(every)}")
    seconds = {name: mean(e[name].seconds for e in every) for name in EVERYBODY}
    lines.append("Mean seconds to answer: " + ", ".join(f"{k} {v:.2f}" for k, v in seconds.items()))
    return lines


def document(results: Results) -> list[dict[str, object]]:
    """All answers."""
    return [
        {
            "networks": list(mix.networks),
            "power_cap_w": mix.cap_w,
            "answers": {name: asdict(answer) for name, answer in entry.items()},
        }
        for cell in results.values()
        for mix, entry in cell
    ]


def draw(results: Results, path: Path) -> None:
    """Bars by cap, a panel for each number of networks."""
    means = {name: efficiency(results, name) for name in EVERYBODY}
    most = max(value for found in means.values() for value in found.values())
    names = {float(i): f"{cap} W" for i, cap in enumerate(CAPS_W)}
    x = Axis("power cap", -0.5, len(CAPS_W) - 0.5, names=names)
    charts: list[Chart] = []
    width = 0.8 / len(EVERYBODY)
    for size in SIZES:
        items = []
        for k, (name, colour) in enumerate(zip(EVERYBODY, COLOURS, strict=True)):
            for i, cap in enumerate(CAPS_W):
                box = (i - 0.4 + k * width, 0.0, i - 0.4 + (k + 1) * width, means[name][size, cap])
                items.append(bar(*box, colour, name=name))
        y = Axis("" if charts else "inferences per joule", 0.0, 1.05 * most)
        title = f"{size} networks"
        charts.append(Chart(x, y, tuple(items), title=title, width=PAGE / len(SIZES)))
    path.write_bytes(PICTURE_MAKERS[path.suffix](Charts([charts]).picture()))


COLOURS: Sequence[str] = (
    "#bbbbbb", "#999999", "#777777", "#88ccee", "#4477aa", "#ddaa33", "#228833",
)  # fmt: skip


if __name__ == "__main__":
    main()
