"""Batches, from a workload file to costs, responses and figures per image."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import paretosoc as api
from benchmarks.problems.random_problem import (
    RandomShape,
    random_design,
    random_problem,
    with_rates,
)
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.space.members import make_members
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.read_options import parse_options, read_options
from paretosoc.dse.workload.variants import combinations, with_batches, with_variants
from paretosoc.dse.workload.with_options import period_of_rates_s, with_releases
from paretosoc.dse.workload.workload import Variant, Workload, WorkloadNetwork, workload_of
from paretosoc.dse.workload.workload_check import check_workload
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.fitness.execution import schedule_of
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.export.report_data import report_data
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.problem.execution import Rates
from paretosoc.results.problem.limits import constraints_of
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_file import problem_bytes, problem_from_bytes
from paretosoc.results.text.rates import image_lines
from tests.dse.tools.deploy.test_strong_types import small_network
from tests.support.problems import small_problems
from tests.support.problems.onnx_models import model, shape_only
from tests.support.recomputed import recomputed, recomputed_members


def with_waits(rng: np.random.Generator, problem: Problem) -> Problem:
    """Batches, and waits of up to two periods, for networks with rates."""
    period = problem.execution.period_ps or 0
    networks = [
        replace(
            network,
            batch=int(rng.integers(1, 9)),
            batch_wait_ps=int(rng.integers(0, 2 * period)) if rng.integers(2) else 0,
        )
        if network.paced
        else network
        for network in problem.networks
    ]
    return replace(problem, networks=tuple(networks))


def test_waits_are_those_of_the_plain_evaluator(tmp_path: Path) -> None:
    waited = over = 0
    for seed in range(50):
        rng = np.random.default_rng([51, seed])
        drawn = with_rates(rng, random_problem(rng, RandomShape(graphs=seed % 2 == 0)))
        problem = with_waits(rng, drawn)
        design = random_design(rng, problem)
        rows = design.row[None]
        outcomes, plain = make_outcomes(problem)(rows), plain_outcome(problem, design)
        assert tuple(outcomes.objectives[0].tolist()) == plain.objectives, seed
        limits = constraints_of(problem)
        broken = [
            limit.name
            for limit, value in zip(limits, outcomes.constraint_values[0], strict=True)
            if value > limit.limit
        ]
        assert broken == [entry.constraint for entry in plain.broken], seed
        waited += any(network.batch_wait_ps for network in problem.networks)
        over += bool(broken)
        data = problem_bytes(problem)
        assert problem_bytes(problem_from_bytes(data)) == data
        if seed < 15:
            members = make_members(problem, rows, outcomes.objectives)
            assert recomputed_members(tmp_path, problem, members) == 0, seed
    assert waited > 25
    assert over > 8


def test_a_batch_starts_with_its_last_image_and_counts_from_its_first() -> None:
    """Releases at 0 and 20 of a period of 40, complete 15 later, take 3, once 6 behind another."""
    batch = replace(
        small_problems.network("batch", 0, 1, repeats=2), paced=True, batch=4, batch_wait_ps=15
    )
    networks = [batch, small_problems.network("other", 1, 1)]
    networks[1] = replace(networks[1], arrival_ps=14)
    base = small_problems.problem(networks, [[3], [4]])
    kinds = (ObjectiveKind.RESPONSE, ObjectiveKind.MISSES)
    problem = replace(
        base, execution=Rates(40), objectives=tuple(Objective(kind, 0) for kind in kinds)
    )
    assert problem.late_ps(0) == 35
    outcomes = make_outcomes(problem)(np.array([[0, 0, 0]]))
    # The other runs from 14 to 18; the first batch from 18 to 21, the second from 35 to 38.
    assert outcomes.objectives.tolist() == [[21, 0]]
    late = replace(problem, networks=(replace(batch, deadline_ps=20), networks[1]))
    assert make_outcomes(late)(np.array([[0, 0, 0]])).objectives.tolist() == [[21, 1]]


def test_rates_are_of_images() -> None:
    networks = (
        WorkloadNetwork("a", "x", rate_hz=Fraction(120), batch=8),
        WorkloadNetwork("b", "x", rate_hz=Fraction(30)),
    )
    assert period_of_rates_s(networks) == Fraction(1, 15)
    assert [n.repeats for n in with_releases(Workload(networks)).networks] == [1, 2]
    assert networks[0].batch_wait_ms == Fraction(7 * 1000, 120)
    assert networks[1].batch_wait_ms == 0


def parsed(texts: list[str]) -> Options:
    return parse_options({"batch": texts})


def test_options_give_batches_and_one_network_wins() -> None:
    workload = workload_of(["a", "b"])
    given = with_batches(workload, parsed(["4", "b=2"]))
    assert [network.batch for network in given.networks] == [4, 2]
    assert with_batches(given, Options()).networks == given.networks
    for text, named in (
        ("c=2", r"no network 'c' .*a, b"),
        ("a=0", r"integer N from 1 to 1000 is required, got 'a=0'"),
        ("x", r"integer N from 1 to 1000 is required"),
    ):
        with pytest.raises(WorkloadError, match=f"batch: .*{named}"):
            with_batches(workload, parsed([text]))


def test_several_batches_are_variants() -> None:
    networks = (
        *(WorkloadNetwork(name, "squeezenet", rate_hz=Fraction(30)) for name in ("a", "a#2")),
        WorkloadNetwork("b", "vgg19", rate_hz=Fraction(10)),
    )
    workload = Workload(networks)
    options = parsed(["2", "a=1,2,4", "a=4"])
    assert read_options({"batch": {None: 2, "a": [1, 2, 4, 4]}}).batch == options.batch
    found = combinations(workload, options)
    assert [each.names for each in found] == [{"a": f"batch{size}"} for size in (1, 2, 4)]
    one = with_variants(workload, replace(options, variants=(("a", "batch4"),)))
    assert [network.batch for network in one.networks] == [4, 4, 2]
    assert [network.source for network in one.networks] == ["squeezenet"] * 2 + ["vgg19"]
    two = tuple(Variant(name, name) for name in ("vgg16", "vgg19"))
    sized = Workload((*networks[:2], replace(networks[2], source="", variants=two)))
    names = [each.names["b"] for each in combinations(sized, parsed(["b=1,8"]))]
    assert names == ["vgg16-batch1", "vgg16-batch8", "vgg19-batch1", "vgg19-batch8"]
    given = combinations(sized, parsed(["b=8"]))
    assert [each.variants["b"].batch for each in given] == [8, 8]
    with pytest.raises(WorkloadError, match=r"'a': the choice of a variant .* batch1, batch2, "):
        with_variants(workload, options)
    with pytest.raises(WorkloadError, match="'a': variants: batches differ, which needs rate_hz"):
        with_batches(workload_of(["a"]), parsed(["1,2"]))
    running = replace(parsed(["1,2"]), free_running=True)
    assert len(combinations(workload_of(["a"]), running)) == 2


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"batch": 0}, "batch must be at least 1, got 0"),
        ({"batch": 1001}, "batch must be at most 1000, got 1001"),
        ({"batch": 2, "grows": (("past", 1),), "dimensions": (("past", 1),)}, "batch excludes"),
    ],
)
def test_what_is_no_batch_is_refused(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(WorkloadError, match=f"'a': {named}"):
        check_workload(Workload((WorkloadNetwork("a", "x", **fields),)))


def test_a_prompt_that_another_network_continues_is_no_batch() -> None:
    """Its cache would be that of several prompts, and the answer that of one."""
    phase = {"dimensions": (("past", 1),), "grows": (("past", 1),)}
    prompt = WorkloadNetwork("prompt", "x", batch=2)
    answer = WorkloadNetwork("answer", "x", waits_for=("prompt",), continues="prompt", **phase)
    check_workload(Workload((replace(prompt, batch=1), answer)))
    with pytest.raises(WorkloadError, match="'answer': continues 'prompt', whose batch must be 1"):
        check_workload(Workload((prompt, answer)))


def test_inputs_must_be_one_image(tmp_path: Path) -> None:
    nodes = [onnx.helper.make_node("Gemm", ["x", "w"], ["y"], "gemm")]
    proto = model(nodes, {"x": ["batch", 4]}, ["y"], [shape_only("w", 4, 2)])
    (tmp_path / "small.onnx").write_bytes(proto.SerializeToString())
    workload = Workload(
        (WorkloadNetwork("a", str(tmp_path / "small.onnx"), dimensions=(("batch", 2),), batch=2),)
    )
    with pytest.raises(WorkloadError, match=r"'a': batch 2 multiplies inputs whose first .*\[2, "):
        api.Problem(workload, "jetson-agx-orin")


def test_figures_per_image() -> None:
    problem = api.Problem(
        ["squeezenet", "alexnet"],
        "jetson-agx-xavier",
        groups=2,
        batch={"squeezenet": 4},
        free_running=True,
        min_rate_hz={"squeezenet": 10},
        objectives=["throughput", "energy"],
    )
    numeric = problem.numeric
    assert [network.min_rate_uhz for network in numeric.networks] == [10_000_000, None]
    front = api.explore(problem, max_evaluations=200, seed=1)
    member = front[0]
    run = member.numeric.free_run
    assert run is not None
    rates = [images * 1e12 / ps for images, ps in zip((4, 1), run.periods_ps, strict=True)]
    assert rates[0] >= 10
    assert member.images_per_second == pytest.approx(
        {"squeezenet": rates[0], "alexnet": rates[1]}, rel=1e-6
    )
    assert member.values["throughput"] == pytest.approx(sum(rates) / 2, rel=1e-6)
    # The power over the images of all networks.
    assert member.energy_per_image_mj == member.energy_mj
    assert "images per second: squeezenet" in "\n".join(image_lines(numeric, member.numeric))


@pytest.mark.parametrize("free_running", [False, True])
def test_a_batch_counts_as_its_images(free_running: bool) -> None:
    """More images at once are more per second and joule, in every implementation."""
    found = []
    for batch in (1, 8):
        problem = api.Problem(
            ["resnet50", "mobilenet_v2"],
            "jetson-agx-xavier",
            groups=2,
            batch={"resnet50": batch},
            free_running=free_running,
            objectives=["throughput", "efficiency", "energy"],
        )
        member = api.evaluate(problem, {"resnet50": "gpu", "mobilenet_v2": "dla0"}).member
        numeric = problem.numeric
        assert numeric.images == (batch, 1)
        plain = plain_outcome(numeric, member.numeric.design)
        assert tuple(member.numeric.objectives) == tuple(plain.objectives)
        found.append(member)
    one, eight = found
    assert eight.images_per_second["resnet50"] > one.images_per_second["resnet50"]
    assert eight.values["throughput"] > one.values["throughput"]
    assert eight.values["efficiency"] > one.values["efficiency"]
    assert eight.energy_per_image_mj < one.energy_per_image_mj
    for member in found:
        mean = sum(member.images_per_second.values()) / 2
        assert member.values["throughput"] == pytest.approx(mean, rel=1e-6)
        assert member.values["efficiency"] == pytest.approx(1e3 / member.energy_per_image_mj)


def test_from_a_file_to_the_results(dse: Callable[..., Any], tmp_path: Path) -> None:
    onnx.save(small_network(), str(tmp_path / "small.onnx"))
    (tmp_path / "batch.yaml").write_text(
        "networks:\n  - {name: classify, network: small.onnx, batch: 8, rate_hz: 120}\n"
        "  - {name: detect, network: small.onnx, rate_hz: 30}\n"
    )
    folder = tmp_path / "run"
    command = ("explore", tmp_path / "batch.yaml", "-p", "jetson-agx-orin", "--units", "gpu,dla0")
    ran = dse(*command, "--precision", "fp16", "--max-evaluations", "200", "-o", folder)
    assert ran.status == 0, ran.err
    problem = read_results(folder).problem
    assert [(n.batch, n.batch_wait_ps) for n in problem.networks] == [
        (8, math.ceil(7 * 10**12 / 120)),
        (1, 0),
    ]
    assert dse("verify", folder).status == 0
    assert recomputed(folder) == 0
    shown = dse("show", folder, "--member", "0").out
    assert "images per second: classify 120.0, detect 30.00" in shown
    table = " ".join(dse("show", folder).out.split())
    each = re.search(r"energy per image: (\S+) mJ", shown)
    assert each is not None
    assert "per image" in table
    assert f" {each[1]} " in table
    assert "A release of classify is a batch of 8 images." in table
    assert "of detect is a batch" not in table
    report = report_data(read_results(folder), schedule_of)
    assert "A release of classify is a batch of 8 images." in report["sentences"]
    assert json.loads((folder / "costs.json").read_text())["networks"][0]["source"]["batch"] == 8
    deployed = tmp_path / "models"
    assert dse("deploy", folder, "--to", "onnx", "-o", deployed).status == 0
    document = json.loads((deployed / "deployment.json").read_text())
    assert document["networks"][0]["source"]["batch"] == 8
    first = [network["segments"][0]["inputs"][0]["shape"][0] for network in document["networks"]]
    assert first == [8, 1]


def test_a_profile_of_another_batch_is_named(tmp_path: Path) -> None:
    record = {
        "network": "squeezenet", "precision": "fp16", "batch": 8, "source": "a test",
        "clocks_mhz": {"gpu": 1377, "emc": 2133}, "status": "measured",
        "layers": [{"name": "conv10", "ms": {"gpu": 1}}],
    }  # fmt: skip
    path = tmp_path / "profile.json"
    path.write_text(json.dumps({"platform": "jetson-agx-xavier", "networks": [record]}))
    problem = api.Problem("squeezenet", "jetson-agx-xavier", groups=2, batch=4, profile=path)
    (warning,) = (text for text in problem.warnings if text.startswith("profile: "))
    assert "'squeezenet' in batches of 8 in fp16 are not used" in warning
    assert "the workload has squeezenet in batches of 4" in warning
    same = api.Problem(
        "squeezenet", "jetson-agx-xavier", groups=2, batch=8, profile=path, precision="int8"
    )
    (warning,) = (text for text in same.warnings if text.startswith("profile: "))
    assert warning.endswith("in batches of 8 in int8; precision='fp16' uses them")


def test_a_batch_measured_on_this_machine_is_one_of_the_profile(
    dse: Callable[..., Any], tmp_path: Path
) -> None:
    pytest.importorskip("onnxruntime")
    onnx.save(small_network(), str(tmp_path / "small.onnx"))
    model = tmp_path / "small.onnx"
    measured = ("profile", model, "--groups", "2", "--frames", "3", "-q")
    assert dse(*measured, "--batch", "3", "-o", tmp_path / "host").status == 0
    (record,) = json.loads((tmp_path / "host/profile.json").read_text())["networks"]
    problem = api.Problem(
        str(model),
        tmp_path / "host/platform.json",
        groups=2,
        batch=3,
        profile=tmp_path / "host/profile.json",
        objectives=["latency"],
    )
    assert record["batch"] == 3
    # Of one image, as the groups have three times as many.
    groups = problem.built.networks[0].groups
    assert record["macs"] * 3 == sum(group.macs for group in groups)
    assert {o.origin.value for g in problem.costs.networks[0].groups for o in g.by_unit} == {
        "measured"
    }
    assert not [text for text in problem.warnings if text.startswith("profile")]


def test_a_mean_rate_has_the_rates_that_it_is_made_of(tmp_path: Path) -> None:
    text = "networks: [{network: squeezenet}, {network: resnet18, repeats: 4}]"
    (tmp_path / "w.yaml").write_text(text)
    front = api.explore(
        tmp_path / "w.yaml", "jetson-orin-nano-8gb", groups=2, objectives=["throughput", "energy"],
        max_evaluations=20,
    )  # fmt: skip
    member = front[0]
    energy = front.numeric.problem.objectives[1]
    assert energy.heading(front.numeric.problem) == "mJ/frame"
    slow, fast = member.images_per_second.values()
    assert (slow + fast) / 2 == pytest.approx(member.values["throughput"])
    lines = image_lines(front.numeric.problem, member.numeric)
    assert lines[0].startswith("energy per image: ")
    assert float(lines[0].split()[3]) == pytest.approx(member.energy_mj / 5, rel=1e-3)
    assert lines[1] == f"images per second: squeezenet {slow:.4g}, resnet18 {fast:.4g}"
