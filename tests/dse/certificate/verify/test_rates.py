"""No rate above what a chip can do: on its catalogue, in result folders, by ``dse verify``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from paretosoc.common.arrays import IntArray
from paretosoc.dse.certificate.verify.checks import Verdict
from paretosoc.dse.certificate.verify.members import overloaded_unit
from paretosoc.dse.certificate.verify.verify import exit_status, verify
from paretosoc.dse.cli.main import run
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.workload.options import Options, Scenario
from paretosoc.dse.workload.with_options import apply_scenario
from paretosoc.dse.workload.workload import workload_of
from paretosoc.fitness.simulate_long_run import make_long_run_evaluator
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.problem.execution import FreeRunning, Pipeline
from paretosoc.results.problem.problem import Problem


def on_one_gpu(networks: list[str], platform: str, **options: object) -> tuple[Problem, IntArray]:
    """Networks on the GPU alone, and the row with all clocks at their fastest."""
    chosen = {"objectives": ("throughput", "energy"), "units": ("gpu",), **options}
    workload = workload_of(networks)
    problem = build_problem(workload, load_platform(platform), Options(**chosen)).problem
    points = [len(domain.frequencies_khz) - 1 for domain in problem.domains]
    row = np.array([0] * problem.group_count + points, dtype=np.int64)
    return problem, row[None]


@pytest.mark.parametrize("in_flight", range(1, 9))
@pytest.mark.parametrize(
    ("networks", "platform", "most_hz"),
    [
        (["resnet50", "googlenet"], "jetson-agx-xavier", 192.4),
        (["vgg19"], "jetson-tx2", 12.8),
    ],
)
def test_one_unit_makes_one_frame_in_the_sum_of_its_times(
    networks: list[str], platform: str, most_hz: float, in_flight: int
) -> None:
    problem, rows = on_one_gpu(networks, platform)
    runs = make_long_run_evaluator(replace(problem, execution=Pipeline(in_flight)))(rows)
    (period,) = runs.frame_period_ps.tolist()
    assert period == runs.load_ps[0, 0, 0]
    assert most_hz - 0.3 < 1e12 / period < most_hz


@pytest.mark.parametrize("in_flight", range(1, 9))
def test_a_network_that_runs_freely_on_one_unit_too(in_flight: int) -> None:
    problem, rows = on_one_gpu(
        ["vgg19"], "jetson-agx-xavier", objectives=("throughput", "power"), free_running=True
    )
    runs = make_long_run_evaluator(replace(problem, execution=FreeRunning(in_flight)))(rows)
    assert runs.stream_period_ps.tolist() == runs.load_ps[:, :, 0].tolist()


def test_a_stream_of_three_networks_is_within_its_loads() -> None:
    workload = apply_scenario(workload_of(["vgg19", "resnet50", "googlenet"]), Scenario.STREAM)
    options = Options(objectives=("throughput", "latency"), units=("gpu", "dla0"))
    problem = build_problem(workload, load_platform("jetson-agx-xavier"), options).problem
    assert problem.execution == Pipeline(3)
    rng = np.random.default_rng(1)
    units = np.where(problem.allowed.all(axis=1), rng.integers(0, 2, (200, problem.group_count)), 0)
    points = [len(domain.frequencies_khz) - 1 for domain in problem.domains]
    rows = np.concatenate([units, np.tile(points, (200, 1))], axis=1)
    runs = make_long_run_evaluator(problem)(rows)
    largest = runs.load_ps.max(axis=(1, 2))
    assert (runs.frame_period_ps >= largest).all()
    assert (runs.frame_period_ps < 1.2 * largest).any()


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A pipeline with eight frames in flight on one GPU that takes one group at a time, and
    networks that run freely."""
    place = tmp_path_factory.mktemp("rates")
    words = ["--fix", "emc=max", "--max-evaluations", "300", "--quiet", "--objective", "throughput"]
    words += ["-p", "jetson-agx-xavier", "--groups", "4"]
    eight = ["--units", "gpu", "--objective", "energy", "--frames-in-flight", "8"]
    eight += ["--runtime", "none"]
    free = ["--free-running", "--objective", "power", "--units", "gpu,dla0"]
    for name, more in (("eight", eight), ("free", free)):
        out = ["-o", str(place / name)]
        assert run(["explore", "resnet50", "googlenet", *words, *more, *out]) == 0
    return {name: place / name for name in ("eight", "free")}


@pytest.mark.parametrize("name", ["eight", "free"])
def test_rates_hold(folders: dict[str, Path], name: str) -> None:
    checks = list(verify(folders[name]))
    assert exit_status(checks) == 0
    (said,) = [check.detail for check in checks if check.name == "rates"]
    assert said == "times loads are at most 1 on every unit"
    front = read_results(folders[name])
    if name == "eight":
        assert max(1e12 / member.objectives[0] for member in front.members) < 192.4


def test_a_rate_above_the_chips_is_found(folders: dict[str, Path], tmp_path: Path) -> None:
    """Even if nothing else were looked at."""
    front = json.loads((folders["eight"] / "front.json").read_bytes())
    for member in front["members"]:
        member["objectives"]["time_per_image_ps"] //= 2
    checks = changed(front, folders["eight"], tmp_path)
    assert [check.name for check in checks if check.verdict is Verdict.FAILS] == ["rates"]
    assert "rates times loads take 200 % of the time of gpu" in checks[-1].detail


def test_so_is_one_of_a_network_that_runs_freely(folders: dict[str, Path]) -> None:
    front = read_results(folders["free"])
    for member in front.members:
        run = member.free_run
        assert run is not None
        assert overloaded_unit(front.problem, member) is None
        faster = replace(run, periods_ps=(run.periods_ps[0] // 3, run.periods_ps[1]))
        assert overloaded_unit(front.problem, replace(member, free_run=faster)) is not None


def changed(front: object, folder: Path, place: Path):
    (place / "front.json").write_text(json.dumps(front))
    (place / "problem.json").write_bytes((folder / "problem.json").read_bytes())
    return list(verify(place, ignore_hashes=True))
