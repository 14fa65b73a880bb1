"""Our NSGA-II beside pymoo's loop with our operators, by the number of networks, at equal time.

The first 1 to 16 of the sixteen networks of ``benchmarks.ten_networks`` on all units of Xavier at
all clocks. Every search gets as many seconds of one core, initial population included, compilation
not. The two engines take turns, so that a busy machine slows both. The share is that of the
hypervolume of the union of all fronts found with as many networks, up to 1.1 x its nadir.

Usage: ``python -m benchmarks.speed.many_networks [--json | --markdown] [--networks N ...]
[--seeds 5] [--seconds 2] [--figure FILE]``.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.harness.report import Column, Value, parser, show
from benchmarks.search import LOOP, OURS, hypervolume_share
from benchmarks.ten_networks import Case
from paretosoc.common.arrays import IntArray
from paretosoc.dse.search.archive import Archive
from paretosoc.dse.search.base import Engine
from paretosoc.dse.search.driver import Budget, search
from paretosoc.dse.search.optimizers.pymoo_adapters import nsga2 as pymoo_loop
from paretosoc.dse.search.optimizers.restarts import RestartingNsga2
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import OutcomeFunction, make_outcomes
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.plots.chart import Axis, Chart
from paretosoc.results.plots.items import FORMS, Curve, Marks, solid_marks
from paretosoc.results.plots.style import COLOURS, PICTURE_MAKERS
from paretosoc.results.problem.limits import constraints_of

COUNTS = (1, 2, 4, 8, 16)
ENGINES: dict[str, Callable[..., Engine]] = {OURS: RestartingNsga2, LOOP: pymoo_loop}
COLUMNS = (
    Column("networks", "networks", ","),
    Column("groups", "groups", ","),
    Column("engine", "engine"),
    Column("evaluations", "evaluations", ",.0f"),
    Column("median_percent", "share, median", ".2f"),
    Column("least_percent", "least", ".2f"),
    Column("most_percent", "most", ".2f"),
    Column("ahead", "seeds ours is ahead", "d"),
)


def search_for(
    engine: Engine, space: DesignSpace, evaluate: OutcomeFunction, seconds: float
) -> tuple[IntArray, int]:
    """Return the front [members, objectives] after ``seconds`` of one core, and the evaluations.

    The generation that passes the limit does not count, unless it is the first.
    """
    problem = space.problem
    archive = Archive(space.width, len(problem.objectives), len(constraints_of(problem)))
    began = time.process_time()
    while True:
        rows = engine.ask()
        outcomes = evaluate(rows)
        engine.tell(rows, outcomes)
        late = archive.added > 0 and time.process_time() - began > seconds
        if late or len(rows) == 0:
            return archive.objectives, archive.added
        archive.add(rows, outcomes)


def measure(networks: int, seeds: int, seconds: float) -> list[dict[str, Value]]:
    """Return a row for each engine."""
    space = DesignSpace(Case("all clocks", networks).make())
    evaluate = make_outcomes(space.problem, jobs=1)
    fronts: dict[str, list[IntArray]] = {name: [] for name in ENGINES}
    evaluations: dict[str, list[int]] = {name: [] for name in ENGINES}
    # Load machine code, and compute all that depends on the problem alone, before time counts.
    for make in ENGINES.values():
        search(make(space, seed=seeds), evaluate, Budget(1000))
    for seed in range(seeds):
        for name, make in ENGINES.items():
            front, count = search_for(make(space, seed=seed), space, evaluate, seconds)
            fronts[name].append(front)
            evaluations[name].append(count)
    union = np.concatenate([front for found in fronts.values() for front in found])
    best = union[non_dominated(union)]
    shares = {
        name: [hypervolume_share(front, best) for front in found] for name, found in fronts.items()
    }
    ahead = sum(a > b for a, b in zip(shares[OURS], shares[LOOP], strict=True))
    return [
        {
            "networks": networks,
            "groups": space.groups,
            "engine": name,
            "evaluations": statistics.median(evaluations[name]),
            "median_percent": statistics.median(found),
            "least_percent": min(found),
            "most_percent": max(found),
            "ahead": ahead,
        }
        for name, found in shares.items()
    ]


def draw(rows: Sequence[Mapping[str, Value]], path: Path) -> None:
    """Shares against networks: medians, and bars from the least to the most."""
    items: list[Curve | Marks] = []
    names: dict[float, str] = {}
    for name, colour, form in zip(ENGINES, COLOURS, FORMS, strict=False):
        points = []
        for place, row in enumerate(row for row in rows if row["engine"] == name):
            names[float(place)] = str(row["networks"])
            least, middle, most = (
                float(row[f"{key}_percent"] or 0.0) for key in ("least", "median", "most")
            )
            x = place + (0.06 if name == LOOP else -0.06)
            points.append((x, middle))
            items.append(Curve([(x, least), (x, most)], colour, 1.1))
        items += [Curve(points, colour, 1.1), solid_marks(points, form, colour, name)]
    shares = [share for item in items for _, share in item.points]
    across = Axis("networks", -0.3, len(names) - 0.7, names=names)
    chart = Chart(across, Axis.over("share of the hypervolume [%]", shares, 0.05), tuple(items))
    path.write_bytes(PICTURE_MAKERS[path.suffix](chart.picture()))


def main(arguments: Sequence[str]) -> None:
    """Measures all numbers of networks and prints a table."""
    options = parser("benchmarks.speed.many_networks", "Two engines by the number of networks.")
    options.add_argument("--markdown", action="store_true", help="print a table in Markdown")
    options.add_argument("--networks", type=int, nargs="+", default=COUNTS, help="how many")
    options.add_argument("--seeds", type=int, default=5, help="searches each [default: 5]")
    options.add_argument("--seconds", type=float, default=2.0, help="of one core, for each")
    options.add_argument("--figure", type=Path, help="draw shares against networks")
    chosen = options.parse_args(arguments)
    rows: list[dict[str, Value]] = []
    for count in chosen.networks:
        rows += measure(count, chosen.seeds, chosen.seconds)
        print(f"{count} networks", file=sys.stderr)
    show(
        f"Share of the hypervolume after {chosen.seconds:g} s of one core, {chosen.seeds} seeds",
        COLUMNS,
        rows,
        as_json=chosen.json,
        as_markdown=chosen.markdown,
    )
    if chosen.figure is not None:
        draw(rows, chosen.figure)


if __name__ == "__main__":
    main(sys.argv[1:])
