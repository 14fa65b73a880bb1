"""What was tried for Table 8: how demands grow, and what schedules of whole networks take."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.accuracy.table8_tried import with_more_demand, with_work_of_gpu
from examples.hax.prediction import built_workload, predict
from paretosoc.dse.workload.workload import workload_of
from tests.support.problems.small_problems import flat_loss, network, problem


@pytest.mark.parametrize(("memory_kbps", "expected"), [(1000, 30), (20, 20), (5, 10)])
def test_demands_grow_up_to_the_memory(memory_kbps: int, expected: int) -> None:
    """Of 10 kB/s, which may be more than the memory has already."""
    limited = replace(flat_loss("0"), memory_kbps=np.array([memory_kbps]))
    small = problem([network("a", 0, 1)], [[5]], demands_kbps=[10], contention=limited)
    (unit,) = with_more_demand(small).units
    assert unit.demand_kbps.tolist() == [[expected]]


def test_whole_networks_have_no_transitions() -> None:
    platform = "jetson-agx-orin-32gb"
    built = built_workload(workload_of(["vgg19", "resnet152"]), platform)
    delays = predict(built, platform)
    work = predict(replace(built, problem=with_work_of_gpu(built.problem)), platform)
    for method in ("gpu-only", "gpu-and-dsa"):
        assert work.ms[method] == delays.ms[method]
    assert work.ms["optimum"] > delays.ms["optimum"]
