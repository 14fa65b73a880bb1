"""The description of a space names everything that narrows it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchmarks.problems.random_problem import RandomShape, random_problem
from paretosoc.results.problem.execution import (
    ChannelUse,
    ClosedForm,
    ExecutionModel,
    FreeRunning,
    IdleTime,
    OneFrame,
    Periodic,
    Pipeline,
    SearchedOrder,
)
from paretosoc.results.problem.parts import MemoryPool, ProblemDomain, ProblemNetwork, ProblemUnit
from paretosoc.results.problem.problem import Problem
from paretosoc.results.text.space_description import describe_execution, describe_space
from tests.support.problems.random_spaces import narrowed_problem

Change = tuple[Callable[[Problem], Problem], str]

COSTS = {
    Problem: {
        "edges",
        "transition_ps",
        "handovers",
        "handover_ps",
        "memory_domain",
        "board_mw",
        "edge_tokens",
        # What figures mean, not which design points there are.
        "objectives",
        "tolerance_permille",
    },
    ProblemNetwork: {"first_group", "activation_bytes", "group_activation_bytes"}
    | {"batch", "batch_wait_ps", "jitter_ps"},
    ProblemUnit: {"clocks", "time_ps", "demand_kbps", "dynamic_mw", "idle_mw", "contention"}
    | {"channels", "step_ps", "loss_ppm", "weight_bytes", "memory_pool"}
    | {"loads_whole_networks", "dispatch", "sharing_permille", "moves_tensors"}
    # An entry's name has both.
    | {"unit", "number_format"},
    ProblemDomain: {"voltages_mv", "static_mw"},
}
"""Fields that say what a design point gives, and not which there are."""


def of(kind: str, index: int, **changes: Any) -> Callable[[Problem], Problem]:
    """One network, unit or domain replaced."""

    def change(problem: Problem) -> Problem:
        entries = list(getattr(problem, kind))
        entries[index] = dataclasses.replace(entries[index], **changes)
        return dataclasses.replace(problem, **{kind: tuple(entries)})

    return change


def whole(**changes: Any) -> Callable[[Problem], Problem]:
    return lambda problem: dataclasses.replace(problem, **changes)


def pinned(problem: Problem) -> Problem:
    allowed = problem.allowed.copy()
    allowed[1:3] = [False, False, True]
    allowed[3, 1] = False
    return dataclasses.replace(problem, allowed=allowed)


def fixed(*points: int) -> Callable[[Problem], Problem]:
    return of("domains", 1, allowed=np.isin(np.arange(4), points))


def first_network(problem: Problem) -> Problem:
    return dataclasses.replace(problem, networks=problem.networks[:1])


def two_units(problem: Problem) -> Problem:
    return dataclasses.replace(problem, units=problem.units[:2], allowed=problem.allowed[:, :2])


def one_group_less(problem: Problem) -> Problem:
    units = tuple(
        dataclasses.replace(unit, time_ps=unit.time_ps[:-1], demand_kbps=unit.demand_kbps[:-1])
        for unit in problem.units
    )
    fewer = dataclasses.replace(problem, units=units, allowed=problem.allowed[:-1])
    return of("networks", 1, group_names=("a",))(fewer)


NARROWS: dict[type, dict[str, Change]] = {
    Problem: {
        "networks": (
            lambda p: dataclasses.replace(p, networks=p.networks[:1]),
            "first (4 groups) on",
        ),
        "units": (two_units, "on unit0, unit1;"),
        "domains": (lambda p: dataclasses.replace(p, domains=p.domains[1:]), "unit2; clock1 at"),
        "allowed": (
            pinned,
            "first (4 groups, groups 1 to 2 on unit2 only, group 3 on unit0 or unit2 only)",
        ),
        "execution": (whole(execution=FreeRunning(1)), "at most 1 frame of each network, which"),
        "runtime": (whole(runtime="trtexec"), " for trtexec"),
        "guarantee": (
            whole(guarantee=True, tolerance_permille=(700, 1100)),
            "; deadlines guaranteed for 0.7 to 1.1 times the nominal times",
        ),
        "searched_order": (
            whole(searched_order=SearchedOrder.NETWORKS),
            "; priorities of networks from 0 to 2",
        ),
        "power_cap_mw": (whole(power_cap_mw=17_001), "mean power at most 17.001 W"),
        "energy_budget_fj": (
            whole(energy_budget_fj=123_456_789_012_345),
            "energy at most 123.456789012345 mJ",
        ),
        "memory_pools": (
            whole(memory_pools=(MemoryPool("shared"), MemoryPool("npu", 64_500_000))),
            "; memory of npu at most 64.5 MB",
        ),
        "memory_cap_bytes": (whole(memory_cap_bytes=60_500_001), "memory at most 60.500001 MB"),
    },
    ProblemNetwork: {
        "name": (of("networks", 0, name="vgg19"), "vgg19 (4 groups)"),
        "group_names": (one_group_less, "second (1 group)"),
        "repeats": (of("networks", 1, repeats=3), "second (2 groups, 3 times a frame)"),
        "waits_for": (of("networks", 1, waits_for=(0,)), "second (2 groups, after first)"),
        "max_loss_ppm": (
            of("networks", 1, max_loss_ppm=12_500),
            "second (2 groups, accuracy loss at most 1.25 %)",
        ),
        "arrival_ps": (of("networks", 1, arrival_ps=2_500_000_000), "from 2.5 ms on"),
        "max_transitions": (of("networks", 0, max_transitions=1), "4 groups, at most 1 transition"),
        "deadline_ps": (of("networks", 1, deadline_ps=12 * 10**9), "latency at most 12 ms"),
        "priority": (of("networks", 1, priority=2), "second (2 groups, priority 2)"),
        "deadline_95_ps": (of("networks", 1, deadline_95_ps=10**9), "95th percentile at most 1 ms"),
        "max_jitter_ps": (of("networks", 1, max_jitter_ps=10**9), "jitter at most 1 ms"),
        "max_misses": (of("networks", 1, max_misses=2), "misses at most 2"),
        "paced": (of("networks", 1, paced=True), "second (2 groups, released evenly)"),
        "min_rate_uhz": (
            of("networks", 1, min_rate_uhz=5 * 10**6),
            "rate at least 5 images per second",
        ),
    },
    ProblemUnit: {
        "name": (of("units", 0, name="gpu"), "on gpu, unit1"),
        "max_segments": (of("units", 1, max_segments=16), "unit1 (at most 16 segments)"),
    },
    ProblemDomain: {
        "name": (of("domains", 1, name="core"), "core at any of 4 clocks from 1 to 4 MHz"),
        "frequencies_khz": (
            of("domains", 1, frequencies_khz=(1000, 2000, 3000, 4500)),
            "clock1 at any of 4 clocks from 1 to 4.5 MHz",
        ),
        "may_be_off": (
            of("domains", 1, may_be_off=True),
            "clock1 at any of 4 clocks from 1 to 4 MHz, off where unused",
        ),
        "allowed": (fixed(1, 3), "clock1 at 2 or 4 MHz"),
    },
}


@pytest.fixture
def problem() -> Problem:
    shape = RandomShape(
        networks=(2, 2), groups=(4, 4), units=(3, 3), points=(4, 4), unsupported=0.0
    )
    drawn = random_problem(
        np.random.default_rng(1), dataclasses.replace(shape, graphs=False, waiting=False)
    )
    first, second = drawn.networks
    networks = (
        dataclasses.replace(first, name="first"),
        dataclasses.replace(second, name="second", group_names=("a", "b")),
    )
    domains = tuple(dataclasses.replace(domain, may_be_off=False) for domain in drawn.domains)
    units = tuple(
        dataclasses.replace(
            unit, time_ps=unit.time_ps[:6], demand_kbps=unit.demand_kbps[:6], max_segments=None
        )
        for unit in drawn.units
    )
    return dataclasses.replace(
        drawn, networks=networks, domains=domains, units=units, allowed=drawn.allowed[:6]
    )


@pytest.mark.parametrize("kind", NARROWS, ids=lambda kind: kind.__name__)
def test_every_field_is_in_the_description_or_known_to_narrow_nothing(kind: type) -> None:
    """A field that is added to a problem must be put on one side or the other."""
    fields = {field.name for field in dataclasses.fields(kind)}
    assert not set(NARROWS[kind]) & COSTS[kind]
    assert fields == set(NARROWS[kind]) | COSTS[kind]


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind, changes in NARROWS.items() for name in changes],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_what_narrows_the_space_is_named(problem: Problem, kind: type, name: str) -> None:
    change, text = NARROWS[kind][name]
    before, after = describe_space(problem), describe_space(change(problem))
    assert text in after
    assert text not in before


def test_the_whole_description(problem: Problem) -> None:
    changes = [
        of("networks", 0, max_transitions=2),
        of("networks", 1, deadline_ps=12 * 10**9),
        of("units", 2, max_segments=16),
        fixed(3),
        of("domains", 2, may_be_off=True),
        whole(power_cap_mw=17_000),
    ]
    for change in changes:
        problem = change(problem)
    assert describe_space(problem) == (
        "first (4 groups, at most 2 transitions), second (2 groups, latency at most 12 ms) on "
        "unit0, unit1, unit2 (at most 16 segments); clock0 at any of 4 clocks from 1 to 4 MHz; "
        "clock1 at 4 MHz; clock2 at any of 4 clocks from 1 to 4 MHz, off where unused; memory at "
        "any of 4 clocks from 1 to 4 MHz; mean power at most 17 W"
    )


def test_different_sets_of_clocks_and_pins_have_different_descriptions() -> None:
    rng = np.random.default_rng(2)
    shape = RandomShape(networks=(1, 2), groups=(1, 4), units=(2, 3), points=(1, 4))
    for _ in range(30):
        problem = random_problem(rng, shape)
        seen: dict[str, bytes] = {}
        for _ in range(60):
            other = narrowed_problem(rng, problem)
            choices = other.allowed.tobytes() + b"".join(d.allowed.tobytes() for d in other.domains)
            assert seen.setdefault(describe_space(other), choices) == choices


@pytest.mark.parametrize(
    ("execution", "of_the_space", "words"),
    [
        (OneFrame(), None, "one frame at a time"),
        (
            Periodic(33_333_333_333),
            "makespan at most the period, 33.333333333 ms",
            "a frame every 33.333333333 ms",
        ),
        (Pipeline(3), "at most 3 frames in flight", "a pipeline, 3 frames in flight"),
        (
            ClosedForm(ChannelUse.ALL, IdleTime.SUM_OF_LOADS),
            None,
            "a pipeline in closed form, all channels, T = sum of loads",
        ),
        (
            FreeRunning(1),
            "at most 1 frame of each network, which run freely",
            "free-running networks, 1 frame of each in flight",
        ),
    ],
)
def test_execution_models(execution: ExecutionModel, of_the_space: str | None, words: str) -> None:
    problem = random_problem(np.random.default_rng(0), RandomShape())
    before = describe_space(problem)
    after = describe_space(dataclasses.replace(problem, execution=execution))
    assert after == (before if of_the_space is None else f"{before}; {of_the_space}")
    assert describe_execution(execution) == words
