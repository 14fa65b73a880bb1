"""Objectives and what constraints limit, against a second computation by the plain timeline."""

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest

from benchmarks.problems.number_formats import with_losses
from benchmarks.problems.random_problem import RandomShape, random_design, random_problem
from paretosoc.fitness.check.members.frames import simulate
from paretosoc.fitness.check.members.windows import simulate_long_run
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.problem.execution import OneFrame, Periodic, Pipeline
from paretosoc.results.problem.limits import (
    DEADLINE,
    ENERGY,
    LIMITS,
    LOSS,
    MEMORY,
    PERIOD,
    POWER,
    SEGMENTS,
    TRANSITIONS,
    constraints_of,
)
from paretosoc.results.problem.objectives import Objective, ObjectiveKind

SHAPE = RandomShape(networks=(1, 3), groups=(1, 4), units=(1, 3), points=(1, 3))


def idle_power_mw(problem, design):
    points = design.operating_points.tolist()
    used = set(design.units.tolist())
    on = [
        not domain.may_be_off or any(d in problem.units[u].clocks for u in used)
        for d, domain in enumerate(problem.domains)
    ]
    power = problem.board_mw
    power += sum(
        int(d.static_mw[p]) for d, p, o in zip(problem.domains, points, on, strict=True) if o
    )
    for unit in problem.units:
        if on[unit.clocks[0]]:
            power += int(unit.idle_mw[tuple(points[clock] for clock in unit.clocks)])
    return power


def dynamic_fj(problem, design, executions):
    total = 0
    for row in executions:
        unit = problem.units[row.unit]
        points = (int(design.operating_points[clock]) for clock in unit.clocks)
        total += int(unit.dynamic_mw[(row.group, *points)]) * (row.end_ps - row.start_ps)
    return total


def expected(problem, design):
    """Objective to value, whole numbers from exact fractions; and latencies, energy of a frame,
    mean power in uW."""
    frame = simulate(problem, design)
    makespan, latencies = frame.frame_end_ps[0], frame.latency_ps[0]
    idle = idle_power_mw(problem, design)
    values = {}
    continued = {problem.network_of[target] for _, target in problem.handovers}
    images = sum(
        entry.batch * (1 if n in continued else entry.repeats)
        for n, entry in enumerate(problem.networks)
    )
    if problem.execution.frames_overlap:
        run = simulate_long_run(problem, design)
        window = run.window_ps[1] - run.window_ps[0]
        (time,) = run.periods_ps
        drawn = idle * window + sum(run.dynamic_fj)
        energy = drawn * time // window
        power = Fraction(1000 * drawn, window)
        values[ObjectiveKind.THROUGHPUT] = ceil(Fraction(len(problem.networks) * time, images))
    else:
        period = problem.execution.period_ps
        time = makespan if period is None else period
        energy = idle * time + dynamic_fj(problem, design, frame.schedule.groups)
        power = Fraction(1000 * energy, time)
    busy = sum(row.end_ps - row.start_ps for row in frame.schedule.groups)
    alone = sum(row.alone_ps for row in frame.schedule.groups)
    values |= {
        ObjectiveKind.LATENCY: makespan,
        ObjectiveKind.GUARANTEED_LATENCY: makespan,
        ObjectiveKind.INVERSE_LATENCY: -sum(10**18 // latency for latency in latencies),
        ObjectiveKind.ENERGY: energy,
        ObjectiveKind.EFFICIENCY: energy // images,
        ObjectiveKind.POWER: floor(power),
        ObjectiveKind.ACCURACY_LOSS: lost_ppm(problem, design, range(problem.group_count)),
        ObjectiveKind.STRETCH: floor(Fraction(10**6 * (busy - alone), alone)),
    }
    return values, latencies, energy, power


def lost_ppm(problem, design, groups):
    """What the groups cost on their units."""
    tables = [problem.units[u].loss_ppm for u in design.units]
    return sum(0 if tables[g] is None else tables[g][g] for g in groups)


def held_bytes(problem, design):
    weights = [int(problem.units[u].weight_bytes[g]) for g, u in enumerate(design.units)]
    return sum(weights) + sum(network.activation_bytes for network in problem.networks)


def problems(count, **changes):
    for seed in range(count):
        rng = np.random.default_rng(seed)
        yield rng, replace(random_problem(rng, SHAPE), **changes)


def check(rng, problem):
    objectives = [
        Objective(kind)
        for kind in ObjectiveKind
        if type(problem.execution) in kind.spec.models and not kind.spec.needs_network
    ]
    of_one = [
        kind
        for kind in ObjectiveKind
        if type(problem.execution) in kind.spec.models and kind.spec.of_one_network
    ]
    objectives += [Objective(kind, n) for n in range(len(problem.networks)) for kind in of_one]
    # With exact times a guaranteed latency is the latency.
    problem = replace(
        with_losses(problem, rng), objectives=tuple(objectives), tolerance_permille=(1000, 1000)
    )
    designs = [random_design(rng, problem) for _ in range(4)]
    outcomes = make_outcomes(problem)(np.stack([design.row for design in designs]))
    assert outcomes.possible.all()
    for row, design in enumerate(designs):
        values, latencies, _, _ = expected(problem, design)
        for objective, found in zip(objectives, outcomes.objectives[row].tolist(), strict=True):
            if objective.kind is ObjectiveKind.MEMORY:
                assert found == held_bytes(problem, design)
                continue
            if objective.network is None:
                assert found == values[objective.kind], objective
                continue
            network = problem.networks[objective.network]
            end = latencies[objective.network] + network.arrival_ps
            begin = max(
                network.arrival_ps,
                *(latencies[m] + problem.networks[m].arrival_ps for m in network.waits_for),
                0,
            )
            assert (
                found
                == {
                    ObjectiveKind.LATENCY: latencies[objective.network],
                    ObjectiveKind.GUARANTEED_LATENCY: latencies[objective.network],
                    ObjectiveKind.TOKEN_RATE: ceil(Fraction(end - begin, network.repeats)),
                    ObjectiveKind.TOKEN_ENERGY: values[ObjectiveKind.ENERGY] // network.repeats,
                    ObjectiveKind.ACCURACY_LOSS: lost_ppm(problem, design, network.groups),
                }[objective.kind]
            )


def test_objectives_of_a_frame():
    for rng, problem in problems(60):
        check(rng, problem)


def test_objectives_over_a_period():
    for rng, problem in problems(40, execution=Periodic(12_345_678_901)):
        check(rng, problem)


@pytest.mark.parametrize("in_flight", [1, 2, 5])
def test_objectives_of_a_pipeline(in_flight):
    for rng, problem in problems(12, execution=Pipeline(in_flight)):
        check(rng, problem)


@pytest.mark.parametrize(
    "execution", [OneFrame(), Periodic(4 * 10**9), Pipeline(1)], ids=lambda model: model.model
)
def test_figures_of_constraints_and_what_is_feasible(execution):
    """A limit at exactly the figure is met, one below it is not."""
    for rng, problem in problems(10, execution=execution):
        problem = with_losses(problem, rng)
        design = random_design(rng, problem)
        rows = design.row[None, :]
        _, latencies, energy, power = expected(problem, design)
        makespan = simulate(problem, design).frame_end_ps[0]
        power_uw = ceil(power)
        mapping = design.units.tolist()
        crossings = [
            sum(mapping[a] != mapping[b] for a, b in problem.edges if a in network.groups)
            for network in problem.networks
        ]
        segments = [
            sum(
                mapping[g] == u and (g == network.first_group or mapping[g - 1] != u)
                for network in problem.networks
                for g in network.groups
            )
            for u in range(len(problem.units))
        ]
        losses = [lost_ppm(problem, design, network.groups) for network in problem.networks]
        limited = replace(
            problem,
            networks=tuple(
                replace(
                    network,
                    max_transitions=crossings[n],
                    max_loss_ppm=int(losses[n]),
                    deadline_ps=latencies[n],
                    activation_bytes=7 * n,
                )
                for n, network in enumerate(problem.networks)
            ),
            units=tuple(
                replace(unit, max_segments=segments[u]) for u, unit in enumerate(problem.units)
            ),
            power_cap_mw=-(-power_uw // 1000),
            energy_budget_fj=energy,
        )
        memory = held_bytes(limited, design)
        limited = replace(limited, memory_cap_bytes=memory)
        figures = {
            TRANSITIONS: crossings,
            SEGMENTS: segments,
            LOSS: losses,
            MEMORY: [memory],
            DEADLINE: list(latencies),
            PERIOD: [] if execution.period_ps is None else [makespan],
            POWER: [power_uw],
            ENERGY: [energy],
        }
        outcomes = make_outcomes(limited)(rows)
        kinds = [entry.kind for entry in constraints_of(limited)]
        wanted = [value for kind in LIMITS for value in figures.get(kind, ())]
        assert kinds == [kind for kind in LIMITS for _ in figures.get(kind, ())]
        assert outcomes.constraint_values[0].tolist() == wanted
        in_time = execution.period_ps is None or makespan <= execution.period_ps
        assert bool(outcomes.feasible[0]) == in_time
        if energy > 1 and in_time:
            tighter = replace(limited, energy_budget_fj=energy - 1)
            assert not make_outcomes(tighter)(rows).feasible[0]
            tighter = replace(limited, power_cap_mw=-(-power_uw // 1000) - 1)
            assert not make_outcomes(tighter)(rows).feasible[0]
        if memory > 0:
            tighter = replace(limited, memory_cap_bytes=memory - 1)
            assert not make_outcomes(tighter)(rows).feasible[0]
        if losses[0] > 0:
            first = replace(limited.networks[0], max_loss_ppm=int(losses[0]) - 1)
            tighter = replace(limited, networks=(first, *limited.networks[1:]))
            assert not make_outcomes(tighter)(rows).feasible[0]


def test_power_just_above_the_cap_is_above_it():
    for rng, problem in problems(30):
        design = random_design(rng, problem)
        _, _, _, power = expected(problem, design)
        cap = floor(power / 1000)
        outcomes = make_outcomes(replace(problem, power_cap_mw=max(cap, 1)))(design.row[None, :])
        assert bool(outcomes.feasible[0]) == (power <= 1000 * max(cap, 1))


def test_rows_on_units_that_cannot_run_them_are_impossible():
    found = 0
    for rng, problem in problems(40):
        for group, unit in zip(*np.nonzero(~problem.allowed), strict=True):
            design = random_design(rng, problem)
            design.units[group] = unit
            outcomes = make_outcomes(problem)(design.row[None, :])
            assert not outcomes.possible[0]
            assert not outcomes.feasible[0]
            found += 1
    assert found > 10
