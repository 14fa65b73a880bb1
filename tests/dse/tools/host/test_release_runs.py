"""Releases at their instants on a machine: the plan, and what is measured of it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.problems.random_problem import (
    RandomShape,
    random_design,
    random_problem,
    with_rates,
    with_waiting_releases,
)
from paretosoc.dse.tools.host.machine.execution_plan import Dispatch, make_release_plan
from paretosoc.dse.tools.host.machine.machine import Execution
from paretosoc.dse.tools.host.machine.unit_loop import (
    GO,
    UnitPart,
    end_place,
    run_unit,
    start_place,
)
from paretosoc.dse.tools.host.measure.fidelity import measure_fidelity
from paretosoc.dse.tools.host.measure.running import WARM_UP, run_releases
from paretosoc.fitness.check.members.account import plain_account
from paretosoc.fitness.simulate import make_evaluator
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.execution import Rates
from tests.support.host_machines import ModelledMachine

SHAPE = RandomShape(networks=(1, 3), groups=(1, 3), ties=True, contention=False)
NS = 1000


def drawn(seed):
    """Nothing contends or is in transition; all instants are whole ns, as a machine has them."""
    rng = np.random.default_rng([71, seed])
    problem = with_waiting_releases(rng, with_rates(rng, random_problem(rng, SHAPE)))
    whole = 60 * NS
    period = -(-problem.execution.period_ps * int(rng.integers(1, 3)) // whole) * whole
    networks = []
    for network in problem.networks:
        often = min(network.repeats, 5)
        arrival = network.arrival_ps // NS * NS
        networks.append(replace(network, repeats=often, arrival_ps=arrival))
    problem = replace(
        problem,
        networks=tuple(networks),
        transition_ps=np.zeros_like(problem.transition_ps),
        execution=Rates(period),
    )
    return problem, random_design(rng, problem)


class TimedMachine:
    """Units that take what a group takes alone, one event after the other."""

    def __init__(self, problem, design):
        self.problem, self.design = problem, design

    def execute(self, plan, *, dispatch=None, beside=None):
        count = len(plan.instances)
        start, end = np.zeros(count, dtype=np.int64), np.full(count, -1, dtype=np.int64)
        todo, free = [list(order) for order in plan.order], [0] * len(plan.order)
        while any(todo):
            moved = False
            for u, order in enumerate(todo):
                if not order or any(end[k] < 0 for k in plan.instances[order[0]].after):
                    continue
                i = order.pop(0)
                instance = plan.instances[i]
                ready = max([instance.arrival_ns or 0, *(end[k] for k in instance.after)])
                start[i] = max(ready, free[u])
                end[i] = free[u] = start[i] + self.takes_ns(instance)
                moved = True
            assert moved, "the planned order waits for itself"
        zero = np.zeros(count, dtype=np.int64)
        return Execution(start, end, zero, zero, {})

    def takes_ns(self, instance):
        unit = self.problem.units[instance.unit]
        points = tuple(int(self.design.operating_points[c]) for c in unit.clocks)
        return int(unit.time_ps[(instance.group, *points)]) // NS


def test_a_plan_in_its_order_gives_what_was_predicted():
    later = several = 0
    for seed in range(60):
        problem, design = drawn(seed)
        found = make_evaluator(problem)(design.row[None])
        machine = TimedMachine(problem, design)
        if not found.periods[0]:
            with pytest.raises(ResultError, match="overloaded"):
                make_release_plan(problem, design, periods=5)
            continue
        # So many that the window is among those that count, and no part of another one.
        count = int(found.periods[0])
        before = int(found.recurs_ps[0]) // problem.execution.period_ps
        periods = count * (-(-before // count) + 3)
        told, ran = run_releases(machine, problem, design, periods, dispatch=Dispatch.PLANNED)
        assert told.responses == ran.responses, seed
        assert told.group_ms == ran.group_ms, seed
        assert ran.periods == periods
        plan = make_release_plan(problem, design, periods=periods + WARM_UP)
        assert len(plan.instances) == (periods + WARM_UP) * sum(
            network.repeats * len(network.groups) for network in problem.networks
        )
        account = plain_account(problem, design)
        if account.rates.window_ps[0] == 0:
            longest = [times[-1] / 1e9 for times in account.rates.responses_ps]
            assert [entry.longest_ms for entry in told.responses] == pytest.approx(longest), seed
        else:
            later += 1
        several += any(n.paced and n.repeats > 1 and n.waits_for for n in problem.networks)
    assert later > 1
    assert several > 3


def test_a_unit_waits_for_the_instant_of_a_release():
    problem, design = next(
        (problem, design)
        for problem, design in map(drawn, range(200))
        if len(problem.networks) == 1 and problem.networks[0].repeats > 1
        and problem.networks[0].paced and len(set(design.units.tolist())) == 1
        and make_evaluator(problem)(design.row[None]).periods[0]
    )  # fmt: skip
    plan = make_release_plan(problem, design, periods=5)
    (order,) = filter(None, plan.order)
    board = [0] * (end_place(len(plan.instances)) + 8)
    board[GO] = 7
    clock = iter(range(10**9))
    part = UnitPart(tuple((i, plan.instances[i]) for i in order), Dispatch.FIFO, 1)
    run_unit(part, board, lambda group, slot: None, lambda: next(clock), lambda: 0)
    released = [i for i, instance in enumerate(plan.instances) if instance.arrival_ns is not None]
    assert len(released) >= 5 * problem.networks[0].repeats
    for i in released:
        assert board[start_place(i)] >= 7 + plan.instances[i].arrival_ns


def test_fidelity_names_the_command_for_rates():
    problem, _ = drawn(0)
    front = SimpleNamespace(problem=problem)
    with pytest.raises(ResultError, match="'dse run' compares the responses"):
        measure_fidelity(ModelledMachine(problem), front, samples=1, frames=5, seed=0)
