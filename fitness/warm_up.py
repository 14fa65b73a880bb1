"""Runs every kernel once on the smallest problem, so that it is compiled or loaded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from paretosoc.fitness.branch_and_bound.choices import make_branching_rules
from paretosoc.fitness.branch_and_bound.search_tree import make_search_tree
from paretosoc.fitness.check.make_facts import Frames, make_facts
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.check.timeline import leaves_with
from paretosoc.fitness.check.tree import check_tree
from paretosoc.fitness.check.work import make_work
from paretosoc.fitness.closed_form import make_load_evaluator
from paretosoc.fitness.guarantee.layout import make_guarantees
from paretosoc.fitness.multipliers.arrays import BoxArrayTables
from paretosoc.fitness.multipliers.structure import (
    chains_of,
    classes_of,
    make_networks,
    make_scratch,
    paths_of,
)
from paretosoc.fitness.objectives import make_segment_counter
from paretosoc.fitness.simulate import Kernel, make_evaluator, simulate
from paretosoc.fitness.simulate_long_run import (
    make_long_run_evaluator,
    recurring_dynamic_fj,
    recurring_schedule,
    simulate_shown,
)
from paretosoc.fitness.simulator.layout import make_plan
from paretosoc.fitness.simulator.state import make_chosen, make_state
from paretosoc.results.front.proof_tree import MEMBERS, ProofTree
from paretosoc.results.problem.execution import (
    ENGINE,
    GROUP,
    ChannelUse,
    ClosedForm,
    IdleTime,
    Pipeline,
    Rates,
)
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.parts import ChannelCosts, ProblemDomain, ProblemNetwork, ProblemUnit
from paretosoc.results.problem.problem import DesignPoint, Problem

_DESIGN = DesignPoint(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
"""The only design point of :func:`smallest_problem`."""


def smallest_problem(*, engines: bool = False) -> Problem:
    """Return one group on one unit, which may run engines. Kernels have a form for each."""
    one = np.ones((1, 1), dtype=np.int64)
    return Problem(
        networks=(ProblemNetwork(name="network", first_group=0, group_names=("group",)),),
        edges=(),
        transition_ps=np.zeros((0, 1, 1), dtype=np.int64),
        domains=(
            ProblemDomain(
                name="clock",
                frequencies_khz=(1000,),
                voltages_mv=(None,),
                may_be_off=False,
                static_mw=np.zeros(1, dtype=np.int64),
                allowed=np.ones(1, dtype=np.bool_),
            ),
        ),
        units=(
            ProblemUnit(
                name="unit",
                clocks=(0,),
                time_ps=one,
                demand_kbps=one,
                dynamic_mw=one,
                idle_mw=np.ones(1, dtype=np.int64),
                contention=None,
                dispatch=ENGINE if engines else GROUP,
            ),
        ),
        memory_domain=None,
        board_mw=1,
        allowed=np.ones((1, 1), dtype=np.bool_),
        objectives=(Objective(ObjectiveKind.LATENCY), Objective(ObjectiveKind.ENERGY)),
    )


def smallest_pipeline(channels: ChannelUse = ChannelUse.BETWEEN_UNITS) -> Problem:
    """Return the smallest problem in closed form."""
    problem = smallest_problem()
    one = np.ones(1, dtype=np.int64)
    (unit,) = problem.units
    return replace(
        problem,
        units=(replace(unit, channels=ChannelCosts(0, one, one, one)),),
        execution=ClosedForm(channels, IdleTime.PERIOD),
    )


def warm_up() -> None:
    """Compile all kernels of this package for groups, or load the machine code of an earlier
    time."""
    warm_up_frames()
    warm_up_guarantee()
    warm_up_long_run()
    warm_up_rates()
    warm_up_branch_and_bound()
    warm_up_checker()
    warm_up_replay()
    warm_up_multipliers()


def warm_up_frames(*, engines: bool = False) -> None:
    """Compile or load the kernels of one frame alone, and of pipelines in closed form."""
    problem = smallest_problem(engines=engines)
    row = np.zeros((1, 2), dtype=np.int64)
    for kernel in Kernel:
        make_evaluator(problem, kernel=kernel)(row)
    for channels in ChannelUse:
        make_load_evaluator(smallest_pipeline(channels))(row)
    make_segment_counter(problem)(row)
    simulate(problem, _DESIGN)


def warm_up_guarantee(*, engines: bool = False) -> None:
    """Compile or load the kernels of guaranteed latencies."""
    make_guarantees(smallest_problem(engines=engines), (1000, 1000))(
        np.zeros((1, 2), dtype=np.int64)
    )


def warm_up_long_run(*, engines: bool = False) -> None:
    """Compile or load the kernels of the long run of pipelines and free-running networks."""
    pipeline = replace(smallest_problem(engines=engines), execution=Pipeline(frames_in_flight=1))
    row = np.zeros((1, 2), dtype=np.int64)
    make_long_run_evaluator(pipeline)(row)
    simulate_shown(pipeline, _DESIGN)


def warm_up_rates(*, engines: bool = False) -> None:
    """Compile or load the kernels of networks with rates of their own."""
    rates = replace(smallest_problem(engines=engines), execution=Rates(period_ps=1))
    make_evaluator(rates)(np.zeros((1, 2), dtype=np.int64))
    recurring_dynamic_fj(rates, _DESIGN)
    recurring_schedule(rates, _DESIGN)


def warm_up_branch_and_bound(*, engines: bool = False) -> None:
    """Compile or load the kernels of the search that proves a front."""
    from paretosoc.fitness.branch_and_bound.archive import insert_member, is_fathomed
    from paretosoc.fitness.branch_and_bound.search import begin_subtree, search_nodes

    plan, space, chosen, state, tree = _nodes(engines=engines)
    begin_subtree(plan, space, tree, tree.units.copy(), tree.points.copy())
    search_nodes(plan, space, chosen, state, tree, 1)
    is_fathomed(tree, tree.closing, tree.vector)
    insert_member(tree, tree.vector, 0)


def is_branch_and_bound_built(*, engines: bool) -> bool:
    """Return whether the search that proves a front has been compiled."""
    from paretosoc.fitness.branch_and_bound.search import search_nodes

    return search_nodes.is_built(*_nodes(engines=engines), 1)


def _nodes(*, engines: bool) -> tuple[Any, Any, Any, Any, Any]:
    """Return what the search of the smallest problem's nodes takes."""
    problem = smallest_problem(engines=engines)
    plan = make_plan(problem)
    state = make_state(plan, frames=1, in_flight=1, log=True, stops=True)
    space = make_branching_rules(problem, objectives=(0, 1), prices=((0, 1, 1), (1, 1, 1)))
    tree = make_search_tree(problem, plan, space, members=1, log=1)
    return plan, space, make_chosen(plan), state, tree


def warm_up_checker() -> None:
    """Compile or load the kernels of the check of a proof's tree."""
    claim = LemmaTarget((0, 1), ((1, 1),), prices=((0, 1, 1), (1, 1, 1)))
    tree = ProofTree((np.array([MEMBERS], dtype=np.uint8),))
    check_tree(smallest_problem(), tree, claim, jobs=1)


def warm_up_replay() -> None:
    """Compile or load the kernels of the check of members."""
    problem = smallest_problem()
    plain_outcome(problem, _DESIGN, compiled=True)
    # Only frames that recur ask for it.
    facts = make_facts(problem, LemmaTarget((), ()), frames=Frames(1, 1))
    leaves_with(facts, make_work(facts), 0)


def warm_up_multipliers() -> None:
    """Compile or load the kernels of bounds over boxes of operating points."""
    from paretosoc.fitness.multipliers.kernels import improve, least_sum

    problem = smallest_problem()
    tables = BoxArrayTables(problem, classes_of(problem))
    networks = make_networks(problem, paths_of(problem), chains_of(problem))
    box, kinds = tables.over((1,)), int(tables.class_start[-1])
    scratch = make_scratch(networks, kinds)
    ones = np.ones(len(scratch.used))
    least_sum(networks, box, ones, kinds, scratch, scratch.used)
    improve(networks, box, ones, 1.0, kinds, ones.copy(), 1, 1.0, scratch)
