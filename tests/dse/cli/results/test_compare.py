"""``dse compare``: indicators against their definitions, differences of problems in words."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from benchmarks.problems.number_formats import with_losses
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.front import Front, InputFile
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.text.compare_fronts import compare_fronts, problem_differences


@pytest.fixture(scope="module")
def front(pair_folder):
    return read_results(pair_folder)


def with_objectives(front: Front, rows) -> Front:
    """A front with other figures: what the comparison sees of it."""
    base = front.members[0]
    members = tuple(replace(base, objectives=tuple(map(int, row))) for row in rows)
    return replace(front, members=members)


def random_front(front, rng):
    values = rng.integers(1, 60, (int(rng.integers(1, 15)), 2)).astype(np.int64)
    kept = values[non_dominated(values)]
    return with_objectives(front, kept[np.lexsort(kept.T[::-1])])


def area(rows, reference):
    """Hypervolume in two dimensions, exactly."""
    total, height = Fraction(0), Fraction(reference[1])
    for x, y in sorted(rows):
        if y < height and x < reference[0]:
            total += (Fraction(reference[0]) - x) * (height - y)
            height = Fraction(y)
    return total


def test_indicators_against_their_definitions(front):
    rng = np.random.default_rng(0)
    for _ in range(150):
        first, second = random_front(front, rng), random_front(front, rng)
        a, b = ([m.objectives for m in f.members] for f in (first, second))
        found = compare_fronts(first, second)
        both = np.array([*a, *b], dtype=np.int64)
        nadir = both[non_dominated(both)].max(axis=0)
        reference = tuple(Fraction(11, 10) * int(value) for value in nadir)
        assert found.reference_point == pytest.approx([float(value) for value in reference])
        whole = area([*a, *b], reference)
        low, high = both.min(axis=0), both.max(axis=0)
        span = [int(top - least) or 1 for least, top in zip(low, high, strict=True)]
        for side, mine, theirs in ((found.first, a, b), (found.second, b, a)):
            assert side.hypervolume == pytest.approx(float(area(mine, reference) / whole))
            covered = [
                any(all(x <= y for x, y in zip(m, t, strict=True)) for m in mine) for t in theirs
            ]
            assert side.coverage == pytest.approx(sum(covered) / len(covered))
            dominated = [
                i
                for i, m in enumerate(mine)
                if any(t != m and all(x <= y for x, y in zip(t, m, strict=True)) for t in theirs)
            ]
            shared = [i for i, m in enumerate(mine) if m in theirs]
            assert list(side.dominated) == dominated
            assert list(side.shared) == shared
            assert sorted([*side.own, *side.dominated, *side.shared]) == list(range(len(mine)))
            additive = max(
                min(
                    max(Fraction(x - y, s) for x, y, s in zip(m, t, span, strict=True))
                    for m in mine
                )
                for t in theirs
            )
            assert side.additive_epsilon == pytest.approx(float(additive), abs=1e-12)
            factor = max(
                min(max(Fraction(x, y) for x, y in zip(m, t, strict=True)) for m in mine)
                for t in theirs
            )
            assert side.multiplicative_epsilon == pytest.approx(float(factor))
            assert side.best == tuple(min(column) for column in zip(*mine, strict=True))


def test_a_front_against_itself(front):
    found = compare_fronts(front, front)
    assert found.differences == ()
    assert found.first == found.second
    assert found.first.coverage == found.first.hypervolume == 1.0
    assert found.first.multiplicative_epsilon == 1.0
    assert found.first.additive_epsilon == 0.0
    assert found.first.shared == tuple(range(len(front.members)))


def test_rates_are_negative_and_have_no_ratio(front):
    rate = (Objective(ObjectiveKind.INVERSE_LATENCY), Objective(ObjectiveKind.ENERGY))
    front = replace(front, problem=replace(front.problem, objectives=rate))
    first = with_objectives(front, [(-300, 9), (-200, 4)])
    second = with_objectives(front, [(-250, 3)])
    found = compare_fronts(first, second)
    assert found.first.multiplicative_epsilon is None
    assert found.second.dominated == ()
    assert found.first.dominated == (1,)
    assert found.reference_point == pytest.approx((-225, 9.9))


def test_objectives_in_another_order_are_the_same(front):
    turned_problem = replace(front.problem, objectives=front.problem.objectives[::-1])
    turned = replace(with_objectives(front, front.objective_array[:, ::-1]), problem=turned_problem)
    found = compare_fronts(front, turned)
    assert found.first.shared == tuple(range(len(front.members)))


def test_other_objectives_and_empty_fronts_are_refused(front):
    power = (Objective(ObjectiveKind.LATENCY), Objective(ObjectiveKind.POWER))
    other = replace(front, problem=replace(front.problem, objectives=power))
    with pytest.raises(ResultError, match="same objectives"):
        compare_fronts(front, other)
    with pytest.raises(ResultError, match="second front is empty"):
        compare_fronts(front, replace(front, members=()))


def test_differences_of_problems_in_words(front, capped_folder):
    assert problem_differences(front, front) == []
    capped = read_results(capped_folder)
    words = problem_differences(front, capped)
    assert "clocks of gpu: 14 from 114.75 to 1377 MHz and 1377 MHz" in words
    assert "power cap: none and 40 W" in words
    assert "deadline of squeezenet: none and 100 ms" in words
    assert len(words) == 3
    problem = front.problem
    first = replace(problem.networks[0], max_loss_ppm=5_000)
    counted = with_losses(problem)
    limited = replace(counted, memory_cap_bytes=60_500_000, networks=(first, *problem.networks[1:]))
    pair = (replace(front, problem=counted), replace(front, problem=limited))
    assert problem_differences(*pair) == [
        "memory cap: none and 60.5 MB",
        f"most accuracy loss of {first.name}: none and 0.5 %",
    ]
    board = replace(front, problem=replace(problem, board_mw=problem.board_mw + 1))
    assert problem_differences(front, board) == ["the figures: costs, powers or transitions"]
    slower = replace(problem.units[0], time_ps=problem.units[0].time_ps + 1)
    other = replace(front, problem=replace(problem, units=(slower, *problem.units[1:])))
    assert problem_differences(front, other) == [f"times of groups on {slower.name}"]
    files = replace(front.provenance, inputs=(*front.provenance.inputs, InputFile("b", "0" * 64)))
    assert problem_differences(front, replace(other, provenance=files)) == [
        "inputs: none and b",
        f"times of groups on {slower.name}",
    ]
    allowed = problem.allowed.copy()
    allowed[0, 1] = False
    pinned = replace(front, problem=replace(problem, allowed=allowed))
    assert problem_differences(front, pinned) == ["which units groups may run on (pins)"]


def test_command(dse, pair_folder, other_pair_folder, capped_folder):
    got = dse("compare", pair_folder, other_pair_folder, "--json")
    assert (got.status, got.err) == (0, "")
    document = json.loads(got.out)
    assert document["differences"] == []
    assert document["objectives"] == ["latency_ps", "energy_fj"]
    assert document["first"]["members"] == len(read_results(pair_folder).members)
    assert document["first"]["hypervolume"] > document["second"]["hypervolume"]
    table = dse("compare", pair_folder, capped_folder)
    assert table.status == 0
    assert "differ in" in table.out
    assert "power cap: none and 40 W" in table.out
    assert "A's members that B lacks:" in table.out


def test_command_refuses_in_one_line(dse, pair_folder, tmp_path):
    for other in (tmp_path, tmp_path / "no"):
        got = dse("compare", pair_folder, other)
        assert (got.status, got.out, len(got.lines)) == (2, "", 1)


def test_as_markdown_it_is_a_table_for_a_comment(dse, pair_folder):
    out = dse("compare", pair_folder, pair_folder, "--markdown").out
    rows = [line.strip() for line in out.splitlines() if line.strip().startswith("|")]
    assert rows[1].replace("-", "").replace(":", "") == "||||"
    assert {row.count("|") for row in rows} == {4}
    assert any("100.000 %" in row for row in rows)
