"""Times of operations on an array of engines."""

from __future__ import annotations

from fractions import Fraction

import pytest

from paretosoc.dse.papers.mobile_i.operation_graph import fused_groups, split_operations
from paretosoc.dse.papers.mobile_i.pe_array import engine_array, task_graph
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.sdf.catalogue.catalogue import load_network

CHIP = load_platform("neurocube")
GROUPS = fused_groups(load_network("agenet").graph)


def test_work_and_bytes_by_hand() -> None:
    graph = task_graph(split_operations(GROUPS), GROUPS, CHIP, 16)
    times = {task.name: task.time_ps for task in graph.tasks}
    # 5 GHz, 1 MAC a cycle, 82.75 % of it; 100 ns to start.
    macs = 256 * 96 * 25 * 28 * 28
    assert times["conv2"] == round(Fraction(macs, 5) * 1000 / Fraction("0.8275")) + 100_000
    # fc6 reads its weights at a vault's 10 GB/s, two bytes each.
    size = 2 * (384 * 49 * 512 + 512 + 384 * 49 + 512)
    compute = Fraction(384 * 49 * 512, 5) * 1000 / Fraction("0.8275")
    longest = round(max(compute, Fraction(size * 100))) + 100_000
    # The 64-norm of the two is a little longer.
    assert longest <= times["fc6"] <= longest * 1.000001
    (edge,) = [e for e in graph.transfers if graph.tasks[e.target].name == "conv2"]
    assert edge.size_bytes == 2 * 96 * 28 * 28
    assert edge.memory_ps == 2 * (edge.size_bytes * 100 + 50_000)
    assert edge.cache_ps == edge.size_bytes * 100 + 10_000


def test_more_engines_share_the_vaults() -> None:
    sixteen, sixty_four = (
        task_graph(split_operations(GROUPS), GROUPS, CHIP, engines) for engines in (16, 64)
    )
    by_name = {task.name: task.time_ps for task in sixteen.tasks}
    slower = {t.name: Fraction(t.time_ps, by_name[t.name]) for t in sixty_four.tasks}
    assert slower["conv2"] == 1
    assert 3 < slower["fc6"] < 4


def test_parts_share_the_time() -> None:
    whole = task_graph(split_operations(GROUPS), GROUPS, CHIP, 16)
    parts = task_graph(split_operations(GROUPS, 4), GROUPS, CHIP, 16)
    assert abs(whole.work_ps - parts.work_ps) <= len(parts.tasks)


def test_power_at_rest() -> None:
    assert engine_array(CHIP, 32).idle_mw == 32 * 21 + 500


@pytest.mark.parametrize(
    ("platform", "engines", "words"),
    [("jetson-tx2", 16, "must have an array"), ("neurocube", 8, "required .16, 32, 64., got 8")],
)
def test_arrays_that_are_not_there(platform: str, engines: int, words: str) -> None:
    with pytest.raises(PlatformError, match=words):
        engine_array(load_platform(platform), engines)
