"""Task graphs of TGFF: tables with and without clocks, what is refused, and the way to a front."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.formats.graph_json import read_graph
from paretosoc.sdf.formats.sdf3_writer import format_sdf3
from paretosoc.sdf.formats.sdf3_xml import parse_sdf3
from paretosoc.sdf.formats.tgff import parse_tgff

TEXT = """\
@HYPERPERIOD 0.06
@COMMUN_QUANT 0 {
0  2E6
1  4
}
@TASK_GRAPH 0 {
\tPERIOD 0.06
\tTASK alone TYPE 1
}
@TASK_GRAPH 3 {
\tPERIOD 0.03
\tTASK src\tTYPE 0
\tTASK filter TYPE 1
\tTASK sink TYPE 0
\tARC a_0 \tFROM src to filter TYPE 0
\tARC a_1 \tFROM filter TO sink TYPE 1
\tHARD_DEADLINE d_0 ON sink AT 0.03
}
# A processor
@CORE 0 {
# price buffered max_freq
  33    1        1.0e+08
#----------------------------------
# type version valid task_time power
# a comment of five words
0       0      1     1e-05     1.6

1       0      1     0.0025    1.6
}
@CORE 1 {
# price buffered max_freq
  88    1        2.0e+08
#----------------------------------
# type version valid task_time power
0       0      1     5e-06     3.2
1       0      0     0         3.2
}
@PE 2 {
# price
  70.1
#----------------------------------
# type exec_time
  0  48.5
  1  1.25
}
"""


def test_a_graph_of_a_file() -> None:
    graph = parse_tgff(TEXT.encode(), 3)
    assert [(a.name, dict(a.execution_times)) for a in graph.actors] == [
        ("src", {"CORE0": 1000, "CORE1": 1000, "PE2": 48_500}),
        ("filter", {"CORE0": 250_000, "PE2": 1250}),
        ("sink", {"CORE0": 1000, "CORE1": 1000, "PE2": 48_500}),
    ]
    assert [(c.name, c.source, c.target, c.token_bytes) for c in graph.channels] == [
        ("a_0", "src", "filter", 250_000),
        ("a_1", "filter", "sink", 1),
    ]
    assert graph.notes == (
        "times of PE2 have no clock: one is 1000 cycles",
        "period 0.03",
        "hard_deadline d_0 on sink at 0.03",
    )
    again = parse_sdf3(format_sdf3(graph).encode())
    assert (again.actors, again.channels) == (graph.actors, graph.channels)
    assert [actor.name for actor in parse_tgff(TEXT.encode()).actors] == ["alone"]


def test_a_table_of_arcs_is_no_processor_beside_others() -> None:
    """TGFF's examples call it COMMUN, and files with such a table alone take it for times."""
    arcs = "@COMMUN 0 {\n# type exec_time\n0 29\n1 31\n}\n"
    first = TEXT.replace("# A processor\n", arcs)
    assert parse_tgff(first.encode(), 3).actors == parse_tgff(TEXT.encode(), 3).actors
    alone = parse_tgff((TEXT.partition("# A processor\n")[0] + arcs).encode(), 3)
    assert dict(alone.actors[0].execution_times) == {"COMMUN0": 29_000}


def test_seconds_without_a_clock_are_cycles_of_a_gigahertz() -> None:
    text = TEXT.replace("max_freq", "max_size").encode()
    graph = parse_tgff(text, 3)
    times = {actor.name: dict(actor.execution_times) for actor in graph.actors}
    assert times["src"]["CORE0"] == 10_000
    assert graph.notes[0] == "times of CORE0 and 1 more have no clock: one is 1000000000 cycles"


def test_a_name_that_two_arcs_have_is_of_the_first() -> None:
    graph = parse_tgff(TEXT.replace("a_1", "a_0").encode(), 3)
    assert [channel.name for channel in graph.channels] == ["a_0", ""]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("@TASK_GRAPH 3", "@TASK_GRAPH 2", r"no task graph 3 \(there are 0, 2\)"),
        ("FROM src", "FROM none", "line 15: FROM and TO must name tasks above"),
        ("sink TYPE 0", "src TYPE 0", "line 14: task 'src' is there twice"),
        ("filter TYPE 1\n", "filter TYPE x\n", "line 13: TYPE must be a whole number, got 'x'"),
        ("1e-05", "1e-0x", "line 26: a number from 0 to .*, got '1e-0x'"),
        ("48.5\n  1  1.25\n}", "48.5", "@PE 2 has no end"),
    ],
)
def test_what_is_refused(old: str, new: str, words: str) -> None:
    assert old in TEXT
    with pytest.raises(GraphError, match=words):
        parse_tgff(TEXT.replace(old, new).encode(), 3)


def test_the_way_to_a_front(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from paretosoc.dse.cli.main import run

    file, graph, board = (tmp_path / name for name in ("a.tgff", "a.xml", "board.json"))
    file.write_text(TEXT)
    assert run(["sdf", str(file), "--graph", "3", "-o", str(graph)]) == 0
    printed = capsys.readouterr().out
    assert "note: period 0.03" in printed
    assert f"Written to {graph}: " in printed.splitlines()[-1]
    example = Path(__file__).parents[3] / "examples" / "platforms" / "two_processors.json"
    chip = json.loads(example.read_text("utf-8"))
    for unit, kind in zip(chip["units"], ("CORE0", "CORE1"), strict=True):
        unit["processor_types"] = [kind]
    board.write_text(json.dumps(chip))
    goals = ("--objective", "latency", "--objective", "energy")
    folder = str(tmp_path / "o")
    assert run(["explore", str(graph), "-p", str(board), *goals, "-q", "-o", folder]) == 0
    assert run(["verify", folder]) == 0
    capsys.readouterr()
    assert run(["show", folder, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    # All on the first processor, at 500 MHz: 252,000 cycles.
    fastest = min(row["display"]["latency [ms]"] for row in rows)
    assert fastest == pytest.approx(252_000 / 500_000, rel=1e-3)
    assert run(["sdf", str(file), "--graph", "9"]) == 2
    assert "no task graph 9" in capsys.readouterr().err


def test_a_number_of_a_file_that_is_one_graph_is_refused() -> None:
    example = Path(__file__).parents[3] / "examples" / "sdf" / "h263decoder.xml"
    with pytest.raises(
        GraphError, match=r"only a \.tgff has several task graphs, got the number 1"
    ):
        read_graph(example, 1)
