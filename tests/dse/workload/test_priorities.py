"""Priorities from a workload file to the schedule, the files and a deployment."""

import re

import onnx
import pytest

from fitness.execution import schedule_of, scheduled
from results.export.report_data import report_data
from results.export.result_folder import read_results
from results.plots.gantt import draw_gantt
from results.text.space_description import describe_space
from tests.dse.tools.deploy.test_strong_types import small_network

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
    legend = draw_gantt(scheduled(front.problem, front.members[0])).legends[0]
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels[:4] == [
        *("background, priority 2", "late, priority 1", "also, priority 1", "urgent"),
    ]
    networks = report_data(front, schedule_of)["networks"]
    assert [network["priority"] for network in networks] == [2, 1, 1, 0]


def test_triton_gets_priorities_then_deadlines(dse, folder):
    out = folder.parent / "out"
    assert dse("deploy", folder, "--to", "triton", "--no-check", "-o", out).status == 0
    ranks = {
        path.parent.name.partition(".")[0]: int(found[1])
        for path in out.glob("*/config.pbtxt")
        if (found := re.search(r"\bpriority: (\d+)", path.read_text()))
    }
    assert ranks == {"urgent": 1, "late": 2, "also": 3, "background": 4}
