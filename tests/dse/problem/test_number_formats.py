"""Problems whose groups choose among number formats, from networks and platforms."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem.build import BuiltProblem, build_problem
from paretosoc.dse.workload.options import Options, ThroughputModel
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.fitness.profiles.loss_table import load_losses
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.problem.problem_check import check_problem
from paretosoc.results.problem.problem_file import problem_bytes

ORIN = load_platform("jetson-agx-orin")
NETWORKS = ("alexnet", "mobilenet_v2")


def built(precision: str | None, *, losses: Path | None = None, **options: object) -> BuiltProblem:
    formats = None if precision is None else tuple(precision.split(","))
    return build_problem(
        workload_from(list(NETWORKS)),
        ORIN,
        Options(precision=formats, groups=4, **options),  # type: ignore[arg-type]
        losses=None if losses is None else load_losses(losses),
    )


@pytest.fixture(scope="module")
def mixed() -> BuiltProblem:
    return built("int8,fp16")


def test_one_format_is_the_problem_as_ever() -> None:
    alone = built("int8").problem
    assert not alone.has_formats
    assert [unit.name for unit in alone.units] == [unit.name for unit in ORIN.units]
    assert b"number_format" not in problem_bytes(alone)
    assert b"loss_ppm" not in problem_bytes(alone)


def test_an_option_costs_what_its_format_costs_alone(mixed: BuiltProblem) -> None:
    problem = mixed.problem
    check_problem(problem)
    assert mixed.precision == "int8,fp16"
    place = {(unit.unit, unit.number_format): u for u, unit in enumerate(problem.units)}
    assert len(place) == 2 * len(ORIN.units)
    for name in ("int8", "fp16"):
        alone = built(name).problem
        here = [place[unit.name, name] for unit in alone.units]
        for u, unit in zip(here, alone.units, strict=True):
            for table in ("time_ps", "demand_kbps", "dynamic_mw"):
                assert np.array_equal(getattr(problem.units[u], table), getattr(unit, table))
        assert np.array_equal(problem.transition_ps[:, here][:, :, here], alone.transition_ps)
        assert np.array_equal(problem.allowed[:, here], alone.allowed)
    idle = [unit.idle_mw for unit in built("int8").problem.units]
    firsts = [unit for u, unit in enumerate(problem.units) if problem.unit_of[u] == u]
    assert all(np.array_equal(a.idle_mw, b) for a, b in zip(firsts, idle, strict=True))


def test_converting_takes_a_launch_and_both_tensors(mixed: BuiltProblem) -> None:
    problem = mixed.problem
    place = {unit.name: u for u, unit in enumerate(problem.units)}
    gpu = ORIN.unit_by_name["gpu"]
    memory = ORIN.domain_by_name[ORIN.memory.domain].operating_points[-1].frequency_khz
    kbps = ORIN.memory.bytes_per_cycle * memory * gpu.bandwidth_share
    elements = problem.edge_tokens
    assert elements is not None
    for e, count in enumerate(elements.tolist()):
        # One byte and two: INT8 and FP16.
        expected = Fraction(3 * count * 10**9) / kbps + 1000 * gpu.fixed_ns_per_layer
        there = problem.transition_ps[e, place["gpu:int8"], place["gpu:fp16"]]
        back = problem.transition_ps[e, place["gpu:fp16"], place["gpu:int8"]]
        assert abs(there - expected) <= 1
        assert there == back


def test_a_dla_has_no_fp32() -> None:
    problem = built("fp32,int8").problem
    names = [unit.name for unit in problem.units]
    assert "gpu:fp32" in names
    assert "dla0:int8" in names
    assert "dla0:fp32" not in names


def test_a_unit_without_any_of_the_formats_stays_and_draws_power() -> None:
    problem = built("fp32,fp16", units=("gpu", "dla0")).problem
    assert [unit.name for unit in problem.units] == ["gpu:fp32", "gpu:fp16", "dla0:fp16"]


def test_a_pin_is_to_a_unit_or_to_one_of_its_formats() -> None:
    pins = (("alexnet", 0, 1, "gpu"), ("alexnet", 2, 2, "gpu:fp16"))
    problem = built("int8,fp16", pins=pins).problem
    names = np.array([unit.name for unit in problem.units])
    for g, wanted in enumerate((["gpu:int8", "gpu:fp16"], ["gpu:int8", "gpu:fp16"], ["gpu:fp16"])):
        assert names[problem.allowed[g]].tolist() == wanted
    with pytest.raises(WorkloadError, match="there is no unit 'gpu:fp32'"):
        built("int8,fp16", pins=(("alexnet", 0, 1, "gpu:fp32"),))


def test_losses_are_added_up_by_group(tmp_path: Path) -> None:
    path = tmp_path / "losses.csv"
    rows = [
        f"{name},*,{form},{ppm}" for name in NETWORKS for form, ppm in (("int8", 7), ("fp16", 1))
    ]
    path.write_text("network,layer,format,loss_ppm\n" + "\n".join(rows))
    found = built(
        "int8,fp16",
        losses=path,
        objectives=("latency", "accuracy-loss", "accuracy-loss:alexnet"),
        max_accuracy_loss_percent=((None, Fraction(1, 2)), ("alexnet", Fraction(1, 100))),
    )
    problem = found.problem
    # In these networks nothing else multiplies.
    layers = [
        sum(layer.operation in ("Conv", "Gemm", "MatMul") for layer in group.layers)
        for network in found.networks
        for group in network.groups
    ]
    for unit in problem.units:
        each = 7 if unit.number_format == "int8" else 1
        assert unit.loss_ppm is not None
        assert unit.loss_ppm.tolist() == [each * count for count in layers]
    assert [network.max_loss_ppm for network in problem.networks] == [100, 5000]
    assert path.name in [entry.name for entry in found.inputs]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"objectives": ("accuracy-loss",)}, "the objective accuracy-loss: losses is required"),
        (
            {"max_accuracy_loss_percent": ((None, Fraction(1)),)},
            "max_accuracy_loss_percent: losses is required",
        ),
        (
            {
                "objectives": ("throughput",),
                "throughput_model": ThroughputModel.ANALYTIC,
            },
            "throughput_model: the closed form has one number format",
        ),
    ],
)
def test_what_means_nothing_is_refused(options: dict[str, object], named: str) -> None:
    with pytest.raises(WorkloadError, match=named):
        built("int8,fp16", **options)


@pytest.mark.parametrize("precision", ["int8,int8", "int8,fp8", "int8,"])
def test_formats_that_are_none_are_refused(precision: str) -> None:
    with pytest.raises(PlatformError, match="precision"):
        built(precision)
