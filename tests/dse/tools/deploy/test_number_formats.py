"""Deployments of members whose groups have several number formats: an engine for each stretch."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pytest

from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.costs.costs_file import costs_from_bytes
from paretosoc.results.deploy.deployment import Deployment
from paretosoc.results.deploy.trtexec_script import trtexec_script
from paretosoc.results.export.result_folder import read_results
from tests.dse.tools.deploy.test_strong_types import explored, small_network

MIXED = ("gpu:int8", "gpu:fp16", "dla0:fp16")


@pytest.fixture
def run(dse, tmp_path):
    """The folder of a result."""
    return explored(dse, tmp_path, "jetson-agx-orin", precision="int8,fp16", units=MIXED)[1]


def test_each_stretch_has_an_engine_in_its_format(dse, run, tmp_path):
    ran = dse("deploy", run, "--to", "trtexec", "-o", tmp_path / "out")
    assert (ran.status, ran.err) == (0, "")
    script = (tmp_path / "out" / "engines.sh").read_text()
    build = script.partition("run()")[0]
    engines = [line for line in build.splitlines() if "--saveEngine=" in line]
    flags = [{word for word in line.split() if word.startswith("--")} for line in engines]
    assert [{"--int8", "--fp16"} & options for options in flags] == [
        {"--int8"},
        {"--fp16"},
        {"--fp16"},
    ]
    assert ["--useDLACore=0" in options for options in flags] == [False, False, True]
    assert "TensorRT 10" in script
    assert "No engine of the whole" in script
    assert len(list((tmp_path / "out").glob("*.onnx"))) == 3, "the whole is not written for nothing"
    document = json.loads((tmp_path / "out" / "deployment.json").read_text())
    (network,) = document["networks"]
    assert [(s["unit"], s["number_format"]) for s in network["segments"]] == [
        tuple(option.split(":")) for option in MIXED
    ]
    # The parts, one after the other, are the network.
    values = {"image": np.random.default_rng(1).normal(size=(1, 3, 16, 16)).astype(np.float32)}
    whole = onnxruntime.InferenceSession(small_network().SerializeToString())
    (expected,) = whole.run(["y"], values)
    for segment in network["segments"]:
        part = onnx.load(str(tmp_path / "out" / segment["file"]))
        names = [value.name for value in part.graph.output]
        session = onnxruntime.InferenceSession(part.SerializeToString())
        given = {value.name: values[value.name] for value in part.graph.input}
        values.update(zip(names, session.run(names, given), strict=True))
    assert np.array_equal(values["y"], expected)


def test_triton_has_a_model_for_each_stretch(dse, run, tmp_path):
    ran = dse("deploy", run, "--to", "triton", "-o", tmp_path / "out", "--no-check")
    assert ran.status == 0, ran.err
    folders = sorted(path.name for path in (tmp_path / "out").iterdir() if path.is_dir())
    assert folders == ["small", "small.0.gpu.int8", "small.1.gpu.fp16", "small.2.dla0.fp16"]


@pytest.mark.parametrize("target", ["json", "sysfs", "nvpmodel", "onnx"])
def test_what_needs_no_format_is_written(dse, run, tmp_path, target):
    ran = dse("deploy", run, "--to", target, "-o", tmp_path / "out")
    assert ran.status == 0, ran.err
    assert (tmp_path / "out" / "deployment.json").exists()


@pytest.mark.parametrize("target", ["deepstream", "onnxruntime", "openvino"])
def test_one_format_for_a_network_is_refused(dse, run, tmp_path, target):
    ran = dse("deploy", run, "--to", target, "-o", tmp_path / "out")
    assert ran.status == 2
    assert " has one number format for all groups, got int8, fp16" in ran.err


def test_a_version_without_options_for_formats_is_refused(dse, run, tmp_path):
    ran = dse("deploy", run, "--to", "trtexec", "--tensorrt", "11", "-o", tmp_path / "out")
    assert ran.status == 2
    assert "a version below 11 is required" in ran.err


def on_dla(folder, limit):
    """The member with all three groups on the DLA in two formats, int8 in the middle."""
    front = read_results(folder)
    problem = front.problem
    place = {unit.name: u for u, unit in enumerate(problem.units)}
    units = tuple(
        replace(unit, max_segments=limit) if unit.max_segments is not None else unit
        for unit in problem.units
    )
    design = replace(
        front.members[0].design,
        units=np.array([place[f"dla0:{name}"] for name in ("fp16", "int8", "fp16")]),
    )
    member = replace(front.members[0], design=design)
    origins = costs_from_bytes((folder / "costs.json").read_bytes(), problem)
    problem = replace(problem, units=units, allowed=np.ones_like(problem.allowed))
    front = replace(front, problem=problem, members=(member,))
    return Deployment(front, 0, load_platform("jetson-agx-orin"), origins)


def test_a_dla_loads_as_many_engines_as_the_search_counts_segments(run):
    """Three, though nothing changes unit."""
    for limit in (2, 3):
        deployment = on_dla(run, limit)
        problem, design = deployment.problem, deployment.member.design
        assert len(deployment.segments(0)) == 3
        assert make_outcomes(problem)(design.row[None, :]).feasible.tolist() == [limit == 3]
        broken = [entry.why for entry in plain_outcome(problem, design).broken]
        assert broken == ["dla0 has 3 segments, at most 2 allowed"] * (limit == 2)


def test_many_weights_get_a_larger_pool(run):
    deployment = on_dla(run, 16)
    assert "memPoolSize" not in trtexec_script(deployment, (10, 7))
    origins = deployment.origins
    sizes = (268_435_456, 536_870_913, 268_435_457)
    groups = [
        replace(group, parameters=size)
        for group, size in zip(origins.networks[0].groups, sizes, strict=True)
    ]
    network = replace(origins.networks[0], groups=tuple(groups))
    script = trtexec_script(
        replace(deployment, origins=replace(origins, networks=(network,))), (10, 7)
    )
    # Two bytes each fit exactly, one byte each is one too much, two bytes each are two too much.
    built = [line for line in script.splitlines() if "--saveEngine=" in line]
    assert [line.partition("--memPoolSize=")[2] for line in built] == [
        "",
        "dlaGlobalDRAM:1024",
        "dlaGlobalDRAM:1024",
    ]
