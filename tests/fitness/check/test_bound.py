"""The bound of lemmas against enumeration, and against a second implementation."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.enumerated.space import all_designs
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.simulate import make_evaluator
from paretosoc.results.front.certificate import NOT_NAMED, LemmaTable
from paretosoc.results.problem.problem import Problem
from tests.support.proofs.lemmas import lemma_bound, lemma_bounds
from tests.support.proofs.random_lemmas import random_lemmas, small_problem, with_choices
from tests.support.proofs.schedule_lemma_bound import bound_from_schedule
from tests.support.sample import SAMPLE

CHUNKS, PER_CHUNK = SAMPLE, 75
LEMMAS = 12
MIN_OF_CHUNK = {
    "several networks": 25,
    "several units": 25,
    "graph": 8,
    "repeats": 15,
    "waits for another": 6,
    "arrives late": 15,
    "contention": 20,
    "several operating points": 15,
    "exact": 150,
    "below every design point": 150,
    "raised by prices": 3,
}
"""How many problems (lemmas, for the last three) of a chunk must show the feature."""


def points_of(problem: Problem, masks: np.ndarray) -> list[list[int]]:
    return [
        [k for k in np.flatnonzero(domain.allowed).tolist() if int(mask) >> k & 1]
        for domain, mask in zip(problem.domains, masks, strict=True)
    ]


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_design_point_is_below_the_bound(chunk: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(chunk * PER_CHUNK, (chunk + 1) * PER_CHUNK):
        problem = small_problem(seed)
        seen.update(features(problem))
        rows = all_designs(problem)
        result = make_evaluator(problem)(rows)
        lemmas = random_lemmas(np.random.default_rng(seed), problem, LEMMAS)
        bounds = lemma_bounds(problem, lemmas)
        assert len(bounds) == LEMMAS
        priced = lemma_bounds(
            problem, lemmas, LemmaTarget((), (), prices=drawn_prices(seed, problem))
        )
        for index, bound in enumerate(bounds):
            where = f"seed {seed}, lemma {index}"
            units, masks = lemmas.units[index], lemmas.points[index]
            fitting = np.flatnonzero(with_choices(rows, units, masks))
            best = result.makespan_ps[fitting].min()
            assert bound.makespan_ps <= best, where
            assert (result.latency_ps[fitting] >= bound.latency_ps).all(), where
            assert bound.makespan_ps <= priced[index].makespan_ps <= best, where
            assert bound.latency_ps == priced[index].latency_ps
            seen["raised by prices"] += bound.makespan_ps < priced[index].makespan_ps
            seen["exact" if bound.makespan_ps == best else "below every design point"] += 1

            if any(problem.runs_engines):
                # The second implementation knows groups alone.
                continue
            design = problem.design_of(rows[np.random.default_rng(seed + index).choice(fitting)])
            makespan, latencies = bound_from_schedule(
                problem, units.tolist(), points_of(problem, masks), design
            )
            assert bound.makespan_ps == makespan, where
            assert list(bound.latency_ps) == latencies, where
    missing = {name: seen[name] for name, least in MIN_OF_CHUNK.items() if seen[name] < least}
    assert not missing, f"features that too few cases of chunk {chunk} show: {missing}"


def test_priced_transitions_are_below_every_design_point_that_keeps_the_limits() -> None:
    seen: Counter[str] = Counter()
    for seed in range(2 * PER_CHUNK * CHUNKS):
        free = small_problem(seed)
        limits = np.random.default_rng([seed, 2]).integers(0, 3, len(free.networks)).tolist()
        networks = [
            replace(network, max_transitions=limit)
            for network, limit in zip(free.networks, limits, strict=True)
        ]
        problem = replace(free, networks=tuple(networks))
        rows = all_designs(problem)
        rows = rows[np.less_equal(transitions_of(problem, rows).T, limits).all(axis=1)]
        result = make_evaluator(problem)(rows)
        lemmas = random_lemmas(np.random.default_rng(seed), problem, LEMMAS)
        claim = LemmaTarget((), (), prices=drawn_prices(seed, problem))
        without = lemma_bounds(free, lemmas, claim)
        for index, bound in enumerate(lemma_bounds(problem, lemmas, claim)):
            fitting = with_choices(rows, lemmas.units[index], lemmas.points[index])
            if fitting.any():
                best = result.makespan_ps[fitting].min()
                assert bound.makespan_ps <= best, f"seed {seed}, lemma {index}"
                seen["raised by limits"] += without[index].makespan_ps < bound.makespan_ps
                seen["lemmas"] += 1
    assert seen["lemmas"] > 500 * CHUNKS
    assert seen["raised by limits"] > 5 * CHUNKS


def transitions_of(problem: Problem, rows: np.ndarray) -> np.ndarray:
    """Transitions, [networks, design points]."""
    units = np.array(problem.unit_of)[rows[:, : problem.group_count]]
    counts = np.zeros((len(problem.networks), len(rows)), dtype=np.int64)
    for source, target in problem.edges:
        counts[problem.network_of[source]] += units[:, source] != units[:, target]
    return counts


def drawn_prices(seed: int, problem: Problem) -> tuple[tuple[int, ...], ...]:
    """Rows of prices, half of them of energy. Those of one unit in several formats differ."""
    rng = np.random.default_rng([seed, 1])
    rows = rng.integers(0, 5, (8, 1 + len(problem.units) + len(problem.networks)))
    rows[:, rng.integers(1, rows.shape[1])] += 1
    rows[:, 0] = np.arange(8) % 2
    return tuple(map(tuple, rows.tolist()))


def features(problem: Problem) -> set[str]:
    """What makes a problem a case worth having."""
    networks = problem.networks
    present = {
        "several networks": len(networks) > 1,
        "several units": len(problem.units) > 1,
        "graph": any(target != source + 1 for source, target in problem.edges),
        "repeats": any(network.repeats > 1 for network in networks),
        "waits for another": any(network.waits_for for network in networks),
        "arrives late": any(network.arrival_ps > 0 for network in networks),
        "contention": any(unit.contention is not None for unit in problem.units),
        "several operating points": any(domain.allowed.sum() > 1 for domain in problem.domains),
    }
    return {name for name, is_so in present.items() if is_so}


@pytest.mark.parametrize("seed", range(60))
def test_the_bound_of_a_whole_design_point_is_its_makespan(seed: int) -> None:
    problem = small_problem(seed)
    rows = all_designs(problem)
    rows = rows[np.random.default_rng(seed).choice(len(rows), min(len(rows), 40), replace=False)]
    result = make_evaluator(problem)(rows)
    groups = problem.group_count
    masks = np.uint64(1) << rows[:, groups:].astype(np.uint64)
    bounds = lemma_bounds(problem, LemmaTable(rows[:, :groups], masks))
    assert [bound.makespan_ps for bound in bounds] == result.makespan_ps.tolist()
    assert [list(bound.latency_ps) for bound in bounds] == result.latency_ps.tolist()


def test_a_lemma_that_names_nothing_bounds_the_whole_space() -> None:
    for seed in range(40):
        problem = small_problem(seed)
        units = np.full(problem.group_count, NOT_NAMED, dtype=np.int64)
        masks = np.full(len(problem.domains), 2**64 - 1, dtype=np.uint64)
        best = make_evaluator(problem)(all_designs(problem)).makespan_ps.min()
        assert 0 < lemma_bound(problem, units, masks) <= best
