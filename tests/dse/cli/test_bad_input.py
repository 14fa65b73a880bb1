"""Whatever is wrong with the input: one clear line (a few where a list helps), the right exit
status, never a traceback, and nothing half-written."""

import json
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
ON_XAVIER = ("-p", "jetson-agx-xavier", "--groups", "3", "--max-evaluations", "100", "-q")


@pytest.fixture
def refused(dse, tmp_path):
    """Explores into a fresh folder, which must be refused without leaving anything behind."""

    def call(*arguments, status=2, lines=1):
        target = tmp_path / "out"
        target.mkdir(exist_ok=True)
        got = dse("explore", *arguments, "-o", target / "run")
        assert (got.status, got.out) == (status, "")
        assert len(got.lines) == lines
        assert got.err.startswith("dse: ")
        assert list(target.iterdir()) == [], "nothing half-written"
        return got.err

    return call


def value(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def model_bytes(nodes, inputs, outputs):
    graph = helper.make_graph(nodes, "graph", inputs, outputs)
    opset = [helper.make_opsetid("", 13)]
    return helper.make_model(graph, opset_imports=opset).SerializeToString()


SQUEEZENET = (LIGHT / "light_squeezenet.onnx").read_bytes()
BROKEN_MODELS = {
    "text": b"this is no network at all\n",
    "json": b'{"ir_version": 7}',
    "empty": b"",
    "truncated": SQUEEZENET[: len(SQUEEZENET) // 2],
    "truncated at the end": SQUEEZENET[:-3],
    "zeros": bytes(5000),
    "cyclic": model_bytes(
        [helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Relu", ["a"], ["b"])],
        [value("x", 1, 4)],
        [value("b", 1, 4)],
    ),
    "input that nobody makes": model_bytes(
        [helper.make_node("Relu", ["nothing"], ["y"])], [value("x", 1, 4)], [value("y", 1, 4)]
    ),
    "no node": model_bytes([], [value("x", 1, 4)], [value("x", 1, 4)]),
}


@pytest.mark.parametrize("name", BROKEN_MODELS)
def test_networks_that_cannot_be_read(refused, tmp_path, name):
    path = tmp_path / "net.onnx"
    path.write_bytes(BROKEN_MODELS[name])
    assert "net" in refused(path, *ON_XAVIER)


def test_networks_that_are_not_files(refused, tmp_path):
    folder = tmp_path / "folder.onnx"
    folder.mkdir()
    assert "folder.onnx" in refused(folder, *ON_XAVIER)
    assert "nowhere.onnx" in refused(tmp_path / "nowhere.onnx", *ON_XAVIER)


UNKNOWN = [
    (("no_such_net", *ON_XAVIER), "no network 'no_such_net'"),
    (("squeezenett", *ON_XAVIER), "squeezenet"),
    (("", *ON_XAVIER), "network"),
    (("squeezenet", "-p", "jetson-tx3"), "did you mean jetson-tx2"),
    (("squeezenet", "-p", ""), "known: "),
    (("squeezenet", *ON_XAVIER, "--units", "gpu,dla"), "did you mean dla"),
    (("squeezenet", *ON_XAVIER, "--units", ","), "--units: at least one"),
    (("squeezenet", *ON_XAVIER, "--fix", "gpuu=max"), "no domain 'gpuu'"),
    (("squeezenet", *ON_XAVIER, "--precision", "fp61"), "fp16"),
    (("squeezenet", *ON_XAVIER, "--objective", "latency", "--objective", "speed"), "'speed'"),
    (("squeezenet", *ON_XAVIER, "--objective", "latency", "--objective", "enrgy"), "energy?"),
    (("squeezenet", *ON_XAVIER, "--objective", "energy", "--objective", "latency:x"), "'x'"),
    (("squeezenet", *ON_XAVIER, "--objective", "latncy"), "did you mean latency?"),
    (("squeezenet", *ON_XAVIER, "--engine", "nsag2"), "did you mean nsga2 or"),
    (("squeezenet", *ON_XAVIER, "--deadline", "vgg19=3"), "no network 'vgg19'"),
    (("squeezenet", *ON_XAVIER, "--limit", "min-rate=5"), "--free-running is required"),
    (("squeezenet", *ON_XAVIER, "--fix", "vgg19:0=gpu"), "no network 'vgg19'"),
    (("squeezenet", *ON_XAVIER, "--fix", "squeezenet:0=tpu"), "no unit 'tpu'"),
    (("squeezenet", *ON_XAVIER, "--fix", "squeezenet:3=gpu"), "groups 0 to 2"),
    (("squeezenet", *ON_XAVIER, "--profile", "nowhere.json"), "nowhere.json"),
    (("squeezenet", *ON_XAVIER, "--unknown"), "--unknown"),
    (("squeezenet",), "--platform"),
]


@pytest.mark.parametrize(("arguments", "part"), UNKNOWN, ids=lambda v: str(v)[-50:])
def test_names_that_are_unknown(refused, arguments, part):
    assert part in refused(*arguments)


@pytest.mark.parametrize(
    ("typed", "part"),
    [
        (("explor", "x"), "'explor'; did you mean explore? (see 'dse --help')"),
        (("measure", "fidelty"), "did you mean fidelity? (see 'dse measure --help')"),
        (("costs", "x"), "did you mean analyze costs?"),
        (("show", "x", "--memeber", "3"), "--memeber'; did you mean --member?"),
        (("explore", "x", "--out", "r"), "--out'; did you mean --output?"),
        (("deploy", "x", "--no-chek"), "--no-chek'; did you mean --no-check? (see"),
        (("zzz",), "'zzz' (see 'dse --help')"),
        (("explore", "--max-jitter", "2"), "did you mean --limit max-jitter[:NETWORK]=MS? (see"),
    ],
)
def test_commands_and_options_that_are_mistyped(dse, typed, part):
    got = dse(*typed)
    assert (got.status, got.out) == (2, "")
    assert part in got.err


ABSURD = [
    ("--power-cap", text)
    for text in ("-3", "0", "nan", "inf", "1e999999999", "1e-999999999", "", "3V", "0x10", "1/0")
] + [
    ("--limit", "energy-budget=-1"),
    ("--deadline", "-1"),
    ("--deadline", "squeezenet="),
    ("--deadline", "=5=5"),
    ("--limit", "min-rate=0"),
    ("--limit", "min-rate:squeezenet="),
    ("--limit", "min-rate:squeezenet=-1"),
    ("--fps", "0"),
    ("--fps", "1e12"),
    ("--fps", "1e-9"),
    ("--groups", "0"),
    ("--groups", "-4"),
    ("--groups", "many"),
    ("--max-transitions", "-1"),
    ("--max-evaluations", "0"),
    ("--max-evaluations", "-5"),
    ("--seed", "-1"),
    ("--seed", "4294967296"),
    ("--jobs", "0"),
    ("--time-limit", "0"),
    ("--time-limit", "nan"),
    ("--fix", "gpu"),
    ("--fix", "gpu="),
    ("--fix", "gpu=-100"),
    ("--fix", "gpu=fast"),
    ("--fix", "gpu=1e999999999"),
    ("--fix", "squeezenet:2-1=gpu"),
    ("--fix", "squeezenet:-1=gpu"),
    ("--fix", "squeezenet="),
    ("--fix", "squeezenet:0-99999999999999999999=gpu"),
    ("--dim", "N=0"),
    ("--dim", "N"),
    ("--dim", "N=99999999999"),
]


@pytest.mark.parametrize(("option", "text"), ABSURD, ids=lambda v: v[:20])
def test_numbers_that_are_absurd(refused, option, text):
    refused("squeezenet", "-p", "jetson-agx-xavier", "-q", f"{option}={text}")


@pytest.mark.parametrize("copies", ["0", "-1", "65", "2.5", "", "9" * 30, "²"])
def test_copies_that_are_absurd(refused, copies):
    assert "copies from 1 to 64" in refused(f"squeezenet*{copies}", *ON_XAVIER)


def test_options_that_exclude_each_other(refused):
    both = ("--objective", "throughput", "--objective", "energy", "--fps", "3")
    assert "exclude each other" in refused("squeezenet", *ON_XAVIER, *both)
    twice = ("--objective", "energy", "--objective", "energy")
    assert "--objective: each at most once" in refused("squeezenet", *ON_XAVIER, *twice)
    pins = ("--fix", "squeezenet:0=gpu", "--fix", "squeezenet:0=dla0")
    assert "a pin forbids it" in refused("squeezenet", *ON_XAVIER, *pins)


def test_a_layer_that_no_unit_can_run_is_named_with_why(refused):
    text = refused("shufflenet", *ON_XAVIER, "--units", "dla0")
    assert "no unit can run layer '" in text
    assert "(dla0: " in text


def test_platform_file_with_a_wrong_field(refused, tmp_path):
    path = tmp_path / "mine.json"
    extended = {"extends": "jetson-agx-xavier", "name": "mine"}
    for change, part in (
        ({"board": 5}, "board"),
        ({"title": 3}, "title"),
        ({"no_such": 1}, "no_such"),
    ):
        path.write_text(json.dumps({**extended, **change}))
        text = refused("squeezenet", "-p", path)
        assert part in text
        assert "mine.json" in text
    for content in ("", "[]", "{", "\x00"):
        path.write_text(content)
        assert "mine.json" in refused("squeezenet", "-p", path)


def test_targets_that_cannot_be_written(dse, tmp_path):
    explore = ("explore", "squeezenet", *ON_XAVIER)
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine.txt").write_text("keep me")
    file = tmp_path / "file"
    file.write_text("keep me too")
    for target, more in (
        (full, ()),
        (full, ("--force",)),
        (file, ()),
        (file, ("--force",)),
        (file / "run", ()),
        (Path("/proc/none/run"), ()),
    ):
        got = dse(*explore, *more, "-o", target)
        assert (got.status, got.out, len(got.lines)) == (2, "", 1), target
    assert (full / "mine.txt").read_text() == "keep me"
    assert file.read_text() == "keep me too"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "full"]


@pytest.mark.parametrize(
    "command", [("show",), ("analyze", "costs"), ("analyze", "confidence"), ("evaluate", "--from")]
)
@pytest.mark.parametrize("spoilt", ["front.json", "problem.json", "costs.json"])
def test_result_folders_that_are_spoilt(dse, pair_folder, tmp_path, command, spoilt):
    folder = tmp_path / "run"
    folder.mkdir()
    for path in pair_folder.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    data = (folder / spoilt).read_bytes()
    changed = data.replace(b'"gpu"', b'"gpx"', 1)
    for content in (b"", data[: len(data) // 2], b"[]", b"\xff" + data, changed):
        (folder / spoilt).write_bytes(content)
        got = dse(*command, folder)
        assert (got.status, got.out, len(got.lines)) == (2, "", 1), content[:40]
        assert spoilt in got.err
    if spoilt != "costs.json":
        (folder / spoilt).unlink()
        got = dse(*command, folder)
        assert (got.status, len(got.lines)) == (2, 1)
        assert f"{spoilt}: is missing" in got.err


@pytest.mark.parametrize("arguments", [(), ("campaign",)])
def test_without_a_command_there_is_help_and_no_empty_message(dse, arguments):
    ended = dse(*arguments)
    assert ended.status == 2
    assert "Usage: dse" in ended.out + ended.err
    assert not any(line.startswith("dse:") for line in ended.lines)
