"""Priorities from a workload file to the schedule, the files and a deployment."""

import json
import re
import runpy
from pathlib import Path

import onnx
import pytest

from paretosoc.fitness.execution import schedule_of, scheduled
from paretosoc.results.export.report_data import report_data
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.plots.gantt import draw_gantts
from paretosoc.results.text.front_rows import front_frame
from paretosoc.results.text.space_description import describe_space
from tests.dse.tools.deploy.test_strong_types import small_network

RECOMPUTE = Path(__file__).parents[2] / "support" / "recompute_front.py"
WORKLOAD = """\
networks:
  - {name: background, network: small.onnx, repeats: 3, priority: 2}
  - {name: late, network: small.onnx, priority: 1, deadline_ms: 900}
  - {name: also, network: small.onnx, priority: 1}
  - {name: urgent, network: small.onnx, arrival_ms: 0.001}
"""


@pytest.fixture
def folder(dse, tmp_path):
    onnx.save(small_network(), str(tmp_path / "small.onnx"))
    (tmp_path / "four.yaml").write_text(WORKLOAD)
    command = ("explore", tmp_path / "four.yaml", "-p", "jetson-agx-orin", "--units", "gpu")
    command += ("--runtime", "triton", "--dispatch", "group")
    limits = ("--groups", "1", "--precision", "fp16", "--max-evaluations", "50", "-q")
    assert dse(*command, *limits, "-o", tmp_path / "run").status == 0
    return tmp_path / "run"


def test_the_schedule_goes_by_priority_and_is_verified(dse, folder):
    front = read_results(folder)
    assert [network.priority for network in front.problem.networks] == [2, 1, 1, 0]
    for member in front.members:
        groups = schedule_of(front.problem, member.design).groups
        rows = sorted(groups, key=lambda row: row.start_ps)
        # The urgent one arrives while the first runs.
        assert [row.network for row in rows] == [1, 3, 2, 0, 0, 0]
    assert dse("verify", folder).status == 0


def test_where_it_is_not_0_it_is_shown(dse, folder):
    front = read_results(folder)
    assert "background (1 group, 3 times a frame, priority 2)" in describe_space(front.problem)
    legend = draw_gantts([("", scheduled(front.problem, front.members[0]))]).legend
    assert list(legend)[:4] == [
        *("background, priority 2", "late, priority 1", "also, priority 1", "urgent"),
    ]
    assert report_data(front, schedule_of)["members"][0]["priorities"] == [[2], [1], [1], [0]]
    shown = dse("show", folder, "--member", "fastest").out
    assert "priorities: background 2, late 1, also 1, urgent 0" in shown


SEARCHED = """\
networks:
  - {name: background, network: small.onnx, repeats: 3}
  - {name: urgent, network: small.onnx, arrival_ms: 0.001}
"""


def test_searched_priorities_from_the_option_to_the_files(dse, tmp_path):
    onnx.save(small_network(), str(tmp_path / "small.onnx"))
    (tmp_path / "two.yaml").write_text(SEARCHED)
    folder, common = tmp_path / "run", ("-p", "jetson-agx-orin", "--units", "gpu", "--groups", "1")
    common = (tmp_path / "two.yaml", *common, "--precision", "fp16", "--search-order", "networks")
    common = (*common, "--dispatch", "group")
    objectives = ("--objective", "latency:urgent", "--objective", "latency:background")
    assert dse("explore", *common, *objectives, "-q", "-o", folder).status == 0
    front = read_results(folder)
    assert "; priorities of networks from 0 to 2" in describe_space(front.problem)
    chosen = {front.problem.priorities(member.design) for member in front.members}
    # All three repeats before the urgent network, or it after the first.
    assert ((0,), (1,)) in chosen
    assert len(chosen) == 2
    assert front.certificate is None
    assert front.bounds is not None
    assert dse("verify", folder).status == 0
    assert runpy.run_path(str(RECOMPUTE))["main"](folder) == 0
    table = front_frame(front)
    pairs = zip(table["background_priority"], table["urgent_priority"], strict=True)
    assert {((one,), (other,)) for one, other in pairs} == chosen
    document = json.loads((folder / "front.json").read_text())["members"][0]
    mapping = tmp_path / "mapping.json"
    fields = ("mapping", "operating_points", "priorities")
    mapping.write_text(json.dumps({name: document[name] for name in fields}))
    told = dse("evaluate", *common, *objectives, "--mapping", mapping, "--json")
    assert told.status == 0
    assert json.loads(told.out)["objectives"] == document["objectives"]
    one = ("vgg19", "-p", "jetson-agx-orin", "-o", tmp_path / "one")
    refused = dse("explore", *one, "--search-order", "networks")
    assert (refused.status, "two networks" in refused.err) == (2, True)


def test_a_searched_order_of_groups_from_the_option_to_the_files(dse, tmp_path):
    """Priorities of one network's groups differ, and a schedule goes by them."""
    folder, order = tmp_path / "run", ("--search-order", "groups")
    common = ("resnet18", "googlenet", "squeezenet", "-p", "jetson-agx-xavier", *order)
    common = (*common, "--groups", "6", "--runtime", "none")
    budget = ("--engine", "nsga2", "--max-evaluations", "4000", "--max-nodes", "2000", "-q")
    assert dse("explore", *common, *budget, "-o", folder).status == 0
    front = read_results(folder)
    assert "; priorities of groups from 0 to 2" in describe_space(front.problem)
    sizes = [len(network.groups) for network in front.problem.networks]
    chosen = [front.problem.priorities(member.design) for member in front.members]
    assert all([*map(len, each)] == sizes for each in chosen)
    mixed = next(i for i, each in enumerate(chosen) if any(len(set(p)) > 1 for p in each))
    assert front.certificate is None
    assert dse("verify", folder).status == 0
    assert runpy.run_path(str(RECOMPUTE))["main"](folder) == 0
    shown = dse("show", folder, "--member", mixed).out
    assert re.search(r"^ *priorities: .* [012] for [0-9-]+, [012] for ", shown, re.MULTILINE)
    document = json.loads((folder / "front.json").read_text())["members"][mixed]
    mapping = tmp_path / "mapping.json"
    fields = {name: document[name] for name in ("mapping", "operating_points", "priorities")}
    mapping.write_text(json.dumps(fields))
    told = dse("evaluate", *common, "--mapping", mapping, "--json")
    assert json.loads(told.out)["objectives"] == document["objectives"]
    fields["priorities"]["resnet18"] = [0, 1]
    mapping.write_text(json.dumps(fields))
    refused = dse("evaluate", *common, "--mapping", mapping)
    assert refused.status == 2
    assert f"$.priorities['resnet18']: an integer, or {sizes[0]} in a list" in refused.err
    # As many in all, but of other networks.
    content = json.loads((folder / "front.json").read_text())
    levels = content["members"][mixed]["priorities"]
    levels["googlenet"].append(levels["resnet18"].pop())
    (folder / "front.json").write_text(json.dumps(content))
    told = dse("verify", folder, "--ignore-hashes")
    assert told.status == 1
    assert f"priorities['resnet18']: must have {sizes[0]}, got {sizes[0] - 1}" in told.out


def test_triton_gets_the_places_of_the_plan(dse, folder):
    out = folder.parent / "out"
    assert dse("deploy", folder, "--to", "triton", "--no-check", "-o", out).status == 0
    document = json.loads((out / "deployment.json").read_text())
    ranks, runs = {}, document["plan"]["runs"]
    for place, run in reversed(list(enumerate(runs))):
        part = document["networks"][run["network"]]["segments"][run["segment"]]
        ranks[part["file"].partition("/")[0], part["unit"]] = place + 2
    for (name, unit), rank in ranks.items():
        text = (out / name / "config.pbtxt").read_text()
        found = int(re.search(r"\bpriority: (\d+)", text)[1])
        assert found == (rank if f'name: "{unit}"' in text else 1)
