"""Members by name."""

import dataclasses

import numpy as np
import pytest

from paretosoc.results.errors import ResultError
from paretosoc.results.front.named_members import FASTEST, KNEE, LOWEST_ENERGY, choose_member
from paretosoc.results.problem.execution import FreeRunning
from paretosoc.results.problem.objectives import Objective, ObjectiveKind


@pytest.mark.parametrize(
    ("kinds", "mark"),
    [
        ((("LATENCY", 1), ("ENERGY", None)), "fastest-resnet50"),
        ((("ENERGY", None), ("THROUGHPUT", None)), "most-images/s"),
        ((("ENERGY", None), ("POWER", None)), None),
    ],
)
def test_one_member_is_the_fastest(front, kinds, mark):
    """Where latency is no objective, another one of time is: its best member has a mark already."""
    objectives = tuple(Objective(ObjectiveKind[kind], network) for kind, network in kinds)
    problem = dataclasses.replace(front.problem, objectives=objectives)
    members = tuple(
        dataclasses.replace(front.members[0], objectives=values, makespan_ps=makespan)
        for values, makespan in (((10, 30), 7), ((20, 20), 5), ((30, 10), 6))
    )
    other = dataclasses.replace(front, problem=problem, members=members)
    assert choose_member(other, FASTEST) == (1 if mark is None else choose_member(other, mark))


def test_the_fastest_and_the_most_frugal_are_there_whatever_the_objectives(front):
    assert choose_member(front, FASTEST) == np.argmin([m.makespan_ps for m in front.members])
    assert choose_member(front, LOWEST_ENERGY) == np.argmin([m.energy_fj for m in front.members])
    with pytest.raises(ResultError, match="a number from 0 to"):
        choose_member(front, "slowest")
    alone = dataclasses.replace(front, members=front.members[:1])
    assert choose_member(alone, KNEE) == 0
    with pytest.raises(ResultError, match=r"^member: 0 or a name is required, got 'knees'"):
        choose_member(alone, "knees")


@pytest.mark.parametrize("kinds", [("THROUGHPUT", "POWER"), ("EFFICIENCY", "THROUGHPUT")])
def test_of_networks_that_run_freely_the_fastest_has_the_most_throughput(front, kinds):
    """Whatever one frame of all would take: there is none."""
    problem = dataclasses.replace(
        front.problem,
        objectives=tuple(Objective(ObjectiveKind[kind]) for kind in kinds),
        execution=FreeRunning(1),
    )
    members = tuple(
        dataclasses.replace(front.members[0], objectives=values, makespan_ps=makespan)
        for values, makespan in (((10, 30), 7), ((20, 20), 5), ((30, 10), 6))
    )
    free = dataclasses.replace(front, problem=problem, members=members)
    assert choose_member(free, FASTEST) == (0 if kinds[0] == "THROUGHPUT" else 2)
