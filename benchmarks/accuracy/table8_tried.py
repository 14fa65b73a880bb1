"""What was tried to explain the best baselines of HaX-CoNN's Table 8.

Each row changes the model, or the times of some methods, and counts in how many of the 55 pairs the
best baseline is the published one, and in how many a schedule of whole networks is best (published:
50). If the change is one of the model, the last columns hold the artifact's own plans against it.
Transitions on the GPU are what the paper's rule leaves out, and the program has with TensorRT.

Usage: ``python -m benchmarks.accuracy.table8_tried [--json | --markdown]``; some minutes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.accuracy.transitions import as_delays
from benchmarks.harness.report import Column, Value, parser, show
from benchmarks.validation.known_plans import co_runs_of, predicted
from examples.hax.prediction import built_workload, predict
from examples.hax.published import PLATFORMS, Pair, pairs
from examples.hax.table8 import COMPARED
from paretosoc.common.arrays import FloatArray
from paretosoc.dse.workload.workload import workload_of
from paretosoc.results.problem.parts import ProblemUnit
from paretosoc.results.problem.problem import Problem

WHOLE, CUT = COMPARED[:2], COMPARED[2:]
SLOWER_GPU = 1.12
SLOWER_CUTS = (1.05, 1.1, 1.2, 1.3)
MORE_DEMAND = 3
COLUMNS = (
    Column("tried", "tried"),
    Column("right", "best baseline as published", "d"),
    Column("whole", "whole networks best", "d"),
    Column("median", "the artifact's plans, median error, %", ".1f"),
    Column("worst", "worst", ".1f"),
)
Times = Mapping[str, float]


def rows() -> list[dict[str, Value]]:
    """Return the rows of the table."""
    cells = pairs()
    built = [
        built_workload(workload_of(list(cell.networks)), PLATFORMS["orin"], balance=True)
        for cell in cells
    ]
    plain = [predict(one, PLATFORMS["orin"]) for one in built]
    more = [
        predict(replace(one, problem=with_more_demand(one.problem)), PLATFORMS["orin"])
        for one in built
    ]
    work = [
        predict(replace(one, problem=with_work_of_gpu(one.problem)), PLATFORMS["orin"])
        for one in built
    ]
    times: list[Times] = [one.ms for one in plain]
    plans = co_runs_of("artifact")
    slower = [
        ("GPU only 12 % slower", dict.fromkeys(COMPARED[:1], SLOWER_GPU)),
        *(
            (f"Herald and H2H {100 * factor - 100:.0f} % slower", dict.fromkeys(CUT, factor))
            for factor in SLOWER_CUTS
        ),
    ]
    measured = np.array([plan.measured_ms for plan in plans])

    def errors(found: FloatArray) -> dict[str, Value]:
        off = 100 * np.abs(found / measured - 1)
        return {"median": float(np.median(off)), "worst": float(off.max())}

    return [
        _row("nothing", cells, times) | errors(predicted(plans, as_delays)),
        _row("always GPU only", cells, [{m: m != COMPARED[0] for m in COMPARED}] * len(cells)),
        *(
            _row(name, cells, [{m: one[m] * factors.get(m, 1) for m in COMPARED} for one in times])
            for name, factors in slower
        ),
        _row("all demands times 3", cells, [one.ms for one in more])
        | errors(predicted(plans, lambda problem: as_delays(with_more_demand(problem)))),
        _row("transitions on the GPU", cells, [one.ms for one in work])
        | errors(predicted(plans, with_work_of_gpu)),
    ]


def _row(name: str, cells: Sequence[Pair], times: Sequence[Times]) -> dict[str, Value]:
    best = [min(COMPARED, key=lambda method: one[method]) for one in times]
    right = sum(a == cell.best_baseline for a, cell in zip(best, cells, strict=True))
    whole = sum(one in WHOLE for one in best)
    return {"tried": name, "right": right, "whole": whole, "median": None, "worst": None}


def with_more_demand(problem: Problem) -> Problem:
    """Return the problem with all demands times three, up to the memory's bandwidth."""

    def changed(unit: ProblemUnit) -> ProblemUnit:
        demand = MORE_DEMAND * unit.demand_kbps
        if unit.contention is not None:
            memory = unit.contention.columns["memory_kbps"]
            shape = [-1 if clock == problem.memory_domain else 1 for clock in unit.clocks]
            most = np.maximum(unit.demand_kbps, memory.reshape(1, *shape))
            demand = np.minimum(demand, most)
        return replace(unit, demand_kbps=demand)

    return replace(problem, units=tuple(map(changed, problem.units)))


def with_work_of_gpu(problem: Problem) -> Problem:
    """Return the problem with transitions as work of the GPU."""
    units = (replace(unit, moves_tensors=unit.unit_name == "gpu") for unit in problem.units)
    return replace(problem, units=tuple(units))


if __name__ == "__main__":
    options = parser("benchmarks.accuracy.table8_tried", "What was tried to explain Table 8.")
    options.add_argument("--markdown", action="store_true", help="print Markdown")
    chosen = options.parse_args()
    show(
        "Best baselines of Table 8",
        COLUMNS,
        rows(),
        as_json=chosen.json,
        as_markdown=chosen.markdown,
    )
