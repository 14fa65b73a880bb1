"""Options for one network mean all its copies, and those for a copy that one alone."""

from __future__ import annotations

import onnx
import pytest

import paretosoc as dse
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.workload.with_options import with_dimensions
from paretosoc.dse.workload.workload import Workload, WorkloadNetwork, workload_of
from paretosoc.platforms.io.platform_file import load_platform
from tests.support.host_machines import tiny_model

MS = 10**9


def problem_of(**options):
    return dse.Problem(["squeezenet*2"], "jetson-agx-xavier", groups=2, **options).numeric


@pytest.mark.parametrize(
    ("given", "limits"),
    [
        ({"squeezenet": 5}, [5, 5]),
        ({"squeezenet#2": 5}, [None, 5]),
        ({"squeezenet": 5, "squeezenet#2": 3}, [5, 3]),
    ],
)
def test_limits_hold_for_all_copies(given, limits) -> None:
    networks = problem_of(deadline_ms=given).networks
    expected = [None if limit is None else limit * MS for limit in limits]
    assert [network.deadline_ps for network in networks] == expected


def test_batches() -> None:
    assert problem_of(batch={"squeezenet": 2}).images == (2, 2)
    assert problem_of(batch={"squeezenet": 2, "squeezenet#2": 4}).images == (2, 4)


@pytest.mark.parametrize(
    "batch", [{"squeezenet#2": [1, 2]}, {"squeezenet": [1, 2], "squeezenet#2": 4}]
)
def test_copies_have_one_choice_of_batches(batch) -> None:
    words = r"^batch: several batches are of all copies .*, got .* of 'squeezenet#2' alone"
    with pytest.raises(WorkloadError, match=words):
        problem_of(batch=batch, free_running=True, variants={"squeezenet": "squeezenet-batch1"})


@pytest.mark.parametrize(
    ("pins", "units"),
    [
        ({"squeezenet": {(0, 0): "gpu"}}, ["gpu", "gpu"]),
        ({"squeezenet": {(0, 0): "gpu"}, "squeezenet#2": {(0, 0): "dla0"}}, ["gpu", "dla0"]),
    ],
)
def test_fixed_units(pins, units) -> None:
    problem = problem_of(pins=pins)
    for network, unit in zip(problem.networks, units, strict=True):
        allowed = problem.allowed[network.first_group].nonzero()[0]
        assert [problem.units[u].name for u in allowed] == [unit]


def test_sizes() -> None:
    networks = tuple(WorkloadNetwork(name, "a.onnx") for name in ("a", "a#2", "b"))
    sized = with_dimensions(Workload(networks), [("n", 1), ("a#2:n", 3), ("a:n", 2)])
    assert [dict(network.dimensions) for network in sized.networks] == [
        {"n": 2},
        {"n": 3},
        {"n": 1},
    ]


def test_a_file_named_like_a_copy_has_variants(tmp_path) -> None:
    file = tmp_path / "model#2.onnx"
    onnx.save(tiny_model(2), str(file))
    with pytest.raises(WorkloadError, match="network 'model': the choice of a variant is required"):
        dse.Problem(str(file), "jetson-agx-xavier", batch=[1, 2], free_running=True)
    given = {"batch": [1, 2], "variants": {"model": "batch2"}, "free_running": True}
    assert dse.Problem(str(file), "jetson-agx-xavier", **given).numeric.images == (2,)


def test_different_files_of_one_name_are_told_apart(tmp_path) -> None:
    files = [tmp_path / folder / "model.onnx" for folder in ("one", "two")]
    for layers, file in enumerate(files, 2):
        file.parent.mkdir()
        onnx.save(tiny_model(layers), str(file))
    first, second = map(str, files)
    platform = load_platform("jetson-agx-xavier")
    built = build_problem(workload_of([first, second]), platform)
    assert built.warnings[0] == (
        f"model is {first}, model#2 is {second}: options for 'model' hold for all; a workload "
        "file gives them names of their own"
    )
    copies = build_problem(workload_of([f"{first}*2"]), platform)
    assert not any("hold for all" in text for text in copies.warnings)
