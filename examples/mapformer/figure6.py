"""Fig. 6 of MapFormer: its four modes on mixes of 5 to 10 networks, without a power cap.

Usage: python -m examples.mapformer.figure6 [--json] [--mixes N] [--picture FILE]

Mean throughput, power and inferences per joule of ten mixes for each number of networks, as the
timeline judges the answers.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import mean

from rich.console import Console
from rich.table import Table

from examples.mapformer.contenders import Answer, mapformer
from examples.mapformer.figure_options import figure_options
from examples.mapformer.mixes import MAX_POWER_W, mixes, problem_of
from examples.mapformer.published import POWER_REDUCE_SAVES_PERCENT
from examples.wide_console import wide_console
from paretosoc.dse.papers.managers.mapformer.la_mcts import Mode
from paretosoc.dse.problem.network_tables import NetworkTables
from paretosoc.fitness.warm_up import warm_up
from paretosoc.results.plots.chart import PAGE, Axis, Chart, Charts
from paretosoc.results.plots.items import FORMS, Curve, Marks, solid_marks
from paretosoc.results.plots.style import COLOURS, PICTURE_MAKERS

SIZES = (5, 6, 7, 8, 9, 10)
FIGURES = {
    "throughput_hz": "mean throughput, 1/s",
    "power_w": "power, W",
    "efficiency_per_j": "inferences per joule",
}

Results = dict[tuple[Mode, int], list[Answer]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Computes and prints."""
    options = figure_options("Fig. 6 of MapFormer, predicted.", arguments)
    results = compute(options.mixes, Console(stderr=True, highlight=False))
    if options.picture is not None:
        draw(results, options.picture)
    if options.as_json:
        entries = {f"{mode.value} {size}": answers for (mode, size), answers in results.items()}
        print(json.dumps({k: [asdict(a) for a in v] for k, v in entries.items()}, indent=2))
        return
    console = wide_console()
    for figure, title in FIGURES.items():
        console.print(table(results, figure, f"Fig. 6: {title}"))
    for line in summary(results):
        console.print(line, soft_wrap=True)


def compute(count: int, progress: Console) -> Results:
    """Every mode on every mix."""
    warm_up()
    known: dict[Hashable, NetworkTables] = {}
    results: Results = {(mode, size): [] for mode in Mode for size in SIZES}
    for size in SIZES:
        for mix in mixes(size, MAX_POWER_W, count):
            problem = problem_of(mix, known)
            for mode in Mode:
                results[mode, size].append(mapformer(problem, mix.number, mode))
            progress.print(f"{size} networks: {mix.number + 1} of {count} mixes", end="\r")
    progress.print()
    return results


def mean_of(results: Results, figure: str, mode: Mode, size: int) -> float:
    """Over the mixes."""
    return float(mean(getattr(answer, figure) for answer in results[mode, size]))


def table(results: Results, figure: str, title: str) -> Table:
    """Modes by sizes."""
    grid = Table(title=title, title_justify="left")
    grid.add_column("mode")
    for size in SIZES:
        grid.add_column(f"{size} networks", justify="right")
    for mode in Mode:
        cells = [f"{mean_of(results, figure, mode, size):.2f}" for size in SIZES]
        grid.add_row(mode.value, *cells)
    return grid


def summary(results: Results) -> list[str]:
    """What the paper says of the modes, and whether it is so here."""

    def over_sizes(figure: str, mode: Mode) -> float:
        return mean(mean_of(results, figure, mode, size) for size in SIZES)

    power = {mode: over_sizes("power_w", mode) for mode in Mode}
    efficiency = {mode: over_sizes("efficiency_per_j", mode) for mode in Mode}
    least = power[Mode.POWER_REDUCE]
    saves = ", ".join(
        f"{mode.value} {100 * (1 - least / power[mode]):.0f} % "
        f"({POWER_REDUCE_SAVES_PERCENT[mode.value]:g})"
        for mode in Mode
        if mode is not Mode.POWER_REDUCE
    )
    best = max(Mode, key=lambda mode: efficiency[mode])
    return [
        f"PR draws less power than, predicted (published): {saves}",
        f"Most efficient on average: {best.value} (published: PB)",
    ]


def draw(results: Results, path: Path) -> None:
    """A panel for each figure, a line for each mode."""
    charts = []
    for name, title in FIGURES.items():
        items: list[Curve | Marks] = []
        for mode, form, colour in zip(Mode, FORMS, COLOURS, strict=False):
            points = [(size, mean_of(results, name, mode, size)) for size in SIZES]
            items += [Curve(points, colour, 1.1), solid_marks(points, form, colour, mode.value)]
        most = max(value for item in items for _, value in item.points)
        x, y = Axis.over("networks", SIZES, 0.06), Axis(title, 0.0, 1.05 * most)
        charts.append(Chart(x, y, tuple(items), width=PAGE / len(FIGURES)))
    path.write_bytes(PICTURE_MAKERS[path.suffix](Charts([charts]).picture()))


if __name__ == "__main__":
    main()
