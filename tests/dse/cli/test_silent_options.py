"""Options and files that would have no effect, or contradict each other, are not passed over."""

import json

import pytest

SMALL = ("--engine", "random", "--max-nodes", "0", "--groups", "4", "--max-evaluations", "50", "-q")


def test_a_domain_fixed_twice_is_refused(dse, tmp_path):
    more = ("--fix", "gpu=max", "--fix", "gpu=min", "-o", tmp_path / "run")
    got = dse("explore", "squeezenet", "-p", "jetson-agx-xavier", *SMALL, *more)
    assert got.status == 2
    assert got.lines == [
        "dse: --fix: one clock for each domain is required, got gpu=max and gpu=min"
    ]
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("deploy", "run", "--to", "trtexec", "--to", "sysfs", "-o", "out"),
        ("explore", "squeezenet", "-p", "jetson-tx2", "--platform", "orin", "-o", "run"),
        ("import", "trtexec", "log", "--unit", "gpu", "--unit", "dla0"),
        ("show", "run", "--member=1", "--member", "2"),
    ],
)
def test_a_second_value_of_an_option_that_takes_one_is_refused(dse, arguments):
    got = dse(*arguments)
    assert got.status == 2
    (line,) = got.lines
    assert ": is taken once, got 2 (see 'dse " in line
    assert dse("platforms", "--json", "--json").status == 0


@pytest.mark.parametrize(("network", "told"), [("squeezenet", True), ("alexnet", False)])
def test_measurements_of_another_network_are_named(dse, tmp_path, network, told):
    rows = [{"name": "conv1", "averageMs": 0.1, "timeMs": 1.0, "percentage": 100}]
    (tmp_path / "rows.json").write_text(json.dumps([{"count": 10}, *rows]), encoding="utf-8")
    mine = tmp_path / "mine.json"
    made = dse(
        *("import", "trtexec", tmp_path / "rows.json", "--network", "alexnet"),
        *("-p", "jetson-agx-xavier", "--unit", "gpu", "--at", "max", "-o", mine),
    )
    assert made.status == 0, made.err
    more = ("--profile", mine, "-o", tmp_path / "run")
    got = dse("explore", network, "-p", "jetson-agx-xavier", *SMALL, *more)
    assert got.status == 0
    assert ("its measurements of 'alexnet' in fp16 are not used" in got.err) is told


@pytest.mark.parametrize(
    ("network", "size", "precision", "told"),
    [
        ("squeezenet", 1, "fp16", None),
        (
            *("squeezenet", 1, "fp32"),
            "'squeezenet' in fp16 are not used; the workload has squeezenet in fp32; "
            "--precision fp16 uses them",
        ),
        (
            *("squeezenet", 2, "fp16"),
            "'squeezenet' in fp16 only correct estimates; the workload has squeezenet in fp16; "
            "they are of 0.698 GMAC, squeezenet has 0.349: their inputs differ in size",
        ),
        (
            *("alexnet", 1, "fp16"),
            "'squeezenet' in fp16 only correct estimates; the workload has alexnet in fp16",
        ),
    ],
)
def test_a_calibration_that_does_not_hold_is_named(dse, tmp_path, network, size, precision, told):
    table, mine = tmp_path / "rows.csv", tmp_path / "mine.json"
    table.write_text("network,unit,ms\nsqueezenet,gpu,9\n")
    made = dse("calibrate", table, "-p", "jetson-tx2", "--precision", "fp16", "-o", mine)
    assert made.status == 0, made.err
    document = json.loads(mine.read_text())
    document["models"][0]["macs"] *= size
    mine.write_text(json.dumps(document))
    more = ("--precision", precision, "--profile", mine, "-o", tmp_path / "run")
    got = dse("explore", network, "-p", "jetson-tx2", *SMALL, *more)
    assert got.status == 0, got.err
    warnings = [line for line in " ".join(got.err.split()).split("warning: ") if "profile" in line]
    expected = [] if told is None else [f"profile: its measurements of {told}"]
    assert [line.strip() for line in warnings] == expected


def test_nodes_of_a_proof_are_refused_with_robust_which_has_none(dse, tmp_path):
    command = ("explore", "squeezenet", "-p", "jetson-tx2", "--robust", "p90", "--groups", "4")
    got = dse(*command, "--max-nodes", "1", "-o", tmp_path / "run")
    assert got.status == 2
    assert got.lines == ["dse: --max-nodes: is for a proof, and --robust has none"]
    few = ("--max-nodes", "0", "--max-evaluations", "20", "-q")
    assert dse(*command, *few, "-o", tmp_path / "run").status == 0


def test_tables_of_co_runs_have_no_output(dse, tmp_path):
    got = dse("measure", "co-runs", tmp_path / "co.csv", "-o", tmp_path / "out.csv")
    assert (got.status, got.lines) == (2, ["dse: --output: is for networks, not for tables"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("evaluate", "vgg19", "-p", "jetson-tx2", "--mapping", "m.json", "--member", "1"),
            "--member: needs --from",
        ),
        (
            ("compare", "a", "b", "--json", "--markdown"),
            "--markdown: is for the table, without --json",
        ),
        (("campaign", "table", "c", "--json", "--csv"), "--csv: prints the table, without --json"),
        (
            ("run", "r", "--seconds", "1", "--frames", "9"),
            "--frames: is for runs without --seconds",
        ),
        (
            ("run", "r", "--seconds", "1", "--swap", "--member", "1"),
            "--member: is one schedule, and --swap runs those that improve",
        ),
        (
            ("measure", "co-runs", "t.csv", "--rounds", "2"),
            "--rounds: is for networks, not for tables",
        ),
        (
            ("measure", "co-runs", "vgg19", "alexnet", "zfnet512", "--unit", "gpu", "-o", "t.csv"),
            "--unit: is for a board that --platform names",
        ),
        (
            (
                *("measure", "co-runs", "vgg19", "alexnet", "zfnet512", "-p", "jetson-tx2"),
                *("--threads", "2", "-o", "t.csv"),
            ),
            "--threads: is for runs on this machine",
        ),
        (("measure", "contention", "t.csv", "--name", "mine"), "--name: needs --platform"),
        (("import", "tegrastats", "log", "--merge"), "--merge: needs --network"),
        (("import", "tegrastats", "log", "--at", "max"), "--at: needs --network"),
        (
            ("import", "tegrastats", "log", "-n", "vgg19", "-p", "jetson-tx2", "--json"),
            "--json: is for a log, without --network",
        ),
        (
            ("sensitivity", "m.onnx", "--data", "random", "-o", "t.csv", "--image-mean", "0.5"),
            "--image-mean: is for images, which --data random does not have",
        ),
        (("analyze", "csdf", "r", "--in-order"), "--in-order: needs --output or --json"),
    ],
)
def test_an_option_without_effect_is_refused(dse, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    got = dse(*arguments)
    assert (got.status, got.lines) == (2, [f"dse: {message}"])


@pytest.mark.parametrize(
    ("formats", "message"),
    [
        (("fp16", "fp32"), "all boards is required, got fp16 and fp32"),
        (("jetson-tx2=fp16", "jetson-tx2=fp32"), "jetson-tx2 is required, got fp16 and fp32"),
    ],
)
def test_one_number_format_is_taken_for_a_board(dse, tmp_path, formats, message):
    given = [word for name in formats for word in ("--precision", name)]
    got = dse("choose", "squeezenet", "-p", "jetson-tx2", *given, "-o", tmp_path / "o")
    assert (got.status, got.lines) == (2, [f"dse: --precision: one format for {message}"])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--merge",), "--merge: needs --output"),
        (
            ("--at", "gpu=max", "--at", "gpu=min"),
            "--at: one clock for each domain is required, got gpu=max and gpu=min",
        ),
        (("--merge", "--force", "-o", "p.json"), "--merge and --force exclude each other"),
    ],
)
def test_an_import_either_adds_to_a_profile_or_replaces_it(
    dse, tmp_path, monkeypatch, more, message
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.json").write_text('[{"count": 1}, {"name": "conv1", "averageMs": 0.1}]')
    command = ("import", "trtexec", "rows.json", "-n", "alexnet", "-p", "jetson-tx2", "--at", "max")
    got = dse(*command, *more)
    assert (got.status, got.lines) == (2, [f"dse: {message}"])


def test_options_of_one_exploration_say_how_to_choose_a_power_mode(dse, tmp_path):
    few = ("--robust", "p90", "--groups", "1", "-o", tmp_path / "o")
    got = dse("explore", "squeezenet", "-p", "jetson-orin-nano-8gb@15W,25W", *few)
    message = "is for one combination of power modes, got 2; --platform BOARD@MODE can name it"
    assert (got.status, got.lines) == (2, [f"dse: --robust: {message}"])
