"""The kernels for chains where groups choose among number formats: against the general one and the
plain evaluator."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.number_formats import with_formats
from fitness.reference import timeline as plain_timeline
from fitness.simulate import Kernel, design_of, fastest_kernel, make_evaluator
from fitness.simulate_long_run import have_chain_kernel, make_long_run_evaluator
from fitness.simulator.chains.chain_lanes import MAX_UNITS
from results.problem.arithmetic import TIME_LIMIT_PS
from results.problem.execution import FreeRunning
from results.problem.problem import Problem
from tests.support.problems.chain_cases import assert_same, chains_of, rows_of


def formatted(seed: int, networks: tuple[int, int]) -> Problem:
    problem = with_formats(np.random.default_rng([35, seed]), chains_of(seed, networks))
    units = tuple(
        replace(unit, time_ps=np.minimum(unit.time_ps, TIME_LIMIT_PS - 1)) for unit in problem.units
    )
    return replace(problem, units=units)


@pytest.mark.parametrize(
    ("networks", "kernel"), [((1, 2), Kernel.TWO_CHAINS), ((2, 5), Kernel.MANY_CHAINS)]
)
def test_chains_equal_general_and_plain(networks: tuple[int, int], kernel: Kernel) -> None:
    seen: Counter[str] = Counter()
    for seed in range(400):
        problem = formatted(seed, networks)
        if kernel is Kernel.MANY_CHAINS and len(problem.units) > MAX_UNITS:
            continue
        rows = rows_of(problem, seed)
        fast = make_evaluator(problem, kernel=kernel)(rows)
        assert_same(fast, make_evaluator(problem, kernel=Kernel.GENERAL)(rows), f"seed {seed}")
        index = int(np.argmax(fast.possible))
        if not fast.possible[index]:
            continue
        design = design_of(problem, rows[index])
        played = plain_timeline.simulate(problem, design)
        assert fast.latency_ps[index].tolist() == list(played.latency_ps[0]), f"seed {seed}"
        units = rows[index, : problem.group_count]
        of_unit = np.array(problem.unit_of)[units]
        edges = np.array(problem.edges, dtype=np.int64).reshape(-1, 2)
        left, right = units[edges[:, 0]], units[edges[:, 1]]
        converted = (left != right) & (of_unit[edges[:, 0]] == of_unit[edges[:, 1]])
        seen["converted"] += bool(converted.any())
        seen["mixed"] += len({*units.tolist()}) > len({*of_unit.tolist()})
        seen["fastest"] += fastest_kernel(problem) is kernel
    assert min(seen.values()) > 80, seen


def test_streams_of_chains_equal_general() -> None:
    compared = 0
    # Energies of windows of the others, with times near the limit, are beyond what files hold.
    for seed in (seed for seed in range(24) if seed % 7 != 3):
        problem = formatted(seed, (2, 3))
        networks = tuple(replace(network, arrival_ps=0, priority=0) for network in problem.networks)
        problem = replace(
            problem,
            networks=networks,
            searches_priorities=False,
            execution=FreeRunning(1 + seed % 3),
        )
        if not have_chain_kernel(problem):
            assert len(problem.units) > MAX_UNITS
            continue
        rows = rows_of(problem, seed)[:8]
        fast, slow = (
            make_long_run_evaluator(problem, as_chains=chains)(rows) for chains in (True, False)
        )
        assert np.array_equal(fast.possible, slow.possible)
        for name in ("window_ps", "executed_ps", "load_ps", "idle_mw", "stream_period_ps"):
            one, other = getattr(fast, name), getattr(slow, name)
            assert np.array_equal(one[fast.possible], other[fast.possible]), (seed, name)
        # As whole numbers: where energy is split in two words may differ.
        energies = zip(fast.dynamic_energies(), slow.dynamic_energies(), strict=True)
        assert all(a == b for (a, b), may in zip(energies, fast.possible, strict=True) if may)
        compared += int(fast.possible.sum())
    assert compared > 40
