"""``dse analyze costs``: the figures are those of problem.json, their origins those of the cost
tables.
"""

import json

import numpy as np
import pytest

from paretosoc.dse.api.evaluation import evaluate
from paretosoc.dse.api.problem import Problem
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem.build import build_problem, cost_origins
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload import workload_of
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.costs.cost_origins import CostOrigin
from paretosoc.results.costs.costs_file import (
    check_origins,
    costs_bytes,
    costs_from_bytes,
    costs_to_document,
)
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import read_costs, read_results
from paretosoc.results.io.canonical_json import canonical_bytes, content_sha256


@pytest.fixture(scope="module")
def built():
    """GoogLeNet has measured groups on Xavier, VGG-19 a measured total, SqueezeNet nothing."""
    return build_problem(
        workload_of(["vgg19", "squeezenet", "vgg19"]),
        load_platform("jetson-agx-xavier"),
        Options(groups=5),
    )


def test_origins_are_those_of_the_cost_tables(built):
    origins = cost_origins(built)
    assert origins.precision == "fp16"
    assert [network.name for network in origins.networks] == ["vgg19", "squeezenet", "vgg19#2"]
    by_name = {network.name: network.groups for network in origins.networks}
    gpu = [unit.name for unit in built.problem.units].index("gpu")
    assert {g.by_unit[gpu].origin for g in by_name["vgg19"]} == {CostOrigin.CALIBRATED}
    assert {g.by_unit[gpu].origin for g in by_name["squeezenet"]} == {CostOrigin.ESTIMATED}
    assert all("5.95 ms" in group.by_unit[gpu].text for group in by_name["vgg19"])
    layers = [layer.name for g in built.networks[0].groups for layer in g.layers]
    assert [name for group in by_name["vgg19"] for name in group.layers] == layers
    assert sum(group.macs for group in by_name["vgg19"]) == pytest.approx(19.6e9, rel=0.01)


def test_measured_groups_of_googlenet():
    built = build_problem(
        workload_of(["googlenet"]), load_platform("jetson-agx-xavier"), Options(units=("gpu",))
    )
    groups = cost_origins(built).networks[0].groups
    assert CostOrigin.MEASURED in {group.by_unit[0].origin for group in groups}


def test_document_round_trip(built):
    origins = cost_origins(built)
    data = costs_bytes(origins, built.problem)
    assert costs_from_bytes(data, built.problem) == origins
    assert costs_bytes(costs_from_bytes(data, built.problem), built.problem) == data


def _changes():
    def drop_unit(document):
        del document["networks"][0]["units"]["gpu"]

    def other_problem(document):
        document["problem_sha256"] = "0" * 64

    def rename_group(document):
        document["networks"][0]["groups"][0]["name"] = "x"

    def drop_network(document):
        del document["networks"][0]

    def short_column(document):
        document["networks"][0]["units"]["gpu"]["origin"].pop()

    def wild_text(document):
        document["networks"][0]["units"]["gpu"]["text"][0] = 99

    def unknown_origin(document):
        document["networks"][0]["units"]["gpu"]["origin"][0] = "guessed"

    def cannot_run(document):
        document["networks"][0]["units"]["gpu"]["origin"][0] = "cannot run"

    def negative_macs(document):
        document["networks"][0]["groups"][0]["macs"] = -1

    return [
        (drop_unit, "units['gpu']"),
        (other_problem, "problem_sha256"),
        (rename_group, "networks[0].groups"),
        (drop_network, "$.networks"),
        (short_column, "origin: must have"),
        (wild_text, "must be below"),
        (unknown_origin, "networks[0].units.gpu.origin[0]"),
        (cannot_run, "must agree with problem.json"),
        (negative_macs, "macs"),
    ]


@pytest.mark.parametrize(("change", "message"), _changes(), ids=lambda value: str(value)[:30])
def test_documents_that_do_not_fit_are_refused_by_path(built, change, message):
    document = json.loads(json.dumps(costs_to_document(cost_origins(built), built.problem)))
    change(document)
    del document["content_sha256"]
    document["content_sha256"] = content_sha256(document)
    with pytest.raises(ResultError) as caught:
        costs_from_bytes(canonical_bytes(document), built.problem)
    assert message in str(caught.value)


def test_changed_content_is_refused(built):
    document = json.loads(json.dumps(costs_to_document(cost_origins(built), built.problem)))
    document["precision"] = "fp64"
    with pytest.raises(ResultError, match="content_sha256"):
        costs_from_bytes(canonical_bytes(document), built.problem)


def test_origins_of_another_problem_are_refused(built):
    other = build_problem(workload_of(["squeezenet"]), load_platform("jetson-tx2"))
    with pytest.raises(ResultError, match="networks"):
        check_origins(cost_origins(other), built.problem)


def test_explore_writes_costs_and_the_command_prints_the_tables_figures(dse, pair_folder):
    problem = read_results(pair_folder).problem
    origins = read_costs(pair_folder, problem)
    assert origins is not None
    got = dse("analyze", "costs", pair_folder, "--json", "--at", "gpu=min", "--at", "emc=1600")
    assert (got.status, got.err) == (0, "")
    document = json.loads(got.out)
    assert document["precision"] == "fp16"
    domains = [domain.name for domain in problem.domains]
    points = [int(np.flatnonzero(domain.allowed)[-1]) for domain in problem.domains]
    points[domains.index("gpu")] = 0
    emc = domains.index("emc")
    points[emc] = problem.domains[emc].frequencies_khz.index(1_600_000)
    assert len(document["groups"]) == problem.group_count
    for g, row in enumerate(document["groups"]):
        for unit in problem.units:
            at = (g, *(points[clock] for clock in unit.clocks))
            found = row["units"][unit.name]
            if unit.time_ps[at] < 0:
                assert found["origin"] == "cannot run"
                assert found["text"]
                assert found["time_ps"] is found["demand_kbps"] is found["dynamic_mw"] is None
                continue
            assert found["time_ps"] == unit.time_ps[at]
            assert found["demand_kbps"] == unit.demand_kbps[at]
            assert found["dynamic_mw"] == unit.dynamic_mw[at]
            assert found["origin"] in {"measured", "calibrated", "estimated"}


@pytest.mark.parametrize("figure", ["time", "demand", "power"])
def test_table_has_every_group_and_the_legend(dse, pair_folder, figure):
    got = dse("analyze", "costs", pair_folder, "--show", figure)
    assert (got.status, got.err) == (0, "")
    problem = read_results(pair_folder).problem
    for network in problem.networks:
        assert network.name in got.out
        assert all(name in got.out for name in network.group_names)
    assert "e: an estimate, from the unit's peak rates and bandwidth" in got.out


def test_table_says_why_a_unit_cannot_run_a_group(dse, tmp_path):
    folder = tmp_path / "run"
    words = "explore shufflenet -p jetson-agx-xavier --units gpu,dla0 --max-evaluations 50 -q"
    assert dse(*words.split(), "-o", folder).status == 0
    problem = read_results(folder).problem
    dla = next(unit for unit in problem.units if unit.name == "dla0")
    assert (dla.time_ps < 0).any(), "the case is there"
    got = dse("analyze", "costs", folder)
    assert "-: dla0 cannot run shufflenet, group" in got.out


def test_folder_without_costs_and_with_spoilt_costs(dse, pair_folder, tmp_path):
    for name in ("front.json", "problem.json"):
        (tmp_path / name).write_bytes((pair_folder / name).read_bytes())
    got = dse("analyze", "costs", tmp_path)
    assert got.status == 0
    assert "there is no costs.json" in got.out
    (tmp_path / "costs.json").write_text("{}")
    got = dse("analyze", "costs", tmp_path)
    assert got.status == 2
    assert len(got.lines) == 1
    assert "costs.json: $: must have format, problem_sha256" in got.err


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ("gpu=77", "nearest are 114.75 and 216.75 MHz"),
        ("gpx=max", "there is no domain 'gpx'"),
        ("gpu", "DOMAIN=MHZ"),
        ("gpu=1e999999999", "DOMAIN=MHZ"),
    ],
)
def test_clocks_that_are_none(dse, pair_folder, at, message):
    got = dse("analyze", "costs", pair_folder, "--at", at)
    assert (got.status, got.out, len(got.lines)) == (2, "", 1)
    assert message in got.err


@pytest.mark.parametrize(
    ("network", "platform", "units", "said"),
    [
        ("densenet121", "jetson-agx-xavier", None, True),
        ("densenet121", "jetson-agx-xavier", ("gpu", "dla1"), True),
        ("densenet121", "jetson-agx-xavier", ("gpu",), False),
        ("densenet121", "jetson-agx-orin-32gb", None, False),
        ("resnet50", "jetson-agx-xavier", None, False),
    ],
)
def test_a_network_without_a_time_in_the_source_is_named(network, platform, units, said):
    workload = workload_of([f"{network}*2"])
    built = build_problem(workload, load_platform(platform), Options(groups=4, units=units))
    assert [text.partition(": HaX-CoNN")[0] for text in built.warnings] == [
        f"{network}: the network counts as not supported on dla0, dla1"
    ] * said


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        (Options(groups=2, pins=(("densenet121", 0, 1, "dla0"),)), "dla0 cannot run group 0"),
        (Options(groups=2, units=("dla0",)), "no unit can run group"),
    ],
)
def test_a_network_without_a_time_in_the_source_is_refused(options, refused):
    with pytest.raises(WorkloadError, match=refused) as caught:
        build_problem(workload_of(["densenet121"]), load_platform("jetson-agx-xavier"), options)
    assert "not supported on dla0, dla1: HaX-CoNN (PPoPP'24), Table 5" in str(caught.value)


def test_a_mapping_to_a_unit_without_a_time_in_the_source_is_refused():
    problem = Problem("densenet121", "jetson-agx-xavier", groups=2)
    with pytest.raises(
        WorkloadError, match=r"dla0 cannot run group 0 .*: the network counts as not"
    ):
        evaluate(problem, {"densenet121": "dla0"})


def test_nothing_is_cut_off_at_80_columns(dse, tmp_path, monkeypatch):
    """Six units: what does not fit has a table of its own."""
    monkeypatch.setenv("COLUMNS", "80")
    folder = tmp_path / "many"
    done = dse(
        *("explore", "resnet18", "-p", "rk3588", "--groups", "3", "--max-nodes", "0"),
        *("--runtime", "none"),
        *("--max-evaluations", "100", "-o", folder, "--quiet"),
    )
    assert done.status == 0, done.err
    lines = dse("analyze", "costs", folder).out.splitlines()
    figures = lines[: next(n for n, line in enumerate(lines) if line.startswith(("c:", "e:")))]
    assert not any("\N{HORIZONTAL ELLIPSIS}" in line for line in figures)
    assert sum(line.lstrip().startswith("#") for line in figures) == 2
    heads = [word for line in figures if line.lstrip().startswith("#") for word in line.split()]
    assert [w for w in heads if w in ("a55", "a76", "gpu", "npu0", "npu1", "npu2")] == [
        *("a55", "a76", "gpu", "npu0", "npu1", "npu2")
    ]
