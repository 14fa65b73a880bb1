"""``dse report``, ``trace``, ``plot`` and ``show --member`` of periodic schedules."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from paretosoc.dse.cli.main import run
from paretosoc.dse.papers.mobile_i.file import PERIODIC_FOLDER, periodic_files
from paretosoc.dse.papers.mobile_i.result import read_periodic
from paretosoc.dse.papers.mobile_i.views.page import periodic_report_html
from paretosoc.dse.papers.mobile_i.views.pictures import (
    engine_table,
    figure_lines,
    front_picture,
    fronts_picture,
)
from paretosoc.dse.papers.mobile_i.views.trace import FULL_PERIODS, periodic_trace_bytes
from paretosoc.results.export.trace import microseconds
from paretosoc.results.plots.picture import Text

PERIODIC = ("papers", "periodic")
EXAMPLES = Path(__file__).parents[4] / "examples" / "sdf"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("views") / "pim"
    arguments = [*PERIODIC, "agenet", "-p", "neurocube", "--pes", "16,32", "-o", str(path), "-q"]
    assert run(arguments) == 0
    return path


def test_the_report_is_one_page_with_a_gantt_chart_of_every_member(folder: Path) -> None:
    assert run(["report", str(folder)]) == 0
    page = (folder / "report.html").read_text("utf-8")
    result = read_periodic(folder)
    pictures = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert len(pictures) == 1 + len(result.members)
    assert all(b"<svg" in base64.b64decode(picture) for picture in pictures)
    assert "http" not in re.sub(r'src="data:[^"]+"', "", page).replace("http-equiv", "")
    for schedule in (*result.members, *result.others):
        assert f"<td>{schedule.latency_ps(result.inferences) / 1e12:.4g}</td>" in page
    assert periodic_report_html(result) == page
    assert run(["report", str(folder), "--platform", "neurocube"]) == 2
    # The folder may still be replaced.
    PERIODIC_FOLDER.write(folder, periodic_files(result), overwrite=True)


def test_names_of_the_user_stay_text(folder: Path) -> None:
    result = replace(read_periodic(folder), network="<script>alert(1)</script>", command="<b>")
    page = periodic_report_html(result)
    assert "<script" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_the_trace_is_what_the_schedule_says(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "trace.json"
    assert (
        run(
            [
                "analyze",
                "export",
                str(folder),
                "--to",
                "perfetto",
                "-o",
                str(file),
                "--member",
                "smallest",
            ]
        )
        == 0
    )
    assert "16 engines" in capsys.readouterr().out
    result = read_periodic(folder)
    schedule = next(s for s in result.members if s.array.engines == 16)
    events = json.loads(file.read_text("utf-8"))["traceEvents"]
    runs = [e for e in events if e["ph"] == "X" and "frame" in e.get("args", {})]
    deepest = schedule.prologue_periods
    # Of frame f, counted from 0, a task runs in period f + max r - r.
    expected = sum(FULL_PERIODS + ahead for ahead in schedule.ahead)
    assert len(runs) == expected
    assert Counter(e["cat"] for e in events if e["ph"] == "X" and e["tid"] == 1) == {
        "prologue": deepest,
        "period": FULL_PERIODS,
    }
    tracks = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            tracks[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for spans in tracks.values():
        spans.sort()
        assert all(first[1] <= second[0] for first, second in pairwise(spans))
    by_id = defaultdict(list)
    for event in events:
        if event["ph"] in "sf":
            by_id[event["id"]].append(event)
    assert by_id
    for begin, end in by_id.values():
        assert begin["ts"] + begin["args"]["ps"] / 1e6 <= end["ts"] + 0.002
        assert any(first <= begin["ts"] < last for first, last in tracks[begin["tid"]])
        assert any(first == end["ts"] for first, _ in tracks[end["tid"]])
    again = periodic_trace_bytes([("again", schedule)])
    assert len(json.loads(again)["traceEvents"]) == len(events)
    assert microseconds(schedule.period_ps) > 0


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_plots(folder: Path, tmp_path: Path, suffix: str) -> None:
    file = str(tmp_path / f"plot{suffix}")
    for arguments in (
        ["front", str(folder)],
        ["front", str(folder), str(folder), "--label", "one", "--label", "two"],
        ["gantt", str(folder), "--member", "lowest-energy"],
    ):
        assert run(["plot", *arguments, "-o", file, "--force"]) == 0
        assert Path(file).stat().st_size > 3000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plot", "energy", "{}", "-o", "a.svg"], "is not for periodic schedules"),
        (["plot", "convergence", "{}", "-o", "a.svg"], "is not for periodic schedules"),
        (["plot", "gantt", "{}", "{}", "-o", "a.svg"], "one is drawn, of one result"),
        (["plot", "gantt", "{}", "-o", "a.svg", "--member", "9"], "there are members 0 to 1"),
        (["plot", "front", "{}", "nothing", "-o", "a.svg"], "nothing: there is no such folder"),
        (["plot", "front", "{}", "{}/..", "-o", "a.svg"], "cannot be drawn together"),
        (
            ["analyze", "export", "{}", "--to", "perfetto", "-o", "a.json", "--member", "best"],
            "fastest, lowest-energy, smallest",
        ),
        (["show", "{}", "--member", "2"], "there are members 0 to 1"),
    ],
)
def test_refused_in_a_line(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run([text.format(folder) for text in arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert len(error.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_show_of_one_member(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", str(folder), "--member", "fastest"]) == 0
    text = capsys.readouterr().out
    assert "prologue:" in text
    assert "32 engines" in text
    assert run(["show", str(folder), "--member", "fastest", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    schedule = read_periodic(folder).members[0]
    assert [task["start_ps"] for task in document["tasks"]] == list(schedule.start_ps)
    assert [task["periods_ahead"] for task in document["tasks"]] == list(schedule.ahead)
    assert document["engines"] == 32


@pytest.mark.parametrize(
    "command",
    [("certify",), ("analyze", "costs"), ("evaluate", "--from"), ("deploy", "--to", "json")],
)
def test_commands_for_fronts_say_what_the_folder_holds(
    folder: Path, tmp_path: Path, command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["-o", str(tmp_path / "out")] if command[0] == "deploy" else []
    assert run([*command, str(folder), *more]) == 2
    told = capsys.readouterr().err
    assert "a front is required, got periodic schedules (dse papers periodic)" in told


def test_one_period_is_one_and_engines_with_one_stage_say_it_once(folder: Path) -> None:
    schedule = read_periodic(folder).members[0]
    flat = replace(schedule, ahead=(1, *[0] * (len(schedule.ahead) - 1)))
    assert dict(figure_lines(flat, 1))["prologue"].startswith("1 period, ")
    assert "latency of 1 inference" in dict(figure_lines(flat, 1))
    column = list(engine_table(replace(schedule, ahead=(2,) * len(schedule.ahead))).columns)[3]
    assert set(column.cells) <= {"2", ""}
    stages = [
        {schedule.ahead[n] for n, on in enumerate(schedule.engine) if on == engine}
        for engine in range(schedule.array.engines)
    ]
    shown = list(list(engine_table(schedule).columns)[3].cells)
    assert shown == [
        "" if not ahead else f"{min(ahead)}" if len(ahead) == 1 else f"{min(ahead)}-{max(ahead)}"
        for ahead in stages
    ]


def test_engines_stand_beside_all_members_that_are_compared(folder: Path) -> None:
    result = read_periodic(folder)
    count = len(result.members)
    for picture, labels in (
        (front_picture(result), count),
        (fronts_picture([("one", result), ("two", result)]), 2 * count),
    ):
        words = [part.words for part in picture.parts if isinstance(part, Text)]
        assert sum(text.endswith("\N{NO-BREAK SPACE}") for text in words) == labels


def test_short_times_have_a_unit_without_exponents(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Graphs with times in cycles take nanoseconds."""
    graph, output = EXAMPLES / "rate_converter.xml", tmp_path / "out"
    asked = [*PERIODIC, str(graph), "-p", "neurocube", "--pes", "16", "--inferences", "50"]
    assert run([*asked, "-o", str(output)]) == 0
    table = capsys.readouterr().out
    assert re.search(r"\bms +mJ +us\b", table)
    assert run(["show", str(output), "--member", "0"]) == 0
    member = capsys.readouterr().out
    assert re.search(r"period: 0\.\d+ us", member)
    assert re.search(r"energy of 50 inferences: 0\.\d+ mJ", member)
    assert not re.search(r"\de-\d", table + member)
