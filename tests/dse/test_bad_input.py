"""Whatever is wrong with the input: one clear line (a few where a list helps), the right exit
status, never a traceback, and nothing half-written."""

import json
import random
from pathlib import Path

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper

from dse.cli_options import make_options, with_dimensions
from dse.cost_origins import cost_origins
from dse.errors import WorkloadError
from dse.mapping_file import mapping_from_document, row_of_mapping
from dse.options import Options
from dse.problem_builder import build_problem
from dse.workload import workload_of
from platforms.platform_file import load_platform
from results.costs_file import costs_from_bytes, costs_to_document
from results.errors import ResultError
from results.front_file import read_results

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
    (("squeezenet", *ON_XAVIER, "--deadline", "vgg19=3"), "no network 'vgg19'"),
    (("squeezenet", *ON_XAVIER, "--pin", "vgg19:0=gpu"), "no network 'vgg19'"),
    (("squeezenet", *ON_XAVIER, "--pin", "squeezenet:0=tpu"), "no unit 'tpu'"),
    (("squeezenet", *ON_XAVIER, "--pin", "squeezenet:3=gpu"), "groups 0 to 2"),
    (("squeezenet", *ON_XAVIER, "--profile", "nowhere.json"), "nowhere.json"),
    (("squeezenet", *ON_XAVIER, "--unknown"), "--unknown"),
    (("squeezenet",), "--platform"),
]


@pytest.mark.parametrize(("arguments", "part"), UNKNOWN, ids=lambda v: str(v)[-50:])
def test_names_that_are_unknown(refused, arguments, part):
    assert part in refused(*arguments)


ABSURD = [
    ("--power-cap", text)
    for text in ("-3", "0", "nan", "inf", "1e999999999", "1e-999999999", "", "3W", "0x10", "1/0")
] + [
    ("--energy-budget", "-1"),
    ("--deadline", "-1"),
    ("--deadline", "squeezenet="),
    ("--deadline", "=5=5"),
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
    ("--pin", "squeezenet:2-1=gpu"),
    ("--pin", "squeezenet:-1=gpu"),
    ("--pin", "squeezenet=gpu"),
    ("--pin", "squeezenet:0-99999999999999999999=gpu"),
    ("--dim", "N=0"),
    ("--dim", "N"),
    ("--dim", "N=99999999999"),
]


@pytest.mark.parametrize(("option", "text"), ABSURD, ids=lambda v: v[:20])
def test_numbers_that_are_absurd(refused, option, text):
    refused("squeezenet", *ON_XAVIER, f"{option}={text}")


@pytest.mark.parametrize("copies", ["0", "-1", "65", "2.5", "", "9" * 30, "²"])
def test_copies_that_are_absurd(refused, copies):
    assert "copies from 1 to 64" in refused(f"squeezenet*{copies}", *ON_XAVIER)


def test_options_that_exclude_each_other(refused):
    both = ("--objective", "throughput", "--objective", "energy", "--fps", "3")
    assert "exclude each other" in refused("squeezenet", *ON_XAVIER, *both)
    assert "two or more" in refused("squeezenet", *ON_XAVIER, "--objective", "energy")
    twice = ("--objective", "energy", "--objective", "energy")
    assert "at most once" in refused("squeezenet", *ON_XAVIER, *twice)
    pins = ("--pin", "squeezenet:0=gpu", "--pin", "squeezenet:0=dla0")
    assert "a pin forbids it" in refused("squeezenet", *ON_XAVIER, *pins)


def test_a_layer_that_no_unit_can_run_is_named_with_why(refused):
    text = refused("shufflenet", *ON_XAVIER, "--units", "dla0")
    assert "no unit can run layer '" in text
    assert "(dla0: " in text


def test_platform_file_with_a_wrong_field(refused, tmp_path):
    path = tmp_path / "mine.json"
    extended = {"extends": "jetson-agx-xavier", "name": "mine"}
    for change, part in (
        ({"board": 5}, "$.board"),
        ({"title": 3}, "$.title"),
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
    "command", [("show",), ("costs",), ("robustness",), ("evaluate", "--from")]
)
@pytest.mark.parametrize("spoilt", ["front.json", "problem.json", "costs.json"])
def test_result_folders_that_are_spoilt(dse, pair_folder, tmp_path, command, spoilt):
    folder = tmp_path / "run"
    folder.mkdir()
    for path in pair_folder.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    data = (folder / spoilt).read_bytes()
    reads = spoilt != "costs.json" or command[0] in ("costs", "evaluate")
    changed = data.replace(b'"gpu"', b'"gpx"', 1)
    for content in (b"", data[: len(data) // 2], b"[]", b"\xff" + data, changed):
        (folder / spoilt).write_bytes(content)
        got = dse(*command, folder)
        if reads:
            assert (got.status, got.out, len(got.lines)) == (2, "", 1), content[:40]
            assert spoilt in got.err
        else:
            assert got.status == 0
    if spoilt != "costs.json":
        (folder / spoilt).unlink()
        got = dse(*command, folder)
        assert (got.status, len(got.lines)) == (2, 1)
        assert f"{spoilt}: is missing" in got.err


# Random edits.


@pytest.fixture(scope="module")
def built():
    return build_problem(
        workload_of(["squeezenet", "squeezenet"]),
        load_platform("jetson-agx-xavier"),
        Options(groups=3, units=("gpu", "dla0")),
    )


def edited(document, rng):
    """The document with one value changed, removed or added, anywhere."""
    document = json.loads(json.dumps(document))
    places = []

    def walk(node):
        keys = list(node) if isinstance(node, dict) else range(len(node))
        for key in keys:
            places.append((node, key))
            if isinstance(node[key], dict | list):
                walk(node[key])

    walk(document)
    node, key = rng.choice(places)
    new = rng.choice(
        [None, True, -1, 0, 1, 2**70, 1.5, "", "gpu", "x", "max", [], {}, ["gpu"], {"0-2": "gpu"}]
    )
    choice = rng.random()
    if choice < 0.25:
        del node[key]
    elif choice < 0.4 and isinstance(node, dict):
        node[str(rng.choice(["0", "1-1", "emc", "squeezenet", "zz", ""]))] = new
    elif choice < 0.5 and isinstance(node, list):
        node.append(new)
    else:
        node[key] = new
    return document


def test_random_edits_of_mappings_are_taken_or_refused(built):
    rng = random.Random(0)
    origins = cost_origins(built)
    start = {
        "format": "paretosoc-mapping/1",
        "mapping": {"squeezenet": {"0": "gpu", "1-2": "gpu"}, "squeezenet#2": ["gpu"] * 3},
        "operating_points": {
            "gpu": 1377,
            "emc": "max",
            "dla": None,
            "cpu": {"index": 9, "frequency_khz": 1_190_400, "voltage_mv": None},
        },
    }
    row_of_mapping(mapping_from_document(start, "start"), built.problem, origins)
    taken = refusals = 0
    messages = []
    for _ in range(3000):
        document = start
        for _ in range(rng.randint(1, 3)):
            document = edited(document, rng)
        try:
            mapping = mapping_from_document(document, "edited")
            row = row_of_mapping(mapping, built.problem, origins)
        except (WorkloadError, ResultError) as error:
            refusals += 1
            messages.append(str(error))
        else:
            assert len(row) == built.problem.group_count + len(built.problem.domains)
            taken += 1
    assert taken > 100
    assert refusals > 1000
    assert all(message and "\n" not in message for message in messages)


def test_random_edits_of_costs_are_refused(built):
    rng = random.Random(1)
    start = costs_to_document(cost_origins(built), built.problem)
    text = json.dumps(start)
    refusals = 0
    for _ in range(600):
        document = edited(start, rng)
        if json.dumps(document) == text:
            continue
        with pytest.raises(ResultError):
            costs_from_bytes(json.dumps(document).encode(), built.problem)
        refusals += 1
    assert refusals > 500


TEXTS = st.text(
    alphabet=st.sampled_from("0123456789.-+eE=:,*x_ NnaifgpuMHZ²\x00\n'"), max_size=12
) | st.sampled_from(["latency", "energy", "gpu=max", "squeezenet:0-1=gpu", "10", "squeezenet=3"])


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.lists(TEXTS, max_size=3), TEXTS, TEXTS, st.lists(TEXTS, max_size=2), TEXTS, TEXTS, TEXTS)
def test_random_texts_of_options_are_taken_or_refused(
    many, power, energy, deadlines, fps, unit, dim
):
    try:
        options = make_options(
            objective=many,
            groups=3,
            branches=False,
            each_layer=False,
            max_transitions=None,
            units=unit,
            fix=many or None,
            precision=None,
            power_cap=power,
            energy_budget=energy,
            deadline=deadlines,
            fps=fps,
            pin=None,
        )
        with_dimensions(workload_of(["squeezenet"]), [dim])
    except WorkloadError:
        return
    assert options.power_cap_w > 0


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(TEXTS, max_size=2), TEXTS, st.lists(TEXTS, max_size=2))
def test_random_texts_build_a_problem_or_are_refused(fix, unit, pins):
    try:
        options = make_options(
            objective=None,
            groups=3,
            branches=False,
            each_layer=False,
            max_transitions=None,
            units=unit or None,
            fix=fix,
            precision=None,
            power_cap=None,
            energy_budget=None,
            deadline=None,
            fps=None,
            pin=pins,
        )
        built = build_problem(
            workload_of(["squeezenet"]), load_platform("jetson-agx-xavier"), options
        )
    except ValueError:
        return
    assert built.problem.allowed.any(axis=1).all()


def test_every_message_of_a_spoilt_folder_names_the_file(dse, pair_folder, tmp_path):
    """Bytes changed anywhere in front.json or problem.json never pass unnoticed."""
    rng = random.Random(2)
    messages = []
    front = read_results(pair_folder)
    for name in ("front.json", "problem.json"):
        data = bytearray((pair_folder / name).read_bytes())
        for _ in range(25):
            folder = tmp_path / f"{name}-{rng.random()}"
            folder.mkdir()
            for other in ("front.json", "problem.json"):
                (folder / other).write_bytes((pair_folder / other).read_bytes())
            changed = bytearray(data)
            place = rng.randrange(len(changed))
            changed[place] ^= 1 << rng.randrange(7)
            (folder / name).write_bytes(bytes(changed))
            try:
                same = read_results(folder)
            except ResultError as error:
                messages.append((folder, str(error)))
                continue
            # Only white space of front.json may change without being noticed.
            assert name == "front.json"
            assert [m.objectives for m in same.members] == [m.objectives for m in front.members]
    assert len(messages) > 40
    assert all(str(folder) in message for folder, message in messages)
