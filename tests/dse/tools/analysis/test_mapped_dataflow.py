"""Mapped networks as cyclo-static graphs: pipelined they run at phi_1."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.problems.random_problem import (
    RandomShape,
    random_design,
    random_pipeline,
    random_problem,
)
from paretosoc.dse.cli.main import run
from paretosoc.dse.tools.analysis.csdf import mapped_dataflow
from paretosoc.fitness.check.members.closed_form import plain_loads
from paretosoc.results.problem.execution import ChannelUse
from paretosoc.sdf.analysis.throughput import execution_times, self_timed_throughput
from paretosoc.sdf.formats.graph_json import read_graph

SHAPE = RandomShape(networks=(1, 2), groups=(1, 6), units=(1, 4), points=(1, 2))


@pytest.mark.parametrize("channels", ChannelUse)
def test_pipelined_with_its_buffers_it_runs_at_phi_1(channels):
    slower = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        problem = random_pipeline(rng, random_problem(rng, SHAPE), channels)
        for _ in range(3):
            design = random_design(rng, problem)
            loads = plain_loads(problem, design)
            result = mapped_dataflow(problem, design, "random")
            assert result.period_ps == loads.period_ps
            used = sorted(set(design.units.tolist()))
            assert result.load_ps == tuple(loads.load_ps[u] for u in used)
            assert result.in_order_period_ps >= result.period_ps
            graph = result.in_order
            free = replace(graph, channels=tuple(replace(c, capacity=None) for c in graph.channels))
            fastest = self_timed_throughput(free, execution_times(free))
            assert fastest.period <= result.in_order_period_ps
            slower += result.in_order_period_ps > result.period_ps
    assert slower > 20


def test_initial_tokens_say_what_is_pipelined():
    rng = np.random.default_rng(1)
    shape = RandomShape(
        networks=(1, 1), groups=(3, 3), units=(2, 2), graphs=False, waiting=False, unsupported=0.0
    )
    problem = random_pipeline(rng, random_problem(rng, shape), ChannelUse.BETWEEN_UNITS)
    problem = replace(problem, edge_tokens=np.array([10, 20], dtype=np.int64))
    design = random_design(rng, problem)
    design = replace(design, units=np.array([0, 1, 0], dtype=np.int64))
    result = mapped_dataflow(problem, design, "chain")
    assert result.frames_ahead == 2
    assert [c.initial_tokens for c in result.pipelined.channels] == [10, 20]
    assert [c.capacity for c in result.pipelined.channels] == [20, 40]
    assert [c.initial_tokens for c in result.in_order.channels] == [0, 0]
    assert [c.production for c in result.pipelined.channels] == [(10, 0), 20]
    assert [c.consumption for c in result.pipelined.channels] == [10, (0, 20)]
    # In order, the three wait for each other.
    loads = plain_loads(problem, design)
    assert result.in_order_period_ps == sum(loads.load_ps)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("csdf") / "run"
    command = ["papers", "explore", "bvlc_alexnet", "-p", "jetson-tx2"]
    command += ["--objective", "throughput"]
    command += ["--objective", "energy", "--throughput-model", "analytic", "--fix", "emc=max"]
    assert run([*command, "--max-evaluations", "1000", "-o", str(where), "--quiet"]) == 0
    return where


def test_one_unit_has_one_frame(dse, tmp_path):
    command = ("explore", "bvlc_alexnet", "-p", "jetson-orin-nano-8gb", "--max-evaluations", "10")
    assert dse(*command, "--max-nodes", "0", "-q", "-o", tmp_path / "run").status == 0
    shown = dse("analyze", "csdf", tmp_path / "run").out
    assert "Software-pipelined over 1 frame: " in shown


def test_the_command_shows_and_writes(dse, folder, tmp_path):
    for name in ("graph.json", "graph.xml"):
        outcome = dse("analyze", "csdf", folder, "--member", "0", "-o", tmp_path / name)
        assert outcome.status == 0, outcome.err
        assert "one actor per unit" in outcome.out
        assert "Software-pipelined over" in outcome.out
        assert (tmp_path / name).stat().st_size > 500
    document = json.loads(dse("analyze", "csdf", folder, "--member", "0", "--json").out)
    front = json.loads((folder / "front.json").read_text())
    period = front["members"][0]["objectives"]["time_per_image_ps"]
    figures = document["throughput"]
    assert figures["frames_per_second"] == pytest.approx(1e12 / period, rel=1e-12)
    assert figures["in_order_frames_per_second"] <= figures["frames_per_second"]
    written = json.loads((tmp_path / "graph.json").read_text())
    assert written["channels"] == document["channels"]


@pytest.mark.parametrize("ending", ["json", "xml"])
@pytest.mark.parametrize("order", ["--in-order", None])
def test_what_it_writes_can_be_read_and_analysed(dse, folder, tmp_path, ending, order):
    options = [order] if order else []
    file = tmp_path / f"graph.{ending}"
    outcome = dse("analyze", "csdf", folder, "--member", "knee", "-o", file, "--json", *options)
    assert outcome.status == 0, outcome.err
    written = json.loads(outcome.out)
    outcome = dse("sdf", file, "--json")
    assert outcome.status == 0, outcome.err
    report = json.loads(outcome.out)
    rate = "in_order_frames_per_second" if order else "frames_per_second"
    assert report["throughput"]["iterations_per_time_unit"]["value"] * 1e12 == pytest.approx(
        written["throughput"][rate], rel=1e-12
    )
    assert {actor["name"]: actor["phases"] for actor in report["actors"]} == {
        actor["name"]: len(actor["phases"]) for actor in written["actors"]
    }
    limits = {channel["name"]: channel["capacity"] for channel in written["channels"]}
    buffers = report["buffers_for_throughput"]
    assert {entry["channel"] for entry in buffers["capacities"]} == set(limits)
    assert all(entry["tokens"] <= limits[entry["channel"]] for entry in buffers["capacities"])
    assert buffers["throughput"]["period"] == report["throughput"]["period"]
    graph = read_graph(file)
    assert [len(actor.phases) for actor in graph.actors] == [
        len(actor["phases"]) for actor in written["actors"]
    ]
    text = dse("sdf", file).out
    assert f"{len(graph.actors)} actors" in text


def test_a_file_is_not_replaced_and_its_ending_says_its_format(dse, folder, tmp_path):
    path = tmp_path / "graph.json"
    path.write_text("kept")
    assert dse("analyze", "csdf", folder, "-o", path).status == 2
    assert path.read_text() == "kept"
    assert dse("analyze", "csdf", folder, "-o", tmp_path / "graph.txt").status == 2
