"""Memory pools of platform files, from the file to fronts and refusals."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import paretosoc as dse
from paretosoc.dse.errors import InfeasibleError, WorkloadError
from paretosoc.platforms.errors import PlatformError
from paretosoc.results.problem.objectives import ObjectiveKind
from paretosoc.sdf.grouping.activations import held_activation_elements
from paretosoc.sdf.grouping.network_view import layers_of

SOURCE: dict[str, str] = {"source": "datasheet", "status": "assumed"}
RECOMPUTE = Path(__file__).parents[2] / "support" / "recompute_front.py"
NETWORKS = ["resnet18", "mobilenet_v2"]


@pytest.fixture
def board(tmp_path):
    """An Orin whose first DLA has a memory of so many MiB; others load whole networks."""

    def make(mib=64, whole=(), **changes):
        units: list[dict[str, object]] = [{"name": "dla0", "memory_pool": "dla"}]
        units += [{"name": name, "loads_whole_networks": True} for name in whole]
        document = {
            "extends": "jetson-agx-orin",
            "name": "mine",
            "units": units,
            "memory_pools": [{"name": "dla", "capacity_mib": mib, **SOURCE}],
        }
        path = tmp_path / "mine.json"
        path.write_text(json.dumps({**document, **changes}))
        return path

    return make


def problem(platform, **options):
    arguments = {"groups": 3, "units": ["gpu", "dla0"], "objectives": ["latency", "memory"]}
    return dse.Problem(NETWORKS, platform, **(arguments | options))


def test_the_problem_has_the_pools_of_its_units(board):
    made = problem(board(), precision="int8,fp16")
    numeric = made.numeric
    assert [pool.name for pool in numeric.memory_pools] == ["shared", "dla"]
    assert [unit.memory_pool for unit in numeric.units] == [0, 0, 1, 1]
    for network, grouped in zip(numeric.networks, made.built.networks, strict=True):
        held = dict(
            zip(
                [layer.name for layer in layers_of(grouped.graph)],
                held_activation_elements(grouped.graph),
                strict=True,
            )
        )
        expected = [2 * max(held[layer.name] for layer in g.layers) for g in grouped.groups]
        assert list(network.group_activation_bytes) == expected
        assert network.activation_bytes == max(expected)
        assert len(set(expected)) > 1


def test_without_a_unit_of_a_pool_the_problem_is_that_of_the_plain_board(board):
    ours = problem(board(), units=["gpu", "dla1"]).numeric
    plain = problem("jetson-agx-orin", units=["gpu", "dla1"]).numeric
    assert ours.memory_pools == plain.memory_pools == ()
    assert ours.networks == plain.networks
    for a, b in zip(ours.units, plain.units, strict=True):
        assert np.array_equal(a.weight_bytes, b.weight_bytes)


def test_a_capacity_is_a_limit_where_a_mapping_could_need_more(board):
    free = problem(board(64), objectives=["latency"], precision="int8").numeric
    assert free.memory_pools == ()
    assert all(unit.weight_bytes is None for unit in free.units)
    tight = problem(board(8), objectives=["latency"], precision="int8").numeric
    assert {pool.name: pool.cap_bytes for pool in tight.memory_pools} == {
        "shared": None,
        "dla": 8 << 20,
    }
    assert tight.memory_cap_bytes is None


def test_caps_of_pools_and_of_all_together(board):
    caps = problem(board(8), memory_cap_mb={"dla": 4, "shared": 60.5}).numeric
    assert [pool.cap_bytes for pool in caps.memory_pools] == [60_500_000, 4_000_000]
    assert caps.memory_cap_bytes is None
    assert problem(board(8), memory_cap_mb={"dla": 90}).numeric.memory_pools[1].cap_bytes == 8 << 20
    assert problem(board(64), memory_cap_mb=50).numeric.memory_cap_bytes == 50_000_000


def test_pools_that_are_not_there_are_refused(board):
    with pytest.raises(WorkloadError, match=r"memory pool 'npu' \(shared, dla\)"):
        problem(board(), memory_cap_mb={"npu": 4})
    with pytest.raises(WorkloadError, match=r"memory pool 'dla' \(the units share one memory\)"):
        problem("jetson-agx-orin", memory_cap_mb={"dla": 4})
    with pytest.raises(WorkloadError, match=r"memory_cap_mb: a number from 10"):
        problem(board(), memory_cap_mb={"dla": 0})


def test_a_front_keeps_the_limit_of_a_pool_and_its_proof_is_checked(board, tmp_path):
    asked = problem(board(8), precision="int8", fixed={"gpu": "max", "cpu": "max", "emc": "max"})
    front = dse.certify(dse.explore(asked, max_evaluations=2000))
    assert front.is_complete
    front.save(tmp_path / "front", pictures=False)
    assert {check.verdict.value for check in dse.verify(tmp_path / "front")} == {"holds"}
    recomputed = subprocess.run(
        [sys.executable, "-I", "-S", str(RECOMPUTE), str(tmp_path / "front")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert recomputed.returncode == 0, recomputed.stdout
    used = set()
    numeric = asked.numeric
    for member in front:
        inside = [
            numeric.networks[n].groups[i]
            for n, name in enumerate(member.mapping)
            for i, unit in enumerate(member.mapping[name])
            if unit == "dla0"
        ]
        held = sum(int(numeric.units[1].weight_bytes[g]) for g in inside)
        for network in numeric.networks:
            own = [i for i, g in enumerate(network.groups) if g in inside]
            held += max((network.held_bytes[i] for i in own), default=0)
        assert held <= 8 << 20
        used.add(bool(inside))
    assert True in used


def test_what_does_not_fit_into_a_pool_is_named(board):
    pinned = {"resnet18": {(0, 2): "dla0"}}
    tight = problem(board(8), precision="int8", pins=pinned)
    with pytest.raises(
        InfeasibleError,
        match=r"memory of dla: at most 8.389 MB \(asked for, or of the board\), lowest",
    ):
        dse.explore(tight, max_evaluations=300)


def test_a_split_network_is_loaded_by_each_unit_that_loads_whole_networks(board):
    """Runtimes that load a model on every unit that runs a part of it."""
    whole = problem(board(whole=["gpu", "dla0"]), precision="fp16").numeric
    parts = problem(board(), precision="fp16").numeric
    assert all(unit.loads_whole_networks for unit in whole.units)
    memory = [o.kind for o in whole.objectives].index(ObjectiveKind.MEMORY)
    split = np.array([0, 1, 1, 0, 0, 0])
    rows = np.concatenate((split, [0] * len(whole.domains)))[None]

    def held(numeric):
        from paretosoc.fitness.objectives import make_outcomes

        return int(make_outcomes(numeric)(rows).objectives[0, memory])

    first, second = whole.networks
    weights = whole.units[0].weight_bytes
    both = 2 * weights[list(first.groups)].sum() + weights[list(second.groups)].sum()
    activations = held(parts) - parts.units[0].weight_bytes.sum()
    assert held(whole) == both + activations


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"memory_pools": []}, r"units\[\d\].memory_pool must name one of memory_pools"),
        (
            {"memory_pools": [{"name": "dla", "capacity_mib": 1, **SOURCE},
                              {"name": "npu", "capacity_mib": 1, **SOURCE}]},
            r"memory_pools\[1\] must be that of a unit, got 'npu'",
        ),
        (
            {"memory_pools": [{"name": "shared", "capacity_mib": 1, **SOURCE}]},
            "memory_pools.0..name must not be 'shared'",
        ),
        ({"memory_pools": [{"name": "dla", "capacity_mib": 0, **SOURCE}]}, "capacity_mib"),
        ({"memory_pools": [{"name": "dla", "capacity_mib": 1}]}, "source"),
    ],
)  # fmt: skip
def test_pools_of_a_platform_file_do_not_contradict_themselves(board, changes, named):
    with pytest.raises(PlatformError, match=named):
        problem(board(**changes))


def test_what_the_limit_of_a_pool_costs_is_found(board):
    """The smallest figure beyond the limit of one pool, other limits as they are."""
    asked = problem(
        board(64), precision="int8", objectives=["latency", "energy"],
        memory_cap_mb={"dla": 4, "shared": 100}, max_transitions="any",
    )  # fmt: skip
    front = dse.explore(asked, max_evaluations=2000)
    found = dse.limits(front)
    assert {price.limit for price in found.prices} == {"memory of dla [MB]"}
    assert found.free == ("memory of shared [MB]",)
    for price in found.prices:
        assert price.relaxed_to > 4
        assert price.without <= price.then < price.now
    assert asked.numeric.memory_pools[1].cap_bytes == 4_000_000


def test_the_smallest_relaxation_of_a_pool_that_helps_is_found(board):
    """Each limit is met alone: the deadline by the DLA, the memory of the DLA without it."""
    free = problem(board(64), precision="int8", units=["dla0", "dla1"], objectives=["latency"])
    fastest = dse.explore(free)["fastest"].latency_ms
    asked = problem(
        board(64), precision="int8", units=["dla0", "dla1"], objectives=["latency"],
        memory_cap_mb={"dla": 1}, deadline_ms=round(fastest + 0.01, 3),
    )  # fmt: skip
    with pytest.raises(InfeasibleError) as refused:
        dse.explore(asked, max_evaluations=500)
    lines = [line for line in str(refused.value).splitlines() if "memory of dla" in line]
    assert len(lines) == 1
    assert re.search("with all others as they are, .* is enough", lines[0]), lines
