"""The MCP server, by the official client in the same process: typed results, limits, one folder."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from time import sleep
from typing import Any

import pytest

import paretosoc as dse
from paretosoc.dse.cli.main import run
from paretosoc.dse.errors import DseError
from paretosoc.dse.server.workspace import Workspace

PAIR = {"networks": ["alexnet", "squeezenet"], "platform": "jetson-agx-xavier", "groups": 3}


def call(folder: Path, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """Results of tools, called one after the other."""
    mcp = pytest.importorskip("mcp", reason="mcp is not installed")
    from paretosoc.dse.server.mcp_server import make_server

    async def session() -> list[Any]:
        async with mcp.Client(make_server(Workspace(folder))) as client:
            return [await client.call_tool(name, arguments) for name, arguments in calls]

    # Playwright, which the tests of pages use, keeps its own loop running in the main thread.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(session())).result()


def refusal(root: Path, tool: str, /, **arguments: Any) -> str:
    (result,) = call(root, (tool, arguments))
    assert result.is_error
    return str(result.content[0].text)


def test_a_front_is_explored_shown_verified_and_compared(tmp_path: Path) -> None:
    asked = {**PAIR, "max_evaluations": 500, "prove_s": 20, "output": "one"}
    explored, shown, verified, compared = call(
        tmp_path,
        ("explore", asked),
        ("show", {"folder": "one", "resolution": 0.2}),
        ("verify", {"folder": "one"}),
        ("compare", {"first": "one", "second": "one"}),
    )
    front = json.loads((tmp_path / "one/front.json").read_text("utf-8"))
    answer = explored.structured_content
    assert answer["members"] == len(front["members"])
    assert answer["networks"] == PAIR["networks"]
    fastest = next(row for row in answer["rows"] if "fastest" in row["marks"])
    latency_ps = front["members"][fastest["member"]]["objectives"]["latency_ps"]
    assert fastest["objectives"]["latency [ms]"] == latency_ps / 1e9
    assert answer["claims"]
    choices = dse.load(tmp_path / "one").choices(0.2)
    assert [(row["member"], row["stands_for"]) for row in shown.structured_content["rows"]] == [
        (choice.member.index, choice.stands_for) for choice in choices
    ]
    assert verified.structured_content["holds"] is True
    assert compared.structured_content["first"]["hypervolume"] == pytest.approx(1)
    assert compared.structured_content["differences"] == []


def test_searches_run_in_the_background(tmp_path: Path) -> None:
    mcp = pytest.importorskip("mcp", reason="mcp is not installed")
    from paretosoc.dse.server.mcp_server import make_server

    async def session() -> tuple[list[Any], list[Any], Any, Any]:
        async with mcp.Client(make_server(Workspace(tmp_path))) as client:

            async def answer(name: str, **arguments: Any) -> Any:
                return await client.call_tool(name, arguments)

            asked = {**PAIR, "max_evaluations": 400}
            first = await answer("start", **asked, output="one", prove_s=10)
            second = await answer("start", **asked, output="two")
            again = await answer("start", **asked, output="one")
            polled = []
            while not polled or polled[-1]["state"] != "done":
                await asyncio.sleep(0.02)
                polled.append((await answer("poll", folder="two")).structured_content)
                assert polled[-1]["state"] != "failed", polled[-1]
            shown = await answer("show", folder="two")
            return [first, second], polled, again, shown

    with ThreadPoolExecutor(1) as thread:
        started, polled, again, shown = thread.submit(lambda: asyncio.run(session())).result()
    assert [each.structured_content["folder"] for each in started] == ["one", "two"]
    assert again.is_error
    assert "a search for one was started already" in again.content[0].text
    counts = [each["evaluations"] for each in polled]
    assert counts == sorted(counts)
    # The searches took turns: the second ended after the first, which has a proof.
    assert dse.load(tmp_path / "one").claims
    assert shown.structured_content["members"] == polled[-1]["members"]
    assert "no output of a search" in refusal(tmp_path, "poll", folder="three")


def test_a_search_finds_its_output_written_by_the_one_it_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pydantic", reason="mcp is not installed")
    from paretosoc.dse.server.mcp_server import Tools

    tools, began, go_on = Tools(Workspace(tmp_path)), Event(), Event()
    found = dse.explore(dse.Problem("resnet50", "jetson-agx-xavier"), max_evaluations=100)

    def slow(*_: Any, **__: Any) -> dse.Front:
        began.set()
        assert go_on.wait(60)
        return found

    monkeypatch.setattr(dse, "explore", slow)
    asked = {"networks": ["resnet50"], "platform": "jetson-agx-xavier", "max_evaluations": 100}
    with ThreadPoolExecutor(1) as thread:
        first = thread.submit(tools.explore, **asked, output="one")
        assert began.wait(60)
        second = tools.start(**asked, output="one")
        go_on.set()
        assert first.result().members == len(dse.load(tmp_path / "one"))
    while not second.ended:
        sleep(0.01)
    assert second.error == "output: one exists already"


def test_formats_losses_memory_and_batches_are_those_of_explore(tmp_path: Path) -> None:
    (tmp_path / "losses.csv").write_text(
        "network,layer,format,loss_ppm\nsqueezenet,*,int8,1000\nsqueezenet,*,fp16,1\n"
    )
    asked = {
        "networks": ["squeezenet"], "platform": "jetson-agx-orin", "groups": 2,
        "precision": "int8,fp16", "losses": "losses.csv", "max_accuracy_loss_percent": 1,
        "memory_cap_mb": 50, "batch": 3, "max_evaluations": 100, "output": "one",
        "objectives": ["latency", "accuracy-loss"],
    }  # fmt: skip
    call(tmp_path, ("explore", asked))
    document = json.loads((tmp_path / "one/problem.json").read_text("utf-8"))
    (network,) = document["networks"]
    assert (network["batch"], network["max_loss_ppm"]) == (3, 10_000)
    assert document["memory_cap_bytes"] == 50 * 10**6
    assert {unit["number_format"] for unit in document["units"]} == {"int8", "fp16"}
    outside = refusal(tmp_path, "explore", **{**asked, "losses": "../x.csv", "output": "two"})
    assert "a path inside the server's folder is required" in outside
    no_pool = refusal(
        tmp_path, "explore", **{**asked, "memory_cap_mb": {"npu": 5}, "output": "two"}
    )
    assert "no unit of this problem has the memory pool 'npu'" in no_pool


def test_arguments_that_a_tool_does_not_have_are_refused(tmp_path: Path) -> None:
    asked = {**PAIR, "output": "x", "max_evaluations": 10}
    unknown = refusal(tmp_path, "explore", **asked, deadline=10)
    assert "explore: there is no argument 'deadline' (did you mean deadline_ms?)" in unknown
    assert "show: there is no argument 'member'" in refusal(
        tmp_path, "show", folder="x", member="knee"
    )
    assert refusal(tmp_path, "show") == "show: the argument 'folder' is required"
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("tool", "name", "value", "said"),
    [
        ("explore", "max_evaluations", "many", "an integer is required, got 'many'"),
        ("explore", "max_evaluations", 1.5, "an integer is required, got 1.5"),
        ("explore", "networks", "alexnet", "a list of texts is required, got 'alexnet'"),
        ("explore", "networks", ["vgg19", 1], "a list of texts is required, got ['vgg19', 1]"),
        ("explore", "platform", None, "a text is required, got None"),
        (
            "explore",
            "deadline_ms",
            {"alexnet": "x"},
            "a number or an object of numbers is required, got {'alexnet': 'x'}",
        ),
        (
            "evaluate",
            "mapping",
            {"alexnet": 5},
            "an object of texts or lists of texts is required, got {'alexnet': 5}",
        ),
    ],
)
def test_values_of_another_type_are_refused_in_a_line(
    tmp_path: Path, tool: str, name: str, value: object, said: str
) -> None:
    asked = {**PAIR, "output": "x"} if tool == "explore" else PAIR
    assert refusal(tmp_path, tool, **{**asked, name: value}) == f"{name}: {said}"
    assert not (tmp_path / "x").exists()


def test_options_are_those_of_the_reference_page(tmp_path: Path) -> None:
    sizes = {"networks": ["qwen2-0.5b"], "platform": "rk3588", "dimensions": {"sequence": 1}}
    asked = {**sizes, "groups": 2, "pins": {"qwen2-0.5b": "npu0"}}
    explored, evaluated = call(
        tmp_path,
        ("explore", {**asked, "output": "one", "max_evaluations": 20, "dispatch": "group"}),
        ("evaluate", {**asked, "mapping": {"qwen2-0.5b": "npu0"}, "deadline_ms": 0.01}),
    )
    rows = explored.structured_content["rows"]
    assert {unit for row in rows for unit in row["groups_by_unit"]} == {"npu0"}
    document = json.loads((tmp_path / "one/costs.json").read_text("utf-8"))
    assert document["networks"][0]["source"]["dimensions"] == {"sequence": 1}
    assert evaluated.structured_content["broken"]


def test_a_mapping_is_evaluated(tmp_path: Path) -> None:
    mapping = {"alexnet": "gpu", "squeezenet": ["gpu"] * 3}
    gpu, limited = call(
        tmp_path,
        ("evaluate", {**PAIR, "mapping": mapping}),
        ("evaluate", {**PAIR, "mapping": mapping, "deadline_ms": 0.01}),
    )
    assert gpu.structured_content["feasible"] is True
    assert set(gpu.structured_content["latencies_ms"]) == set(mapping)
    assert limited.structured_content["feasible"] is False
    assert limited.structured_content["broken"]


def test_that_nothing_is_feasible_is_proved_as_by_the_command(tmp_path: Path) -> None:
    asked = {**PAIR, "max_evaluations": 50, "deadline_ms": 0.001, "output": "one"}
    told = refusal(tmp_path, "explore", **asked)
    assert told.endswith("\nProved: no design point keeps all limits.")


@pytest.mark.parametrize("path", ["../out", "/etc/passwd", ".", "link/x"])
def test_nothing_outside_the_folder_is_touched(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    assert "inside the server's folder" in refusal(folder, "show", folder=path)
    asked = {**PAIR, "max_evaluations": 10, "output": path}
    assert "inside the server's folder" in refusal(folder, "explore", **asked)
    workspace = Workspace(folder)
    with pytest.raises(DseError, match="inside the server's folder"):
        workspace.network(f"{path}/net.onnx" if path != "." else "../net.onnx")


def test_limits_are_kept(tmp_path: Path) -> None:
    asked = {**PAIR, "output": "x"}
    assert "max_evaluations" in refusal(tmp_path, "explore", **asked, max_evaluations=10**9)
    assert "networks" in refusal(tmp_path, "explore", **{**asked, "networks": ["alexnet"] * 9})
    for name in ("w.yaml", "w.json*2"):
        said = refusal(tmp_path, "explore", **{**asked, "networks": [name]})
        assert "a name of the catalogue, or an .onnx or .xml file" in said
        assert "workload files are not taken" in said
    for text in (
        '{"extends": "../secret.json"}',
        '{"extends": "rk3588", "units": [{"name": "x", "extends": "../secret.json:npu"}]}',
    ):
        (tmp_path / "mine.json").write_text(text, "utf-8")
        assert "extends must be a name, or NAME:UNIT of one, got '../secret.json" in refusal(
            tmp_path, "explore", **{**asked, "platform": "mine.json"}
        )
    assert "no network 'alexnot'" in refusal(
        tmp_path, "explore", **{**asked, "networks": ["alexnot"]}
    )
    assert not (tmp_path / "x").exists()


def test_a_folder_that_is_none_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["mcp", str(tmp_path / "none")]) == 2
    assert "there is no such folder" in capsys.readouterr().err
