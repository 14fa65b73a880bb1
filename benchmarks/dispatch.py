"""The benefit of searching under the right dispatch.

Fronts are searched as if units took one group at a time and simulated under the dispatch of the
platform's runtime, beside fronts that are searched under that dispatch.

For each workload the same search runs twice. Members of the first front are simulated again under
the runtime's dispatch. The table says how many have a longer makespan, how much longer, how many
another one then dominates, and the share of the second front's hypervolume that is left.

Usage: ``python -m benchmarks.dispatch [--evaluations 20000] [--json | --markdown]``, some minutes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import paretosoc as dse
from benchmarks.harness.report import Column, Value, tabulate
from paretosoc.dse.space.members import rows_of
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.front.dominance import hypervolume, non_dominated, reference_point
from paretosoc.results.problem.execution import GROUP

EVALUATIONS = 20_000
LONGER = 1.05
COLUMNS = (
    Column("workload", "workload"),
    Column("changes", "unit changes"),
    Column("members", "members"),
    Column("longer_percent", "over 5 % longer, %", ".0f"),
    Column("worst_percent", "worst, %", "+.1f"),
    Column("dominated_percent", "then dominated, %", ".0f"),
    Column("kept_percent", "hypervolume kept, %", ".2f"),
    Column("fastest_percent", "fastest is slower by, %", ".2f"),
)


@dataclass(frozen=True)
class Case:
    """A workload on a board with a runtime."""

    networks: tuple[str, ...]
    platform: str
    max_transitions: int | str

    def problem(self, dispatch: str | None = None) -> dse.Problem:
        """Return the problem. Without ``dispatch`` units take their work as the runtime has it."""
        return dse.Problem(
            list(self.networks),
            self.platform,
            groups=12,
            runtime="trtexec",
            max_transitions=self.max_transitions,
            dispatch=dispatch,
        )


CASES = tuple(
    Case(networks, platform, most)
    for networks, platform in (
        (("vgg19", "resnet50"), "jetson-agx-xavier"),
        (("resnet50", "mobilenet_v2", "swin_t"), "jetson-agx-orin"),
        (("vgg19", "resnet101", "googlenet", "inception_v4"), "jetson-agx-xavier"),
    )
    for most in ("any", 2)
)


def measure(case: Case, evaluations: int) -> dict[str, Value]:
    """Return a row of the table."""
    planned = dse.explore(case.problem(dispatch=GROUP), "nsga2", max_evaluations=evaluations)
    right = dse.explore(case.problem(), "nsga2", max_evaluations=evaluations)
    rows = rows_of(planned.numeric.members)
    played = make_outcomes(right.numeric.problem)(rows).objectives
    ratio = played[:, 0] / planned.numeric.objective_array[:, 0]
    best = right.numeric.objective_array
    reference = reference_point(np.concatenate([best, played]))
    return {
        "workload": f"{', '.join(case.networks)} on {case.platform}",
        "changes": case.max_transitions,
        "members": len(rows),
        "longer_percent": 100 * float((ratio > LONGER).mean()),
        "worst_percent": 100 * (float(ratio.max()) - 1),
        "dominated_percent": 100 * (1 - len(non_dominated(played)) / len(played)),
        "kept_percent": 100 * hypervolume(played, reference) / hypervolume(best, reference),
        "fastest_percent": 100 * (float(played[:, 0].min()) / float(best[:, 0].min()) - 1),
    }


if __name__ == "__main__":
    tabulate(
        "benchmarks.dispatch",
        "Fronts searched with groups, played with engines and shared GPUs",
        COLUMNS,
        CASES,
        measure,
        ("evaluations", EVALUATIONS),
    )
