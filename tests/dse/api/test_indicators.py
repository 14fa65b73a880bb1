"""Indicators of fronts, by their definitions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

import paretosoc
from paretosoc.dse.api.front import Front
from paretosoc.dse.errors import WorkloadError
from paretosoc.results.errors import ResultError


@pytest.fixture(scope="module")
def fronts(pair_folder: Path, other_pair_folder: Path) -> list[Front]:
    return [paretosoc.load(pair_folder), paretosoc.load(other_pair_folder)]


def by_steps(rows: np.ndarray, point: np.ndarray) -> float:
    """The area of two objectives, one step after the other."""
    rows = rows[(rows < point).all(axis=1)]
    area, last = 0.0, point[1]
    for x, y in rows[np.lexsort(rows.T[::-1])]:
        if y < last:
            area += (point[0] - x) * (last - y)
            last = y
    return float(area)


def test_the_hypervolume_is_the_area(fronts: list[Front]) -> None:
    first, second = fronts
    point = np.maximum(first.values.max(axis=0), second.values.max(axis=0)) * 1.01
    for front in fronts:
        assert front.hypervolume(point) == pytest.approx(by_steps(front.values, point))
        default = front.values.max(axis=0) * 1.1
        assert front.hypervolume() == pytest.approx(by_steps(front.values, default))
    with pytest.warns(UserWarning, match=r"^reference: no member lies .*latency.*energy"):
        assert first.hypervolume(first.values.min(axis=0)) == 0.0
    with pytest.raises(WorkloadError, match=r"a list of 2 numbers \(lat.* is required"):
        first.hypervolume({"latency": 20, "energy": 500})
    low = first.values.min(axis=0)
    between = (low + first.values.max(axis=0)) / 2
    assert first.hypervolume(between) == pytest.approx(by_steps(first.values, between))


def test_distances_are_of_the_references_ranges(fronts: list[Front]) -> None:
    first, second = fronts
    low, span = first.values.min(axis=0), np.ptp(first.values, axis=0)
    mine, theirs = (second.values - low) / span, (first.values - low) / span
    nearest = [min(np.linalg.norm(mine - row, axis=1)) for row in theirs]
    assert second.igd(first) == pytest.approx(np.mean(nearest))
    needed = max(min((row - other).max() for row in mine) for other in theirs)
    assert second.additive_epsilon(first) == pytest.approx(needed)
    assert first.igd(first) == first.additive_epsilon(first) == 0.0


def test_throughput_is_maximised(tmp_path: Path) -> None:
    """Its hypervolume is towards larger values."""
    front = paretosoc.explore(
        "squeezenet", "jetson-agx-xavier", "random", groups=2, max_evaluations=200,
        objectives=["throughput", "energy"], units="gpu,dla0",
    )  # fmt: skip
    assert front.objectives[0] == "throughput [images/s]"
    point = np.array([1.0, 1e4])
    area = by_steps(front.values * [-1, 1], point * [-1, 1])
    assert front.hypervolume(point) == pytest.approx(area)
    with pytest.warns(UserWarning, match="no member lies within"):
        assert front.hypervolume([1e9, 1e4]) == 0.0


def test_attainment_counts_runs(fronts: list[Front]) -> None:
    """Every point of the surface is reached by enough runs, and no smaller one is."""
    three = [*fronts, fronts[0]]
    for percent, runs in ((1, 1), (50, 2), (100, 3)):
        surface = paretosoc.attainment(three, percent)
        for point in surface:
            assert reached(three, point) >= runs
            assert (
                reached(three, point * [1 - 1e-9, 1]) < runs
                or reached(three, point * [1, 1 - 1e-9]) < runs
            )
    union = paretosoc.attainment(fronts, 0)
    rows = np.concatenate([front.values for front in fronts])
    best = rows[[not ((rows <= row).all(axis=1) & (rows < row).any(axis=1)).any() for row in rows]]
    assert {tuple(row) for row in union} == {tuple(row) for row in best}


def reached(fronts: list[Front], point: np.ndarray) -> int:
    return sum(bool((front.values <= point).all(axis=1).any()) for front in fronts)


def test_statistics_over_runs(fronts: list[Front]) -> None:
    first, second = fronts
    found = paretosoc.statistics({"a_b": [first, first, first], "other": [second, second]})
    best = found.methods["a_b"]
    assert best["hypervolume"].p_value is None
    assert best["igd"].median < found.methods["other"]["igd"].median
    worse = found.methods["other"]["hypervolume"]
    assert best["hypervolume"].median > worse.median
    assert worse.p_value == pytest.approx(
        mannwhitneyu(worse.values, best["hypervolume"].values).pvalue
    )
    assert best["hypervolume"].values == (best["hypervolume"].median,) * 3
    table = found.to_latex()
    assert r"a\_b & " in table
    assert table.count(r"\\") == 3
    assert table.startswith(r"\begin{tabular}{lrrrrrr}")


def test_a_front_as_latex(fronts: list[Front]) -> None:
    lines = fronts[0].to_latex(0.0).splitlines()
    assert lines[2] == r"member & name & latency [ms] & energy [mJ] \\"
    assert len(lines) == len(fronts[0]) + 6
    assert lines[4].startswith("0 & fastest & ")


def test_comparison_is_that_of_the_command(fronts: list[Front], pair_folder: Path) -> None:
    found = paretosoc.compare(pair_folder, fronts[1])
    assert found.first.members == len(fronts[0])
    assert found.first.hypervolume > found.second.hypervolume


def test_bad_arguments(fronts: list[Front]) -> None:
    first, second = fronts
    for reference in ([1.0], [1.0, 2.0, 3.0], ["a", "b"], [float("nan"), 1], object()):
        with pytest.raises(WorkloadError, match="2 numbers"):
            first.hypervolume(reference)  # type: ignore[arg-type]
    for percent in (-1, 101, float("nan"), "50"):
        with pytest.raises(WorkloadError, match="percent"):
            paretosoc.attainment(fronts, percent)  # type: ignore[arg-type]
    with pytest.raises(WorkloadError, match="one front at least"):
        paretosoc.attainment([])
    with pytest.raises(WorkloadError, match="one method at least"):
        paretosoc.statistics({})
    with pytest.raises(WorkloadError, match="2 fronts at least"):
        paretosoc.statistics({"a": [first]})
    other = paretosoc.explore(
        "squeezenet", "jetson-agx-xavier", groups=2, max_evaluations=50,
        objectives=["latency", "power"],
    )  # fmt: skip
    with pytest.raises(ResultError, match="same objectives"):
        second.igd(other)


def test_without_baselines_seeds_and_methods_differ() -> None:
    problem = paretosoc.Problem(["vgg19", "resnet50"], "jetson-agx-xavier", groups=6)
    point = [50, 1_000]

    def volumes(**options: bool) -> set[float]:
        fronts = [
            paretosoc.explore(problem, "random", seed=seed, max_evaluations=100, **options)
            for seed in range(3)
        ]
        return {front.hypervolume(point) for front in fronts}

    assert len(volumes(baselines=False)) == 3
    assert max(volumes(baselines=False)) < min(volumes())


def test_a_front_without_baselines_verifies(tmp_path: Path) -> None:
    front = paretosoc.explore(
        "squeezenet",
        "jetson-agx-xavier",
        "random",
        groups=2,
        max_evaluations=5,
        baselines=False,
    )
    front.save(tmp_path / "run", pictures=False)
    assert paretosoc.verify(tmp_path / "run")


def test_fronts_of_different_problems_are_noted() -> None:
    first, second = (
        paretosoc.explore("squeezenet", board, "random", groups=2, max_evaluations=50)
        for board in ("jetson-agx-xavier", "jetson-agx-orin")
    )
    words = "fronts of different problems"
    with pytest.warns(UserWarning, match=f"^reference: {words}: "):
        first.igd(second)
    with pytest.warns(UserWarning, match=f"^fronts: {words}: "):
        paretosoc.attainment([first, second])
    assert paretosoc.compare(first, second).differences


@pytest.mark.parametrize("given", [(), ("jetson-agx-xavier",)])
def test_the_nearest_argument_of_explore_is_named(given: tuple[str, ...]) -> None:
    networks = "squeezenet" if given else paretosoc.Problem("squeezenet", "jetson-agx-xavier")
    with pytest.raises(WorkloadError, match=r"did you mean max_evaluations\?"):
        paretosoc.explore(networks, *given, max_evaluation=10)
