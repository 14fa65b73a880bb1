"""Random workloads and the estimator's data: reproducible, within the space, refused if changed."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.papers.estimator.predictor import TimelinePredictor
from paretosoc.dse.papers.estimator.training.data_set import (
    DataPlan,
    DataSet,
    data_files,
    load_data,
    make_data,
    with_tokens,
)
from paretosoc.dse.papers.estimator.training.workloads import build, random_rows, random_workload
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.simulate import make_evaluator
from paretosoc.results.problem.problem import Problem

NETWORKS = ("bvlc_alexnet", "squeezenet", "resnet18", "mobilenet_v1", "zfnet512")
PLAN = DataPlan(seed=3, workloads=4, rows=6, networks=NETWORKS, groups=6)


def _save(data: DataSet, folder: Path) -> None:
    for name, content in data_files(data).items():
        (folder / name).write_bytes(content)


@pytest.fixture(scope="module")
def data() -> DataSet:
    return make_data(PLAN)


@pytest.fixture(scope="module")
def problem() -> Problem:
    return build(NETWORKS[:3], groups=6)


def test_workloads_have_every_size_and_no_network_twice() -> None:
    rng = np.random.default_rng(0)
    drawn = [random_workload(rng, NETWORKS, most=5) for _ in range(200)]
    assert {len(names) for names in drawn} == {1, 2, 3, 4, 5}
    assert all(len(set(names)) == len(names) for names in drawn)
    assert {name for names in drawn for name in names} == set(NETWORKS)


def test_more_networks_than_there_are_is_refused() -> None:
    with pytest.raises(WorkloadError, match="from 1 to 5 are required"):
        random_workload(np.random.default_rng(0), NETWORKS, most=6)


def test_rows_are_canonical_possible_and_of_all_kinds(problem: Problem) -> None:
    rows = random_rows(np.random.default_rng(1), problem, 200)
    space = DesignSpace(problem)
    assert (space.canonical(rows) == rows).all()
    assert make_evaluator(problem)(rows).possible.all()
    on_one = [
        all(len(set(row[list(network.groups)].tolist())) == 1 for network in problem.networks)
        for row in rows
    ]
    assert 10 < sum(on_one) < 160
    used = space.units_used(rows)
    assert (used.sum(axis=0) > 20).all()
    assert (~used).any(axis=0).all()


def test_improved_rows_are_better_than_random_ones(problem: Problem) -> None:
    """The best of the mix give more throughput per watt than plainly random rows do."""
    timeline = TimelinePredictor()
    space = DesignSpace(problem)
    mixed = timeline.predict(problem, random_rows(np.random.default_rng(2), problem, 200))
    plain = timeline.predict(problem, space.random(np.random.default_rng(2), 200))
    best = np.quantile(mixed.throughput_hz / mixed.power_w, 0.9)
    assert best > 1.1 * np.quantile(plain.throughput_hz / plain.power_w, 0.9)


def test_a_plan_gives_the_same_data_in_another_process(data: DataSet) -> None:
    code = (
        "from paretosoc.dse.papers.estimator.training.data_set import DataPlan, make_data\n"
        f"print(make_data({PLAN!r}).sha256)\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=240
    )
    assert told.stdout.strip() == data.sha256


def test_another_seed_gives_other_data(data: DataSet) -> None:
    assert make_data(replace(PLAN, seed=4, workloads=1)).rows[0].tolist() != data.rows[0].tolist()


def test_files_give_the_data_back(data: DataSet, tmp_path: Path) -> None:
    _save(data, tmp_path)
    again = load_data(tmp_path / "data.npz")
    assert again.sha256 == data.sha256
    assert again.workloads == data.workloads
    assert all((a == b).all() for a, b in zip(again.rows, data.rows, strict=True))


def test_changed_data_are_refused(data: DataSet, tmp_path: Path) -> None:
    _save(replace(data, power_w=data.power_w * 1.01), tmp_path)
    told = json.loads((tmp_path / "data.json").read_text())
    _save(data, tmp_path)
    (tmp_path / "data.json").write_text(json.dumps(told))
    with pytest.raises(WorkloadError, match=r"not what data\.json says"):
        load_data(tmp_path / "data.npz")


@pytest.mark.parametrize("broken", ["missing", "text", "format"])
def test_files_that_are_no_data_are_refused(data: DataSet, tmp_path: Path, broken: str) -> None:
    path = tmp_path / "data.npz"
    if broken != "missing":
        _save(data, tmp_path)
    if broken == "text":
        path.write_text("no archive")
    if broken == "format":
        path.with_suffix(".json").write_text('{"format": "other"}')
    with pytest.raises(WorkloadError, match=r"cannot be read|is no data set of the estimator"):
        load_data(path)


@pytest.mark.parametrize("kept", [0, 3, 100, 0.5, 0.99])
def test_archives_that_are_cut_off_are_refused(data: DataSet, tmp_path: Path, kept: float) -> None:
    _save(data, tmp_path)
    path = tmp_path / "data.npz"
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content)) if kept < 1 else int(kept)])
    with pytest.raises(WorkloadError, match=r"cannot be read|is no data set of the estimator"):
        load_data(path)


def test_archives_with_a_wrong_byte_are_refused_or_say_the_same(
    data: DataSet, tmp_path: Path
) -> None:
    _save(data, tmp_path)
    path = tmp_path / "data.npz"
    content = path.read_bytes()
    refused = 0
    for place in np.random.default_rng(0).integers(0, len(content), 60).tolist():
        changed = bytearray(content)
        changed[place] ^= 0xFF
        path.write_bytes(bytes(changed))
        try:
            # Some bytes of an archive say nothing.
            assert load_data(path).sha256 == data.sha256
        except WorkloadError:
            refused += 1
    assert refused > 30


@pytest.mark.parametrize("how", ["shorter", "longer", "unit", "place", "point"])
def test_rows_of_networks_that_were_cut_differently_are_refused(data: DataSet, how: str) -> None:
    row = data.rows[0].copy()
    if how == "shorter":
        row = row[1:]
    elif how == "longer":
        row = np.append(row, 0)
    else:
        row[-1 if how == "point" else 0] = {"unit": 9, "place": -1, "point": 99}[how]
    other = replace(data, rows=(row, *data.rows[1:]), tokens=None)
    with pytest.raises(WorkloadError, match=r"data: rows of .* when the data were made"):
        with_tokens(other)
