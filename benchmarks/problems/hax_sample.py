"""HaX-CoNN's own sample: GoogLeNet beside AlexNet on Xavier's GPU and DLA, without power.

Known optima (exhaustive search over all mappings): see ``KNOWN_BEST_MAKESPAN_PS``.
"""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.problems.reference_problem import DLA_CONTENTION, GPU_CONTENTION, PEAK_KBPS
from paretosoc.fitness.contention import contention_table
from paretosoc.platforms.source import round_half_up
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.parts import ProblemDomain, ProblemNetwork, ProblemUnit
from paretosoc.results.problem.problem import Problem

DATA = Path(__file__).parents[1] / "data" / "hax_sample.json"
KNOWN_BEST_MAKESPAN_PS: dict[tuple[bool, int | None], int] = {
    (True, 1): 3_327_093_380,
    (True, 2): 3_314_342_746,
    (True, None): 3_314_342_746,
    (False, 1): 2_520_000_000,
    (False, 2): 2_520_000_000,
    (False, None): 2_520_000_000,
}
"""(contention, most transitions per network; None: any number) -> smallest makespan."""


def hax_sample(*, contention: bool = True, max_transitions: int | None = None) -> Problem:
    """Return the sample with the makespan as its objective.

    Args:
        contention: whether the units slow each other down.
        max_transitions: most transitions per network. None: any number.
    """
    document: dict[str, Any] = json.loads(DATA.read_text(), parse_float=Decimal)
    names: list[str] = document["units"]
    networks: list[ProblemNetwork] = []
    edges: list[tuple[int, int]] = []
    transitions = []
    first = 0
    for entry in document["networks"]:
        size = len(entry["time_ms"])
        starts = [*entry["first_layers"], None]
        networks.append(
            ProblemNetwork(
                name=entry["name"],
                first_group=first,
                group_names=tuple(
                    f"{start}-" if after is None else f"{start}-{after - 1}"
                    for start, after in pairwise(starts)
                ),
                max_transitions=max_transitions,
            )
        )
        for g in range(size - 1):
            edges.append((first + g, first + g + 1))
            leaving = [_picoseconds(entry[f"transition_after_ms_{u}_column"][g]) for u in names]
            transitions.append([[0, leaving[0]], [leaving[1], 0]])
        first += size
    times = [row for entry in document["networks"] for row in entry["time_ms"]]
    shares = [row for entry in document["networks"] for row in entry["throughput_percent"]]
    units = []
    for u, name in enumerate(names):
        demand = [round_half_up(Fraction(row[u]) / 100 * PEAK_KBPS) for row in shares]
        parameters = GPU_CONTENTION if name == "gpu" else DLA_CONTENTION
        units.append(
            ProblemUnit(
                name=name,
                clocks=(u,),
                time_ps=np.array([[_picoseconds(row[u])] for row in times], dtype=np.int64),
                demand_kbps=np.array(demand, dtype=np.int64)[:, None],
                dynamic_mw=np.zeros((first, 1), dtype=np.int64),
                idle_mw=np.zeros(1, dtype=np.int64),
                contention=contention_table(parameters, [Fraction(1)], [max(demand)])
                if contention
                else None,
            )
        )
    return Problem(
        networks=tuple(networks),
        edges=tuple(edges),
        transition_ps=np.array(transitions, dtype=np.int64),
        domains=tuple(_one_clock(name) for name in names),
        units=tuple(units),
        memory_domain=None,
        board_mw=0,
        allowed=np.ones((first, len(names)), dtype=np.bool_),
        objectives=(Objective(ObjectiveKind.LATENCY),),
    )


def _one_clock(name: str) -> ProblemDomain:
    """Return a domain with Xavier's fastest clock, as the sample knows one clock and does not say
    which."""
    return ProblemDomain(
        name=name,
        frequencies_khz=(1_377_000 if name == "gpu" else 1_395_200,),
        voltages_mv=(None,),
        may_be_off=False,
        static_mw=np.zeros(1, dtype=np.int64),
        allowed=np.ones(1, dtype=np.bool_),
    )


def _picoseconds(milliseconds: Decimal) -> int:
    return round_half_up(Fraction(milliseconds) * 10**9)
