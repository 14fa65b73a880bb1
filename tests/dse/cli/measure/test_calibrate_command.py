"""``dse calibrate`` and what ``dse explore`` makes of its profile."""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from io import StringIO
from itertools import product
from pathlib import Path

import pytest

from paretosoc.dse.cli.main import run
from paretosoc.dse.cli.measure.calibrate import _rounded
from paretosoc.fitness.cost_model.dvfs_forms import (
    MEANINGS,
    PowerForm,
    TimeForm,
    power_parameters,
    time_parameters,
)
from paretosoc.fitness.costs.network_costs import network_costs
from paretosoc.fitness.profiles.profile_file import load_profile
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.costs.cost_origins import CostOrigin
from paretosoc.results.export.result_folder import read_costs, read_results
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.grouping.grouping import group_network

EXAMPLES = Path(__file__).parents[4] / "examples"
FIVE = EXAMPLES / "tang" / "five_pairs.csv"


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory):
    """The profile of five clock pairs, and what the command prints."""
    path = tmp_path_factory.mktemp("calibrated") / "tx2.json"
    command = ["calibrate", str(FIVE), "--platform", "jetson-tx2", "-o", str(path)]
    with redirect_stdout(StringIO()) as out:
        assert run([*command, "--json", "--cross-validate"]) == 0
    return path, json.loads(out.getvalue())


@pytest.fixture
def profile(calibrated):
    return calibrated[0]


def test_measured_points_come_out_of_an_exploration(dse, profile, tmp_path):
    """At a clock pair that was measured, everything on the GPU gives about what was measured."""
    clocks = ["--fix", "gpu=1300.5", "--fix", "a57=2035.2", "--fix", "emc=max"]
    done = dse(
        *("papers", "explore", "vgg19", "-p", "jetson-tx2", "--units", "gpu"),
        *("--profile", profile),
        *("--objective", "throughput", "--objective", "energy", *clocks),
        *("--throughput-model", "analytic", "-o", tmp_path / "run", "--quiet"),
    )
    assert done.status == 0, done.err
    front = read_results(tmp_path / "run")
    (member,) = front.members
    assert 1e12 / member.objectives[0] == pytest.approx(14.30, rel=0.03)
    assert member.energy_fj / 1e12 == pytest.approx(580, rel=0.03)
    costs = read_costs(tmp_path / "run", front.problem)
    assert {group.by_unit[0].origin for group in costs.networks[0].groups} == {
        CostOrigin.CALIBRATED
    }


def test_the_document_has_everything(calibrated):
    profile, document = calibrated
    assert document["profile"] == json.loads(profile.read_text())
    forms = {entry["form"]: entry for entry in document["cross_validation"]}
    assert forms["overlap-stall"]["median_error"] < forms["overlap"]["median_error"]
    # Without the centre, two GPU clocks are left for three parts.
    assert "cannot determine static_mw and own_mw and clock_mw" in forms["voltage-clock"]["reason"]


def test_the_power_of_the_board_is_said(calibrated):
    profile, document = calibrated
    fitted = json.loads(profile.read_text())["board_mw"] / 1000
    (note,) = [note for note in document["notes"] if "constant power of the board" in note]
    has = load_platform("jetson-tx2").board_mw / 1000
    assert note.endswith(f"now {fitted:g} W by the measured powers, jetson-tx2 has {has:g} W")


def test_a_time_on_one_core_holds_on_cores_that_are_described_alike(dse, tmp_path):
    path, profile = tmp_path / "rows.csv", tmp_path / "mine.json"
    path.write_text("network,unit,ms\nyolov8n,npu0,15.2\nalexnet,npu0,9\nalexnet,npu1,8\n")
    done = dse("calibrate", path, "-p", "rk3588", "-o", profile)
    assert done.status == 0, done.err
    notes = [line for line in done.out.splitlines() if "describes them alike" in line]
    assert [note.split(":")[1] for note in notes] == [" npu1", " npu2"]
    document = json.loads(profile.read_text())
    rows = {("alexnet", "npu0"), ("alexnet", "npu1"), ("yolov8n", "npu0")}
    for entries in (document["models"], document["comparisons"]):
        assert {(one["network"], one["unit"]) for one in entries} == rows
    held = load_profile(profile, load_platform("rk3588")).comparisons
    assert sorted((one.network, one.unit) for one in held) == [
        (network, f"npu{core}") for network in ("alexnet", "yolov8n") for core in range(3)
    ]
    command = ("explore", "yolov8n", "-p", "rk3588", "--units", "npu1,npu2", "--groups", "2")
    given = ("--profile", profile, "--fix", "npu=max", "--objective", "latency")
    assert dse(*command, *given, "-q", "-o", tmp_path / "run").status == 0
    (member,) = read_results(tmp_path / "run").members
    assert member.objectives[0] / 1e9 == pytest.approx(15.2, rel=0.01)


@pytest.mark.parametrize(("options", "told"), [((), True), (("--precision", "fp16"), False)])
def test_the_number_format_that_was_assumed_is_told(dse, tmp_path, options, told):
    path = tmp_path / "rows.csv"
    path.write_text("network,unit,ms\nalexnet,npu0,9\n")
    done = dse("calibrate", path, "-p", "rk3588", *options)
    assert done.status == 0, done.err
    note = "Note: all rows are taken as int8, the default of rk3588; --precision takes another"
    assert (note in done.out) == told


def test_a_time_far_beyond_the_stated_error_is_said(dse, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("network,unit,gpu_mhz,emc_mhz,ms\nvgg19,gpu,1300.5,1866,670\n")
    outcome = dse("calibrate", path, *ON_TX2)
    assert outcome.status == 0, outcome.err
    assert outcome.out.count("far beyond the stated error") == 1
    assert "check clocks, power mode and heat of the board" in " ".join(outcome.out.split())


ON_TX2 = ("--platform", "jetson-tx2")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((*ON_TX2, "--form", "cubic"), "'--form': 'cubic' is not one of"),
        ((*ON_TX2, "--power-form", "cubic"), "'--power-form': 'cubic' is not one of"),
        (("--platform", "jetson-tx3"), "jetson-tx3"),
    ],
)
def test_options_that_are_none(dse, options, message):
    outcome = dse("calibrate", FIVE, *options)
    assert outcome.status == 2
    assert message in outcome.err


def test_of_few_runs_the_richest_form_is_taken_and_said(dse, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(
        "network,unit,gpu_mhz,emc_mhz,ms\n"
        "vgg19,gpu,1300.5,1866,67.2\nvgg19,gpu,1300.5,1062.4,99.4\n"
        "vgg19,gpu,114.75,1866,576.6\nvgg19,gpu,726.75,1062.4,113.1\n"
    )
    outcome = dse("calibrate", path, "--platform", "jetson-tx2")
    assert outcome.status == 0, outcome.err
    assert "Time of vgg19 on gpu: overlap-fitted, the richest form that 4 times" in outcome.out
    outcome = dse("calibrate", path, "--platform", "jetson-tx2", "--json")
    (form,) = json.loads(outcome.out)["forms"]
    assert form["form"] == "overlap-fitted"
    assert "cannot determine stall" in form["reason"]
    outcome = dse("calibrate", path, "--platform", "jetson-tx2", "--form", "overlap-stall")
    assert outcome.status == 2
    assert "cannot determine" in outcome.err


def test_the_form_that_predicts_best_is_taken_and_said(dse):
    """Four runs for three parameters: fitted p follows the noise."""
    table = EXAMPLES / "first_day" / "runs.csv"
    outcome = dse("calibrate", table, "-p", "jetson-orin-nano-8gb", "--json", "--cross-validate")
    document = json.loads(outcome.out)
    (form,) = document["forms"]
    errors = {entry["form"]: entry["largest_error"] for entry in document["cross_validation"]}
    assert form["form"] == "overlap"
    assert errors["overlap"] < errors["overlap-fitted"]
    assert "4 times best from the others (root mean square: overlap-fitted" in form["reason"]
    # Three of the four powers leave open what the clock part of the richest form is.
    assert errors["voltage-clock"] is None
    assert form["power_form"] == "share"
    assert errors["share"] < errors["voltage"]
    assert "not voltage-clock, which the others do not determine" in form["power_reason"]


def test_an_older_profile_is_not_replaced(dse, profile):
    outcome = dse("calibrate", FIVE, "--platform", "jetson-tx2", "-o", profile)
    assert outcome.status == 2
    assert "--force replaces it" in outcome.err


def test_a_layer_that_is_not_there(dse, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("network,unit,layer,ms\nvgg19,gpu,conv99,1\n")
    outcome = dse("calibrate", path, "--platform", "jetson-tx2")
    assert outcome.status == 2
    assert "network 'vgg19' has no layer 'conv99'" in outcome.err


def test_a_network_that_is_not_there_is_named_with_the_table(dse, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("network,unit,ms\nvgg91,gpu,1\n")
    outcome = dse("calibrate", path, "--platform", "jetson-tx2")
    assert outcome.status == 2
    assert outcome.err.startswith(f"dse: {path}: no network 'vgg91' in the catalogue")


def test_measurements_that_say_too_little(dse, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("network,unit,ms\nvgg19,gpu,70\n")
    outcome = dse("calibrate", path, "--platform", "jetson-tx2", "--form", "overlap")
    assert outcome.status == 2
    assert "need as many measurements at least, got 1" in outcome.err
    outcome = dse("calibrate", path, "--platform", "jetson-tx2")
    assert outcome.status == 0
    assert "Time of vgg19 on gpu: shares, the richest form that 1 time determines" in outcome.out


@pytest.mark.parametrize(
    "sizes",
    [("sequence=64",), ("bert-tiny:sequence=64",), ("sequence=32", "bert-tiny:sequence=64")],
)
def test_sizes_of_dimensions(dse, bert_and_squeezenet, sizes):
    dim = [word for size in sizes for word in ("--dim", size)]
    document = json.loads(dse("calibrate", bert_and_squeezenet, *ON_TX2, *dim, "--json").out)
    bert, squeezenet = document["profile"]["models"]
    assert (bert["macs"], squeezenet["macs"]) == (27279360, 349151936)


@pytest.mark.parametrize("name", ["bert-small:sequence", "squeezenet:sequence", "length"])
def test_a_dimension_that_no_network_has_is_refused(dse, bert_and_squeezenet, name):
    done = dse("calibrate", bert_and_squeezenet, *ON_TX2, "--dim", f"{name}=64")
    assert (done.status, len(done.err.splitlines())) == (2, 1)
    assert "dynamic dimension" in done.err


@pytest.fixture
def bert_and_squeezenet(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("network,unit,ms\nbert-tiny,gpu,9\nsqueezenet,gpu,9\n")
    return path


def profile_of_one_run(dse, folder):
    path, profile = folder / "one.csv", folder / "one.json"
    path.write_text("network,unit,ms\nalexnet,gpu,40\n")
    assert dse("calibrate", path, "-p", "jetson-tx2", "-o", profile).status == 0
    return profile


def test_another_network_on_the_unit_learns_from_it(dse, tmp_path):
    """The profile has the fastest run beside the estimate."""
    path, mine = tmp_path / "rows.csv", tmp_path / "mine.json"
    path.write_text(
        "network,unit,gpu_mhz,a57_mhz,ms\nalexnet,gpu,,,40\nalexnet,gpu,114.75,,200\n"
        "alexnet,gpu,726.75,345.6,90\nalexnet,gpu,,345.6,70\n"
    )
    assert dse("calibrate", path, "-p", "jetson-tx2", "-o", mine).status == 0
    (entry,) = json.loads(mine.read_text())["comparisons"]
    assert (entry["network"], entry["unit"], entry["ms"]) == ("alexnet", "gpu", 40)
    board = load_platform("jetson-tx2")
    network = group_network(load_network("vgg19").graph, None, groups=1)
    plain = network_costs(network, board, units=["gpu"]).units[0]
    taught = network_costs(network, board, units=["gpu"], profile=load_profile(mine, board)).units[
        0
    ]
    whole = entry["ms"] / entry["estimate_ms"]
    ratio = taught.time_ps[0, -1, -1, -1] / plain.time_ps[0, -1, -1, -1]
    assert min(whole, 1) < ratio < max(whole, 1)
    assert taught.error[0].of_network < plain.error[0].of_network
    assert "by the measured alexnet on gpu" in taught.note[0]
    # Of itself one run says less about other clocks than several.
    alexnet = group_network(load_network("alexnet").graph, None, groups=1)
    several, one = (
        network_costs(alexnet, board, units=["gpu"], profile=load_profile(file, board)).units[0]
        for file in (mine, profile_of_one_run(dse, tmp_path))
    )
    assert several.error[0].clock < one.error[0].clock
    assert one.time_ps[0, -1, -1, -1] == pytest.approx(40e9, rel=1e-6)


@pytest.mark.parametrize(("first", "noted"), [("3.10", False), ("3100", True)])
def test_rows_that_contradict_each_other_are_noted(dse, tmp_path, first, noted):
    path = tmp_path / "rows.csv"
    path.write_text(
        f"network,unit,gpu_mhz,emc_mhz,ms\nresnet50,gpu,1020,3199,{first}\n"
        "resnet50,gpu,306,3199,8.10\nresnet50,gpu,612,2133,4.6\nresnet50,gpu,306,2133,8.3\n"
    )
    outcome = dse("calibrate", path, "-p", "jetson-orin-nano-8gb")
    assert outcome.status == 0, outcome.err
    words = "its rows contradict each other, or one is in another unit, or of another clock"
    assert (words in outcome.out) == noted
    assert ("Note: time of resnet50 on gpu is off by" in outcome.out) == noted


@pytest.mark.parametrize(
    ("column", "powers", "noted"),
    [("mw", (13.5, 7.5), True), ("mw", (13500, 7500), False), ("mj", (0.0418, 0.0607), True)],
)
def test_powers_in_watts_are_noted(dse, tmp_path, column, powers, noted):
    path = tmp_path / "rows.csv"
    path.write_text(
        f"network,unit,gpu_mhz,emc_mhz,ms,{column}\n"
        f"resnet50,gpu,1020,3199,3.10,{powers[0]}\nresnet50,gpu,306,3199,8.10,{powers[1]}\n"
    )
    outcome = dse("calibrate", path, "-p", "jetson-orin-nano-8gb")
    assert outcome.status == 0, outcome.err
    assert ("resnet50 on gpu: a power of 7.5 mW is far below the" in outcome.out) == (
        noted and column == "mw"
    )
    assert outcome.out.count("mw must be in mW, mj in mJ") == noted


def test_clocks_that_are_left_out_are_said_and_a_poor_fit_has_its_residual(dse, tmp_path):
    path, profile = tmp_path / "rows.csv", tmp_path / "profile.json"
    path.write_text(
        "network,unit,gpu_mhz,emc_mhz,ms,mw\n"
        "resnet50,gpu,1020,,3.10,13500\nresnet50,gpu,918,,3.64,12600\n"
        "resnet50,gpu,306,3199,8.42,3600\nresnet50,gpu,612,,4.71,12700\n"
    )
    orin = ("-p", "jetson-orin-nano-8gb")
    outcome = dse("calibrate", path, *orin, "-o", profile)
    assert outcome.status == 0, outcome.err
    assert "gpu: 4 of 4 rows without cpu_mhz: taken as 729.6 MHz" in outcome.out
    assert "gpu: 3 of 4 rows without emc_mhz: taken as 3199 MHz" in outcome.out
    (model,) = json.loads(profile.read_text())["models"]
    network = group_network(load_network("resnet50").graph, None, groups=4)
    chip = load_platform("jetson-orin-nano-8gb")
    costs = network_costs(network, chip, units=["gpu"], profile=load_profile(profile, chip))
    (gpu,) = costs.units
    assert {(error.network, error.power) for error in gpu.error} == {
        tuple(round(1000 * model[of]["residual"]) for of in ("time", "power"))
    }
    assert model["power"]["residual"] > 0.2


def test_the_table_of_parameters_has_meanings_and_no_exponents(dse):
    done = dse("calibrate", FIVE, *ON_TX2, "--form", "overlap-stall")
    assert done.status == 0, done.err
    lines = [line for line in done.out.splitlines() if "compute_ms" in line or "own_mw" in line]
    assert lines
    assert not [line for line in lines if "e+" in line]
    assert "computing at the unit's fastest clock" in lines[0]
    for form in TimeForm:
        for hosted, fixed in product((False, True), repeat=2):
            assert {*time_parameters(form, hosted=hosted, fixed=fixed)} <= {*MEANINGS}
    for form in PowerForm:
        assert {*power_parameters(form, hosted=True)} <= {*MEANINGS}


@pytest.mark.parametrize(
    ("value", "text"),
    [(15190.4, "15,190"), (0.000046, "0.000046"), (1.5e15, "1,500,000,000,000,000")],
)
def test_parameters_have_no_exponents(value, text):
    assert _rounded(value, 4) == text
