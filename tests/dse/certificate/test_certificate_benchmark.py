"""The certificate's benchmark: its instances, a measurement, and its contention-free sibling."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from benchmarks import certificate as benchmark
from benchmarks.oracles.job_shop import has_solver, solve_job_shop
from paretosoc.common.units import PS_PER_NS
from tests.support.problems.random_spaces import random_limited_problem, space_of

SMALL = benchmark.Instance(
    "small", 100.0, lambda: benchmark.random_chains(2, 4, 2, max_transitions=1)
)


def test_instances_are_as_large_as_announced() -> None:
    sizes = {}
    for instance in benchmark.INSTANCES[:5]:
        problem = instance.make()
        sizes[len(problem.networks), problem.group_count, len(problem.units)] = problem
        assert all(unit.contention is not None for unit in problem.units)
    assert set(sizes) == {(2, 20, 2), (2, 60, 2), (3, 36, 3)}
    for networks, groups, units in ((2, 60, 2), (3, 36, 3)):
        problem = sizes[networks, groups, units]
        assert [network.max_transitions for network in problem.networks] == [2] * networks
        assert len(problem.edges) == groups - networks


def test_random_chains_repeat() -> None:
    one, other = (benchmark.random_chains(2, 3, 2, max_transitions=1) for _ in range(2))
    assert (one.transition_ps == other.transition_ps).all()
    assert (one.units[1].time_ps == other.units[1].time_ps).all()
    assert (one.units[1].time_ps > one.units[0].time_ps).all()


def test_a_measurement_is_the_optimum_and_its_proof() -> None:
    row = benchmark.measure(SMALL)
    best = space_of(SMALL.make()).best
    assert best is not None
    assert row.best_ms == row.bound_ms == best / benchmark.PS_PER_MS
    assert (row.gap, row.cover, row.holds, row.fulfilled) == (0.0, "unsat", True, True)
    assert row.formulation_s is not None
    assert row.tree_bytes < 40 + row.proof_nodes
    assert row.lemmas < row.proof_nodes <= row.first_nodes
    assert set(asdict(row)) == {column.key for column in benchmark.COLUMNS}


def test_an_ended_search_shows_its_gap() -> None:
    instance = benchmark.Instance(
        "large", 100.0, lambda: benchmark.random_chains(4, 24, 4, max_transitions=4)
    )
    row = benchmark.measure(instance, time_limit_s=0.5)
    assert row.gap is not None
    assert 0 < row.gap < 1
    assert (row.cover, row.holds, row.fulfilled) == (None, None, False)


def test_what_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(benchmark, "INSTANCES", (SMALL,))
    benchmark.main(["--json"])
    document = json.loads(capsys.readouterr().out)
    assert [row["instance"] for row in document["rows"]] == ["small"]
    assert any("another, easier problem" in note for note in document["notes"])
    with pytest.raises(SystemExit):
        benchmark.main(["--only", "nothing like it"])
    assert "no instance has 'nothing like it'" in capsys.readouterr().err


@pytest.mark.skipif(not has_solver(), reason="needs the extra benchmarks")
def test_the_job_shop_is_never_slower_than_the_timeline_without_contention() -> None:
    rng = np.random.default_rng(11)
    compared = 0
    while compared < 25:
        problem = random_limited_problem(rng)
        if any(network.repeats > 1 for network in problem.networks):
            continue
        units = tuple(replace(unit, contention=None) for unit in problem.units)
        problem = replace(problem, units=units)
        best = space_of(problem).best
        if best is None:
            continue
        shop = solve_job_shop(problem, time_limit_s=60)
        assert shop.optimum_ps is not None
        assert shop.optimum_ps == shop.bound_ps <= best
        compared += 1


@pytest.mark.skipif(not has_solver(), reason="needs the extra benchmarks")
def test_the_job_shop_of_one_unit_is_the_sum_of_its_times() -> None:
    problem = benchmark.random_chains(2, 5, 1, max_transitions=0)
    shop = solve_job_shop(problem, time_limit_s=60)
    assert shop.optimum_ps == int((problem.units[0].time_ps // PS_PER_NS).sum()) * PS_PER_NS


def test_the_job_shop_refuses_repeats() -> None:
    problem = benchmark.random_chains(1, 2, 1, max_transitions=0)
    twice = replace(problem, networks=(replace(problem.networks[0], repeats=2),))
    with pytest.raises(ValueError, match="network0: repeats are not in this model"):
        solve_job_shop(twice, time_limit_s=1)
