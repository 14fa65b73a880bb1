"""Every objective and every limited figure in int64, or refused: against Python integers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import paretosoc as dse
from benchmarks.problems.number_formats import with_losses
from benchmarks.problems.random_problem import (
    RandomShape,
    random_design,
    random_pipeline,
    random_problem,
    with_rates,
)
from paretosoc.common.arrays import IntArray
from paretosoc.dse.certificate.branch_and_bound import find_front
from paretosoc.dse.problem.int64_bounds import check_magnitudes
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.execution import (
    ChannelUse,
    FreeRunning,
    OneFrame,
    Periodic,
    Pipeline,
)
from paretosoc.results.problem.limits import POWER, constraints_of
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.parts import MemoryPool
from paretosoc.results.problem.problem import Problem
from tests.support.problems.random_spaces import NOTHING, random_power_problem, space_of

SHAPE = RandomShape(networks=(1, 3), groups=(1, 3), units=(1, 3), points=(1, 2))
OF_A_FRAME = tuple(
    Objective(kind, 0 if kind.spec.needs_network else None)
    for kind in ObjectiveKind
    if OneFrame in kind.spec.models
)
OF_A_PIPELINE = (*OF_A_FRAME, Objective(ObjectiveKind.THROUGHPUT))
FREE = tuple(
    Objective(kind)
    for kind in (ObjectiveKind.THROUGHPUT, ObjectiveKind.ENERGY, ObjectiveKind.POWER)
)


def scaled(table: IntArray, factor: float, most: int) -> IntArray:
    """Times or powers multiplied; -1 stays."""
    larger = np.minimum(table.astype(np.float64) * factor, float(most)).astype(np.int64)
    return np.where(table > 0, np.maximum(larger, 1), table)


def extreme_problem(rng: np.random.Generator) -> Problem:
    """Times from 1 ps to 140 s, powers from nothing to a megawatt, in every execution model."""
    problem = with_losses(random_problem(rng, SHAPE))
    time = 10.0 ** rng.uniform(-8, 5.2)
    power = 10.0 ** rng.uniform(-4, 5)
    units = tuple(
        replace(
            unit,
            time_ps=scaled(unit.time_ps, time, (1 << 47) - 1),
            dynamic_mw=scaled(unit.dynamic_mw, power, 10**12),
            idle_mw=scaled(unit.idle_mw, power, 10**12),
        )
        for unit in problem.units
    )
    domains = tuple(
        replace(domain, static_mw=scaled(domain.static_mw, power, 10**12))
        for domain in problem.domains
    )
    problem = replace(
        problem,
        units=units,
        domains=domains,
        board_mw=int(problem.board_mw * power),
        transition_ps=scaled(problem.transition_ps, time, (1 << 47) - 1),
        objectives=OF_A_FRAME,
        tolerance_permille=(int(rng.integers(0, 1001)), int(rng.integers(1000, 10_001))),
        power_cap_mw=int(rng.integers(1, 1 << 53)),
        energy_budget_fj=int(rng.integers(1, 1 << 62)),
    )
    use = int(rng.integers(6))
    if use == 1:
        period = int(10 ** rng.uniform(3, 18.9))
        return replace(problem, execution=Periodic(period))
    if use == 2:
        flying = int(rng.integers(1, 14))
        return replace(
            problem,
            execution=Pipeline(flying),
            objectives=OF_A_PIPELINE,
        )
    if use == 3:
        return random_pipeline(rng, problem, ChannelUse.BETWEEN_UNITS)
    if use == 4:
        alone = tuple(replace(n, waits_for=(), arrival_ps=0) for n in problem.networks)
        return replace(
            problem,
            networks=alone,
            execution=FreeRunning(1),
            objectives=FREE,
        )
    if use == 5:
        return with_rates(rng, problem)
    return problem


@pytest.mark.parametrize("chunk", range(2))
def test_what_is_accepted_is_computed_without_overflow(chunk: int) -> None:
    rng = np.random.default_rng([17, chunk])
    accepted = refused = largest = 0
    for _ in range(75):
        problem = extreme_problem(rng)
        try:
            check_magnitudes(problem)
        except ResultError:
            refused += 1
            continue
        accepted += 1
        designs = [random_design(rng, problem) for _ in range(3)]
        outcomes = make_outcomes(problem)(np.stack([design.row for design in designs]))
        for i, design in enumerate(designs):
            plain = plain_outcome(problem, design)
            assert tuple(outcomes.objectives[i].tolist()) == plain.objectives
            assert bool(outcomes.feasible[i]) == (not plain.broken)
            largest = max(largest, *(abs(value) for value in plain.objectives))
    assert accepted > 20
    assert refused > 5
    assert largest > 1 << 55


def test_stretch_of_more_than_nine_seconds_of_contention() -> None:
    """Two groups of 4.7 s that slow each other: issue 17, point 4."""
    rng = np.random.default_rng(3)
    met = 0
    for _ in range(150):
        problem = random_problem(rng, replace(SHAPE, networks=(2, 3), units=(2, 3)))
        units = tuple(
            replace(unit, time_ps=scaled(unit.time_ps, 4e4, 10**13)) for unit in problem.units
        )
        problem = replace(problem, units=units, objectives=(Objective(ObjectiveKind.STRETCH),))
        try:
            check_magnitudes(problem)
        except ResultError:
            continue
        designs = [random_design(rng, problem) for _ in range(10)]
        outcomes = make_outcomes(problem)(np.stack([design.row for design in designs]))
        for value, design in zip(outcomes.objectives[:, 0].tolist(), designs, strict=True):
            outcome = plain_outcome(problem, design)
            assert value == outcome.objectives[0]
            entries = outcome.timeline.schedule.groups
            added = sum(entry.end_ps - entry.start_ps - entry.alone_ps for entry in entries)
            met += added * 10**6 >= 1 << 63
    assert met > 20


def with_times(problem: Problem, time_ps: int) -> Problem:
    units = tuple(
        replace(unit, time_ps=np.where(unit.time_ps > 0, time_ps, -1)) for unit in problem.units
    )
    return replace(problem, units=units)


def small() -> Problem:
    return random_problem(
        np.random.default_rng(1),
        replace(SHAPE, networks=(3, 3), units=(2, 2), waiting=False, unsupported=0.0),
    )


def rates(problem: Problem) -> Problem:
    """Twelve networks of one group of 1 ps."""
    one = random_problem(
        np.random.default_rng(1),
        replace(SHAPE, networks=(12, 12), groups=(1, 1), waiting=False, unsupported=0.0),
    )
    return replace(with_times(one, 1), objectives=(Objective(ObjectiveKind.INVERSE_LATENCY),))


def powerless(problem: Problem, period_ps: int) -> Problem:
    """Nothing draws power, over a period."""
    units = tuple(
        replace(u, idle_mw=np.zeros_like(u.idle_mw), dynamic_mw=np.zeros_like(u.dynamic_mw))
        for u in problem.units
    )
    domains = tuple(replace(d, static_mw=np.zeros_like(d.static_mw)) for d in problem.domains)
    return replace(
        problem,
        units=units,
        domains=domains,
        board_mw=0,
        execution=Periodic(period_ps),
    )


def crowded(problem: Problem) -> Problem:
    units = tuple(
        replace(unit, demand_kbps=np.full_like(unit.demand_kbps, 1 << 62)) for unit in problem.units
    )
    return replace(problem, units=units)


def steep(problem: Problem) -> Problem:
    tables = [unit.contention for unit in problem.units]
    which = next(u for u, table in enumerate(tables) if table is not None)
    table = replace(tables[which], intensive_num=np.full_like(tables[which].peak_kbps, 1 << 50))
    units = list(problem.units)
    units[which] = replace(units[which], contention=table)
    return replace(problem, units=tuple(units))


REFUSED = {
    "power": (
        lambda p: replace(p, board_mw=10**13),
        r"largest power must be below .*9\.2 GW.*got 10{6}\d+ mW",
    ),
    "energy": (
        lambda p: replace(with_times(p, 10**14), board_mw=10**6),
        "more than 63 bits hold in femtojoules",
    ),
    "time": (lambda p: powerless(p, 10**16), r"could take 1e\+04 s: less than 2\*\*63 fs"),
    "rates": (rates, r"'inverse-latency': rates .* less than 2\*\*62 uHz, got up to 12000000"),
    "demands": (crowded, r"demands of all units must add up to less than 2\*\*46"),
    "slopes": (steep, r"contention parameters and demands must be below 2\*\*63, got \d+"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_could_overflow_is_refused_with_its_limit(name: str) -> None:
    change, complaint = REFUSED[name]
    check_magnitudes(small())
    with pytest.raises(ResultError, match=complaint):
        check_magnitudes(change(small()))


def test_rates_that_hardly_divide_are_named_as_the_cause(tmp_path: Path) -> None:
    """30 and 29.97 frames per second recur after 33.3 s."""
    path = tmp_path / "w.yaml"
    rows = [f"  - {{network: {n}, rate_hz: {r}}}" for n, r in (("resnet18", 30), ("vgg19", 29.97))]
    path.write_text("\n".join(["networks:", *rows]))
    with pytest.raises(
        ResultError, match=r"divide each other \(their period is 33\.3 s\), or leave"
    ):
        dse.Problem(path, "jetson-orin-nx-16gb", groups=3)


@pytest.mark.parametrize("cap_mw", [10**9, 7 * 10**11, 10**12, 9 * 10**15])
def test_a_power_cap_that_nothing_reaches_closes_nothing(cap_mw: int) -> None:
    """A cap times a time left int64: lemmas held every point for one that breaks the cap."""
    rng = np.random.default_rng(8)
    for _ in range(12):
        problem = replace(random_power_problem(rng, ObjectiveKind.LATENCY), power_cap_mw=None)
        problem = replace(problem, objectives=(problem.objectives[0], problem.objectives[1]))
        capped = replace(problem, power_cap_mw=cap_mw)
        assert constraints_of(capped)[-1 if problem.energy_budget_fj is None else -2].kind is (
            POWER
        )
        rows = space_of(capped).rows
        outcomes = make_outcomes(capped)(rows)
        best = np.where(outcomes.feasible, outcomes.objectives[:, 0], NOTHING).min()
        found, uncapped = find_front(capped), find_front(problem)
        assert found.objectives.tolist() == uncapped.objectives.tolist()
        assert found.nodes == uncapped.nodes
        if len(found.objectives):
            assert found.objectives[:, 0].min() == best


def test_memory_of_many_pools_is_in_int64_or_refused() -> None:
    """Each network has its largest activations in each of the pools that its groups are in."""
    rng = np.random.default_rng(7)
    problem = with_losses(random_problem(rng, replace(SHAPE, networks=(3, 3), units=(3, 3))))
    problem = replace(problem, objectives=(Objective(ObjectiveKind.MEMORY),))
    many = 1 << 61
    for pools, fits in ((1, True), (3, False)):
        changed = replace(
            problem,
            networks=tuple(replace(n, activation_bytes=many // 3) for n in problem.networks),
            memory_pools=tuple(MemoryPool(f"pool{p}") for p in range(2 * pools)),
            units=tuple(
                replace(unit, memory_pool=u % (2 * pools)) for u, unit in enumerate(problem.units)
            ),
        )
        if not fits:
            with pytest.raises(ResultError, match=r"memory of all pools must stay below 2\*\*63"):
                check_magnitudes(changed)
            continue
        check_magnitudes(changed)
        design = random_design(rng, changed)
        outcomes = make_outcomes(changed)(design.row[None])
        assert tuple(outcomes.objectives[0].tolist()) == plain_outcome(changed, design).objectives


def test_a_unit_is_shared_by_the_networks_that_it_can_run(tmp_path: Path) -> None:
    """Tasks on the CPU lengthen no schedule of the GPU."""
    file = tmp_path / "many.json"
    networks = [{"network": "squeezenet"}, {"network": "resnet18"}]
    tasks = [{"name": f"t{i}", "times": [{"unit": "cpu", "ms": 0.001}]} for i in range(8)]
    few, many = ({"networks": networks}, {"networks": networks, "tasks": tasks})
    for document in (few, many):
        file.write_text(json.dumps(document))
        problem = dse.Problem(file, "jetson-orin-nano-8gb", groups=2).numeric
        gpu = next(unit for unit in problem.units if unit.name == "gpu")
        slow = replace(gpu, time_ps=gpu.time_ps * 4000)
        units = tuple(slow if unit is gpu else unit for unit in problem.units)
        check_magnitudes(replace(problem, units=units))


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ({"frames_per_second": 1e-9}, r"raise frame rates \(frames_per_second\) or rate_hz"),
        ({}, r"leave out the slowest clocks \(fixed\) or units \(units\)"),
    ],
)
def test_the_remedy_is_for_what_is_too_long(options, remedy) -> None:
    workload = dse.Workload("alexnet")
    slow = replace(workload.networks[0], repeats=10**9)
    networks = workload if options else dse.Workload((slow,))
    with pytest.raises(ResultError, match=f"the longest schedule, or the period, .*{remedy}"):
        dse.Problem(networks, "jetson-agx-xavier", groups=2, **options)
