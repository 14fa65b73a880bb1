"""``dse network``, ``platform``, ``sdf`` and the lists: what they print and what they refuse."""

import json
import re
import subprocess
import sys
from fractions import Fraction
from itertools import groupby
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from paretosoc import Problem
from paretosoc.dse.cli.catalogue.network import with_prefix
from paretosoc.dse.cli.main import run
from paretosoc.dse.cli.shared.terminal import wrapped
from paretosoc.platforms.io.platform_file import platform_names
from paretosoc.sdf.analysis import sdf_report
from paretosoc.sdf.analysis.sdf_report import analyse
from paretosoc.sdf.catalogue.catalogue import catalogue
from paretosoc.sdf.formats.graph_json import read_graph

GRAPHS = Path(__file__).parents[4] / "examples" / "sdf"


@pytest.fixture
def output(capsys, monkeypatch):
    """Runs a command at a width; gives what it prints."""

    def call(*arguments, columns=80, status=0):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert run(list(arguments)) == status
        captured = capsys.readouterr()
        return captured.err if status else captured.out

    return call


def test_network_as_json(output):
    data = json.loads(output("network", "inception_v1", "--json"))
    assert data["name"] == "inception_v1"
    assert data["layers"] == sum(data["operations"].values()) == 143
    assert data["operations"]["Conv"] == 57
    assert data["macs"] == pytest.approx(1.43e9, rel=0.01)
    assert data["macs"] == sum(kind["macs"] for kind in data["kinds"])
    assert data["parameters"] == sum(kind["parameters"] for kind in data["kinds"])
    assert data["parameter_bytes"] == 4 * data["parameters"]
    assert data["inputs"] == [{"name": "data_0", "shape": [1, 3, 224, 224]}]
    assert set(data["transition_points"]) <= set(data["legal_cuts"])


def test_network_on_a_board(output):
    """Its costs on all units, also on those that the board's runtime does not serve."""
    board = ("network", "alexnet", "-p", "jetson-agx-xavier")
    data = json.loads(output(*board, "--json"))
    problem = Problem("alexnet", "jetson-agx-xavier", runtime="none").numeric
    gpu = next(unit for unit in problem.units if unit.name == "gpu")
    rows = data["groups_on_units"]
    assert [row["units"]["gpu"]["time_ps"] for row in rows] == gpu.time_ps[:, -1, -1].tolist()
    text = output(*board, columns=120)
    head = next(line for line in text.splitlines() if "MMACs" in line)
    assert head.split()[4:] == [unit.name for unit in problem.units]
    total = next(line for line in text.splitlines() if line.split()[:1] == ["total"])
    assert f"{gpu.time_ps[:, -1, -1].sum() / 1e9:.3f}" in total
    assert ", int8, at (MHz): " in output(*board, "--precision", "int8", columns=120)
    told = output("network", "alexnet", "--precision", "int8", status=2)
    assert "--precision: needs --platform" in told


def test_network_for_people(output):
    text = output("network", "inception_v1")
    assert text.startswith("inception_v1: 143 layers, 1.432 GMAC, ")
    assert re.search(r"convolution +57 +1\.431 G +99\.9%", text)
    assert "operations: Conv 57, Relu 57, MaxPool 13" in text
    assert "legal cuts: 25; fused layers stay together at 19 of them: before layers " in text
    assert all(len(line) <= 80 for line in text.splitlines())


def tiny_model(path, size="N", name="in[red]x"):
    """One product of a matrix whose first dimension is dynamic."""
    graph = helper.make_graph(
        [helper.make_node("MatMul", [name, "b"], ["out"])],
        "tiny",
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [size, 8]),
            helper.make_tensor_value_info("b", TensorProto.FLOAT, [8, 4]),
        ],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, [size, 4])],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return str(path)


def test_dimensions_of_a_network(output, tmp_path):
    model = tiny_model(tmp_path / "tiny.onnx", size="words")
    data = json.loads(output("network", model, "--dim", "words=10", "--json"))
    assert (data["name"], data["layers"], data["macs"]) == ("tiny", 1, 10 * 8 * 4)
    assert data["parameters"] == 0
    assert "words" in output("network", model, status=2)


def test_a_network_without_cuts_and_with_a_name_like_markup(output, tmp_path):
    text = output("network", tiny_model(tmp_path / "tiny.onnx", name="in[red]x"))
    assert "tiny: 1 layer, 32 MAC, 0 parameters" in text
    assert "inputs: in[red]x 1x8" in text
    assert "legal cuts: 0" in text
    assert "note: " in text


@pytest.mark.parametrize("name", platform_names())
def test_platform(output, name):
    data = json.loads(output("platform", name, "--json"))
    assert data["name"] == name
    text = output("platform", name)
    assert text.startswith(f"{name}: {data['title']}\n")
    assert all(len(line) <= 80 for line in text.splitlines())
    for part in (*data["domains"], *data["units"]):
        assert f"\n  {part['name']} " in text
    assert len(output("platform", name, columns=300).splitlines()) < len(text.splitlines())


def test_platform_of_a_file(output, tmp_path):
    file = tmp_path / "own.json"
    file.write_text('{"extends": "jetson-tx2", "name": "own", "title": "Own board"}')
    assert output("platform", str(file)).startswith("own: Own board\n")


def test_a_platform_as_a_file_to_edit(output, tmp_path):
    file = tmp_path / "mine.json"
    file.write_text(output("platform", "--new"), "utf-8")
    assert output("platform", str(file)).startswith("my-board: My board\n")
    file.write_text(output("platform", "jetson-xavier-nx", "--source"), "utf-8")
    assert "extends" not in json.loads(file.read_text("utf-8"))
    assert output("platform", str(file)) == output("platform", "jetson-xavier-nx")
    for wrong in (["--new", "jetson-tx2"], [], ["jetson-tx2", "--json", "--source"]):
        assert "NAME with at most one of" in output("platform", *wrong, status=2)


@pytest.mark.parametrize("name", ["rate_converter", "block_video"])
def test_sdf(output, name, monkeypatch):
    # Both forms of one analysis, which takes seconds.
    reports = []

    def once(*arguments, **options):
        if not reports:
            reports.append(analyse(*arguments, **options))
        return reports[0]

    monkeypatch.setattr("paretosoc.dse.cli.catalogue.sdf.analyse", once)
    file = GRAPHS / f"{name}.xml"
    graph = read_graph(file)
    data = json.loads(output("sdf", str(file), "--json"))
    firings = {actor["name"]: actor["repetitions"] for actor in data["actors"]}
    for channel in graph.channels:
        produced = firings[channel.source] * channel.production
        assert produced == firings[channel.target] * channel.consumption
    assert data["firings"] == sum(firings.values())
    # Without auto-concurrency no actor fires faster than one after the other.
    period = Fraction(data["throughput"]["period"]["exact"])
    assert period >= max(actor["repetitions"] * actor["time"] for actor in data["actors"])
    assert Fraction(data["throughput"]["iterations_per_time_unit"]["exact"]) == 1 / period
    buffers = data["buffers_for_throughput"]
    assert sum(channel["tokens"] for channel in buffers["capacities"]) == buffers["tokens"]
    assert buffers["lower_bound"] <= buffers["tokens"]
    assert Fraction(buffers["throughput"]["period"]["exact"]) == period
    assert data["deadlock_free_buffers"]["tokens"] <= buffers["tokens"]
    for order in data["bound"]["orders"]:
        total = dict.fromkeys(firings, 0)
        for actor, count in order["firings"]:
            total[actor] += count
        assert all(count in (0, firings[actor]) for actor, count in total.items())

    text = output("sdf", str(file))
    for actor, count in firings.items():
        assert f"\n  {actor}: {count}, " in text
    assert f"throughput: {1 / period} iterations per time unit" in text
    assert all(len(line) <= 80 for line in text.splitlines())


def test_sdf_for_a_throughput_and_a_type_of_processor(output, monkeypatch):
    file = str(GRAPHS / "rate_converter.xml")
    data = json.loads(output("sdf", file, "--throughput", "1/9000", "--json"))
    assert data["buffers_for_throughput"]["wanted"]["exact"] == "1/9000"
    points = data["trade_off"]["points"]
    least = min(
        point["tokens"]
        for point in points
        if Fraction(point["throughput"]["iterations_per_time_unit"]["exact"]) >= Fraction(1, 9000)
    )
    assert data["buffers_for_throughput"]["tokens"] == least
    monkeypatch.setattr(sdf_report, "TRADE_OFF_FIRINGS", 0)
    data = json.loads(output("sdf", file, "--processor-type", "cpu", "--json"))
    times = {actor["name"]: actor["time"] for actor in data["actors"]}
    assert times["raise_8_7"] == 350
    assert [order["processor"] for order in data["bound"]["orders"]] == ["cpu"]


def test_sdf_says_which_of_several_default_processors_it_takes(output, tmp_path, monkeypatch):
    # The trade-off takes seconds.
    monkeypatch.setattr(sdf_report, "TRADE_OFF_FIRINGS", 0)
    text = (GRAPHS / "rate_converter.xml").read_text().replace('default="false"', 'default="true"')
    file = tmp_path / "two.xml"
    file.write_text(text)
    lines = output("sdf", str(file), columns=300).splitlines()
    note, left_out = (line for line in lines if line.startswith("note: "))
    assert left_out.startswith("note: no trade-off: ")
    assert "the first one counts: 'reader' on 'cpu', " in note
    others = output("sdf", str(file), "--processor-type", "cpu", columns=300)
    assert others.count("note: ") == others.count("note: no trade-off: ") == 1


BAD = [
    (["network", "vgg18"], "did you mean vgg19"),
    (["network", "none.onnx"], "'none.onnx'"),
    (["network", "vgg19", "--dim", "N"], "--dim: NAME=N"),
    (["network", "vgg19", "--dim", "N=0"], "--dim: NAME=N"),
    (["network"], "Missing argument"),
    (["network", str(GRAPHS / "block_video.xml")], "is a dataflow graph, and no network"),
    (["platform", "jetson-tx3"], "did you mean jetson-tx2"),
    (["platform", "none.json"], "none.json"),
    (["sdf", "none.xml"], "none.xml"),
    (["sdf", str(Path(__file__))], "test_inspect_commands.py"),
    (["sdf", str(GRAPHS / "rate_converter.xml"), "--processor-type", "gpu"], "'gpu'"),
    (["sdf", str(GRAPHS / "rate_converter.xml"), "--throughput", "x"], "--throughput"),
    (["sdf", str(GRAPHS / "rate_converter.xml"), "--throughput", "1"], "1/4508"),
    (["networks", "vgg19"], "unexpected extra argument"),
    (["networks", "--family", "Lenet"], "no family 'Lenet'; there are ALBERT, AlexNet, BEiT"),
]


def test_a_language_model_at_a_position(output):
    text = " ".join(
        output("network", "qwen2-0.5b", "--dim", "sequence=1", "--dim", "past=7").split()
    )
    assert "layer0/past_key 1x2x7x64" in text
    assert "and 42 more (all with --json)" in text
    assert "attention 24" in text


@pytest.mark.parametrize(("arguments", "part"), BAD)
def test_bad_input_is_one_line_and_status_2(output, arguments, part):
    message = output(*arguments, status=2)
    assert message.startswith("dse: ")
    assert message.count("\n") == 1
    assert part in message


@pytest.mark.parametrize("columns", [40, 80, 120, 250])
@pytest.mark.parametrize("command", ["networks", "platforms"])
def test_lists_fit_the_terminal(output, command, columns):
    lines = output(command, columns=columns).splitlines()
    assert all(len(line.rstrip()) <= columns for line in lines)
    rows = json.loads(output(command, "--json"))
    starts = [line.split()[0] for line in lines if not line.startswith(" ")]
    assert starts[1 : len(rows) + 1] == [row["name"] for row in rows]
    if columns == 80:
        # Nobody wants to read folded columns of ten letters.
        assert len(lines) <= 2 * len(rows) + 2
    if columns == 250:
        assert len(lines) == 1 + len(rows)
        for line, row in zip(lines[1:], rows, strict=True):
            assert line.split("  ")[0].strip() == row["name"]
            assert all(value in line for value in row.values() if isinstance(value, str))


def test_what_is_not_shown_is_named(output):
    told = "not shown at this width: parameters, accuracy, description, origin"
    assert told in output("networks")
    assert "not shown" not in output("networks", columns=250)


def test_networks_of_a_family(output):
    rows = json.loads(output("networks", "--json"))
    named = [row["name"] for row in rows if row["family"] == "VGG"]
    assert [row["name"] for row in json.loads(output("networks", "--family", "vgg", "--json"))] == (
        named
    )
    lines = output("networks", "--family", "VGG", columns=250).splitlines()
    assert [line.split()[0] for line in lines[1:]] == named
    vgg19 = next(line for line in lines if line.startswith("vgg19 "))
    assert "19.6 G" in vgg19
    assert "144 M" in vgg19


def test_lists_are_complete(output):
    rows = json.loads(output("networks", "--json"))
    assert sorted(row["name"] for row in rows) == [entry.name for entry in catalogue()]
    families = [row["family"] for row in rows]
    assert [family for family, _ in groupby(families)] == sorted(set(families), key=str.lower)
    assert all(row["origin"] and row["description"] and row["input"] for row in rows)
    vgg19 = next(row for row in rows if row["name"] == "vgg19")
    assert (vgg19["MACs"], vgg19["parameters"]) == (19632062464, 143667240)
    rows = json.loads(output("platforms", "--json"))
    assert [row["name"] for row in rows] == list(platform_names())


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from paretosoc.dse.cli.main import run; run(['--help'])\n"
        "heavy = {'onnx', 'numpy', 'numba', 'matplotlib', 'pymoo', 'yaml', 'jsonschema'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"
    for command in ("network", "platform", "sdf"):
        assert f" {command} " in done.stdout


@pytest.mark.parametrize(
    ("line", "width", "result"),
    [
        ("", 20, [""]),
        ("  gpu  one two three", 40, ["  gpu  one two three"]),
        ("  gpu  one two three", 14, ["  gpu  one two", "       three"]),
        ("one two three", 8, ["one two", "  three"]),
        ("  a  " + "x" * 20, 10, ["  a", "     " + "x" * 20]),
    ],
)
def test_long_lines_go_on_below_their_beginning(line, width, result):
    assert wrapped(line, width) == result


def test_the_program_runs_as_a_module():
    ended = subprocess.run(
        [sys.executable, "-m", "paretosoc.dse.cli.main", "platforms"],
        cwd=Path(__file__).parents[4],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 0
    assert all(name in ended.stdout for name in platform_names())
    bad = subprocess.run(
        [sys.executable, "-m", "paretosoc.dse.cli.main", "platform", "none"],
        cwd=Path(__file__).parents[4],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert bad.returncode == 2
    assert bad.stderr.startswith("dse: ")


def test_what_a_file_holds_is_noted(output):
    folder = Path(__file__).parents[3] / "data/models"
    text = output("network", str(folder / "resnet18_qdq.onnx"), "--dim", "words=3")
    assert "quantised: explore it with --precision int8" in " ".join(text.split())
    assert "no dynamic dimension 'words'" in " ".join(text.split())
    # On Orin INT8 is the format that is computed in, on Orin Nano FP16.
    for board, noted in (("jetson-agx-orin", False), ("jetson-orin-nano-8gb", True)):
        text = output("network", str(folder / "resnet18_qdq.onnx"), "-p", board)
        assert ("explore it with --precision" in " ".join(text.split())) is noted
    text = output("network", str(folder / "genai_llama_fp32.onnx"), status=2)
    for name in ("sequence_length", "past_sequence_length", "total_sequence_length"):
        assert f"--dim {name}=N" in " ".join(text.split())


def test_an_embedding_is_read_by_rows_and_held_whole(dse):
    text = dse("network", "bert-base").out
    assert "85.84 M parameters (343.4 MB are read, memory holds 437.9 MB)" in text
    data = json.loads(dse("network", "bert-base", "--json").out)
    # The 109,482,240 published, and an index of one token that is cut out.
    assert data["held_bytes"] == 4 * 109_482_241
    assert "memory holds" not in dse("network", "squeezenet").out


@pytest.mark.parametrize(
    ("count", "text"),
    [(999, "999 "), (12_345, "12.3 k"), (999_400, "999 k"), (999_600, "1 M"), (10**9 - 1, "1 G")],
)
def test_a_count_that_is_rounded_up_has_the_next_prefix(count, text):
    assert with_prefix(count, 3) == text
