"""``dse deploy``: every format from a result folder, what it refuses, and what it leaves alone."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from dse.cli.main import run
from dse.tools.analysis.power_modes import mode_costs
from dse.tools.deploy.deploy import deploy as write_deployment
from dse.tools.deploy.deploy import fastest_served
from dse.tools.deploy.job import Options
from dse.tools.deploy.targets import Target
from dse.tools.deploy.texts import deployment_texts, fitting_targets
from dse.tools.deploy.write_clocks import idle_cpu_notes
from fitness.reference.account import plain_account
from platforms.io.platform_file import load_platform
from results.deploy.deployment import Deployment
from results.deploy.network_files import network_files
from results.deploy.nvpmodel_conf import parse_nvpmodel_conf, power_modes_of
from results.deploy.nvpmodel_section import nearest_mode, nvpmodel_section, power_modes
from results.errors import ResultError
from results.export.result_folder import read_costs, read_results, write_results
from results.io.canonical_json import content_sha256
from results.io.schema import check_against_schema
from tests.results.deploy.test_sysfs_script import Board
from tests.support.explored import explore


def deployment_of(folder, index=0, platform=None):
    front = read_results(folder)
    chip = load_platform(platform or front.provenance.platform)
    return Deployment(front, index, chip, read_costs(folder, front.problem))


def split_member(folder):
    """A member one of whose networks runs on two units."""
    front = read_results(folder)
    for index in range(len(front.members)):
        deployment = deployment_of(folder, index)
        if any(len(deployment.segments(n)) > 1 for n in range(2)):
            return index
    raise AssertionError("no member splits a network")


def manifest(folder):
    document = json.loads((folder / "deployment.json").read_bytes())
    check_against_schema(document, "deployment")
    rest = {key: value for key, value in document.items() if key != "content_sha256"}
    assert document["content_sha256"] == content_sha256(rest)
    assert sorted(file["name"] for file in document["files"]) == sorted(
        path.name for path in folder.iterdir() if path.name != "deployment.json"
    )
    return document


def test_json(dse, pair_folder, tmp_path):
    ran = dse("deploy", pair_folder, "--member", "knee", "--to", "json", "-o", tmp_path / "out")
    assert (ran.status, ran.err) == (0, "")
    document = manifest(tmp_path / "out")
    index = document["member_index"]
    assert "knee" in document["marks"]
    front = json.loads((pair_folder / "front.json").read_bytes())
    assert document["member"] == front["members"][index]
    for network in document["networks"]:
        mapping = front["members"][index]["mapping"][network["name"]]
        assert [group["unit"] for group in network["groups"]] == mapping
        covered = [
            (g, segment["unit"])
            for segment in network["segments"]
            for g in range(segment["first_group"], segment["last_group"] + 1)
        ]
        assert covered == list(enumerate(mapping))
        assert all(group["layers"] for group in network["groups"])


def test_onnx_parts_chain(dse, pair_folder, tmp_path):
    index = split_member(pair_folder)
    out = tmp_path / "out"
    ran = dse("deploy", pair_folder, "--member", index, "--to", "onnx", "-o", out)
    assert (ran.status, ran.err) == (0, "")
    assert "equal to the last bit" in ran.out
    assert "no trained values" in ran.out
    document = manifest(out)
    for network in document["networks"]:
        assert network["equality"]["largest_difference"] == 0
        for segment in network["segments"]:
            model = onnx.load(str(out / segment["file"]))
            names = [tensor["name"] for tensor in segment["inputs"] + segment["weights"]]
            assert [value.name for value in model.graph.input] == names
            layers = [
                name
                for group in network["groups"][segment["first_group"] : segment["last_group"] + 1]
                for name in group["layers"]
            ]
            assert set(layers) <= {node.name for node in model.graph.node}
        for number, segment in enumerate(network["segments"][1:], start=1):
            assert all(tensor["computed_by"] in range(number) for tensor in segment["inputs"])


def test_trtexec(dse, pair_folder, tmp_path):
    index = split_member(pair_folder)
    out = tmp_path / "out"
    ran = dse("deploy", pair_folder, "--member", index, "--to", "trtexec", "-o", out, "--no-check")
    assert ran.status == 0
    document = manifest(out)
    shellcheck = Path(sys.executable).parent / "shellcheck"
    assert subprocess.run([shellcheck, out / "engines.sh"], timeout=60).returncode == 0
    # A stand-in for trtexec writes down how it is called.
    fake, log = tmp_path / "trtexec", tmp_path / "log"
    fake.write_text(f'#!/bin/sh\nfor word in "$@"; do printf "%s\\n" "$word"; done >>{log}\n')
    fake.chmod(0o755)
    environment = {"TRTEXEC": str(fake), "PATH": "/usr/bin:/bin"}
    subprocess.run([out / "engines.sh", "build"], env=environment, check=True, timeout=60)
    words = log.read_text().splitlines()
    models = [word.removeprefix("--onnx=") for word in words if word.startswith("--onnx=")]
    assert sorted(set(models)) == sorted(p.name for p in out.glob("*.onnx"))
    split = next(n for n in document["networks"] if len(n["segments"]) > 1)
    expected = ",".join(
        f"{layer}:{'GPU' if group['unit'] == 'gpu' else 'DLA'}"
        for group in split["groups"]
        for layer in group["layers"]
    )
    assert f"--layerDeviceTypes={expected}" in words
    assert words.count("--fp16") == len(models)
    whole = onnx.load(str(out / f"{split['name']}.onnx"))
    layers = {layer for group in split["groups"] for layer in group["layers"]}
    assert layers <= {node.name for node in whole.graph.node}
    for segment in split["segments"]:
        start = words.index(f"--onnx={segment['file']}")
        call = words[start : start + 4]
        assert ("--useDLACore=0" in call) == (segment["unit"] == "dla0")
        assert ("--allowGPUFallback" in call) == (segment["unit"] == "dla0")
    log.unlink()
    subprocess.run([out / "engines.sh", "run"], env=environment, check=True, timeout=60)
    loaded = [w for w in log.read_text().splitlines() if w.startswith("--loadEngine=")]
    assert len(loaded) == len(models)


CONF = """# demo
< PARAM TYPE=FILE NAME=CPU_ONLINE >
CORE_1 /sys/devices/system/cpu/cpu1/online
< PARAM TYPE=CLOCK NAME=CPU_DENVER_0 >
FREQ_TABLE /sys/a
MAX_FREQ /sys/b
MIN_FREQ /sys/c
< PARAM TYPE=CLOCK NAME=GPU >
MAX_FREQ /sys/d
<PARAM TYPE=CLOCK NAME=EMC >
MAX_FREQ /sys/e
< PARAM TYPE=CLOCK NAME=DLA_CORE >
MAX_FREQ /sys/f
< PARAM TYPE=CLOCK NAME=PVA_VPS >
MAX_FREQ /sys/g
< POWER_MODEL ID=3 NAME=SLOW >
CPU_ONLINE CORE_1 0
CPU_DENVER_0 MAX_FREQ 1200000
GPU MAX_FREQ 670000000   # floored by the driver
EMC MAX_FREQ 1331200000
DLA_CORE MAX_FREQ 750000000
PVA_VPS MAX_FREQ 550000000
< POWER_MODEL ID=11 NAME=ALL >
CPU_ONLINE CORE_1 1
CPU_DENVER_0 MAX_FREQ -1
GPU MAX_FREQ -1
EMC MAX_FREQ 0
DLA_CORE MAX_FREQ -1
PVA_VPS MAX_FREQ -1
< PM_CONFIG DEFAULT=3 >
"""


def test_nvpmodel(dse, pair_folder, tmp_path):
    out = tmp_path / "out"
    ran = dse("deploy", pair_folder, "--to", "nvpmodel", "-o", out)
    assert (ran.status, ran.err) == (0, "")
    assert "Nearest of the board's own modes: mode 0 (MAXN)" in ran.out
    document = manifest(out)
    assert [mode["id"] for mode in document["power_modes"]] == list(range(8))
    text = (out / "nvpmodel.conf").read_text()
    # Our own reader of the format takes the section.
    (mode,) = parse_nvpmodel_conf(text, "section").modes
    assert (mode.number, mode.name) == (8, "PARETOSOC_0")
    khz = document["clocks_khz"]
    assert ("GPU", "MAX_FREQ", str(khz["gpu"] * 1000)) in mode.lines
    assert ("CPU_DENVER_3", "MIN_FREQ", str(khz["cpu"])) in mode.lines
    assert ("EMC", "MAX_FREQ", str(khz["emc"] * 1000)) in mode.lines


def test_nvpmodel_with_the_boards_own_file(dse, pair_folder, tmp_path):
    conf = tmp_path / "board.conf"
    conf.write_text(CONF)
    out = tmp_path / "out"
    ran = dse("deploy", pair_folder, "--to", "nvpmodel", "--conf", conf, "-o", out)
    assert (ran.status, ran.err) == (0, "")
    text = (out / "nvpmodel.conf").read_text()
    whole = parse_nvpmodel_conf(CONF + text, "both")
    mode = whole.modes[-1]
    assert mode.number == 12
    assert {name for name, _, _ in mode.lines} == {
        *("CPU_ONLINE", "PVA_VPS", "CPU_DENVER_0", "GPU", "EMC", "DLA_CORE")
    }
    assert ("PVA_VPS", "MAX_FREQ", "-1") in mode.lines
    assert [m["id"] for m in manifest(out)["power_modes"]] == [3, 11]
    assert text.index("#   mode 3 ") < text.index("#   mode 11 (")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("GPU MAX_FREQ -1", "GPU MAX_FREQ x"), "mode 11: GPU MAX_FREQ: must be an integer"),
        (("NAME=DLA_CORE", "NAME=DLA"), "has no PARAM DLA0_CORE or DLA_CORE or NAFLL_DLA"),
        (("EMC MAX_FREQ 0", "EMC MAX_FREQ 5"), "no power mode without caps"),
        (("GPU MAX_FREQ -1", "GPU MAX_FREQ"), "line 26: is neither a section nor a line of one"),
        (("ID=11", "ID=x"), "line 23: ID: must be an integer"),
        (("ID=11 ", ""), "line 23: must have ID="),
    ],
)
def test_files_of_nvpmodel_that_cannot_be_used(change, message):
    known = load_platform("jetson-agx-xavier").deployment.power_modes
    with pytest.raises(ResultError, match=message):
        power_modes_of(parse_nvpmodel_conf(CONF.replace(*change), "conf"), known, "conf")


def test_modes_are_played_by_the_timeline(pair_folder, dse):
    """MAXN is the problem's fastest clocks; every mode is what dse evaluate gives for them."""
    deployment = deployment_of(pair_folder, 0)
    (costs,) = mode_costs([deployment], power_modes(deployment))
    problem = deployment.problem
    fastest = {d.name: d.frequencies_khz[-1] for d in problem.domains}
    on = {name for name, khz in deployment.clocks_khz.items() if khz is not None}
    assert dict(costs[0].clocks_khz) == {n: fastest[n] if n in on else None for n in fastest}
    by_name = {cost.mode.name: cost for cost in costs}
    slow = dict(by_name["MODE_15W"].clocks_khz)
    assert slow["gpu"] == 624750
    assert slow["emc"] == 1331200
    member = json.loads((pair_folder / "front.json").read_bytes())["members"][0]
    mapping = pair_folder.parent / "mapping.json"
    clocks = {name: khz / 1000 for name, khz in slow.items() if khz is not None}
    mapping.write_text(json.dumps({"mapping": member["mapping"], "operating_points": clocks}))
    ran = dse(
        *("evaluate", "inception_v1", "squeezenet", "-p", "jetson-agx-xavier", "--json"),
        *("--units", "gpu,dla0", "--groups", "4", "--mapping", mapping),
    )
    found = json.loads(ran.out)
    assert (found["makespan_ps"],) == by_name["MODE_15W"].times_ps
    assert found["energy_fj"] == by_name["MODE_15W"].energy_fj
    assert nearest_mode(costs).is_exact
    assert "fewer processors" in by_name["MODE_10W"].remarks[0]


def test_modes_of_networks_with_rates_are_compared_by_responses(tmp_path):
    """Against the plain evaluator, at each mode's caps; what a mode overloads has no figures."""
    (tmp_path / "rates.yaml").write_text(
        "networks: [{network: squeezenet, rate_hz: 200}, {network: resnet50, rate_hz: 300}]"
    )
    folder = tmp_path / "run"
    command = ["explore", str(tmp_path / "rates.yaml"), "-p", "jetson-agx-xavier", "--groups", "2"]
    budget = ["--units", "gpu,dla0", "--max-evaluations", "100", "--no-certify", "-q"]
    assert run([*command, *budget, "-o", str(folder)]) == 0
    deployment = deployment_of(folder, 0)
    (costs,) = mode_costs([deployment], power_modes(deployment))
    problem, design = deployment.problem, deployment.member.design
    overloaded = 0
    for cost in costs:
        points = [
            design.operating_points[d] if khz is None else domain.frequencies_khz.index(khz)
            for d, (domain, (_, khz)) in enumerate(
                zip(problem.domains, cost.clocks_khz, strict=True)
            )
        ]
        account = plain_account(problem, replace(design, operating_points=np.array(points)))
        if account.rates.window_ps is None:
            overloaded += 1
            assert (cost.times_ps, cost.remarks) == (None, ("overloaded",))
        else:
            assert (cost.times_ps, cost.energy_fj) == (account.latencies_ps, account.energy_fj)
    assert 0 < overloaded < len(costs)
    (texts,) = deployment_texts([deployment])
    assert re.search(
        r"These clocks: squeezenet at most [0-9.]+ ms, .* mJ a period", texts["nvpmodel"]
    )
    assert "): overloaded" in texts["nvpmodel"]


def test_members_are_played_together_as_alone(pair_folder):
    deployments = [deployment_of(pair_folder, index) for index in (0, 1, 2)]
    modes = power_modes(deployments[0])
    together = mode_costs(deployments, modes)
    assert together == [mode_costs([deployment], modes)[0] for deployment in deployments]
    texts = deployment_texts(deployments)
    assert len({text["nvpmodel"] for text in texts}) == 3
    assert deployment_texts([]) == []


def tx2_folder(tmp_path, *options):
    folder = tmp_path / "tx2"
    command = ["explore", "squeezenet", "-p", "jetson-tx2", "--units", "denver1,gpu"]
    more = [
        *options,
        "--groups",
        "3",
        "--max-evaluations",
        "200",
        "--no-certify",
        "-q",
        "-o",
        str(folder),
    ]
    assert run([*command, *more]) == 0
    return folder


def test_tx2_with_a_denver_core(tmp_path, dse):
    deployment = deployment_of(tx2_folder(tmp_path, "--pin", "squeezenet:0=denver1"))
    modes = power_modes(deployment)
    (costs,) = mode_costs([deployment], modes)
    assert [cost.times_ps is None for cost in costs] == [False, True, False, True]
    assert "denver is off" in costs[1].remarks[0]
    (texts,) = deployment_texts([deployment])
    assert "online denver /sys/devices/system/cpu/cpu1/online" in texts["sysfs"]
    assert "trtexec" not in texts
    reason = fitting_targets(deployment)["trtexec"]
    assert reason.startswith("TensorRT cannot serve unit 'denver1'")
    assert "'dse explore --units gpu' keeps to these" in reason
    # Every member of this front has the pinned group; with one more there is one to take instead.
    front = deployment.front
    gpu = [unit.name for unit in front.problem.units].index("gpu")
    design = replace(front.members[0].design, units=np.full(front.problem.group_count, gpu))
    more = replace(front, members=(*front.members, replace(front.members[0], design=design)))
    none = "nor can any other member be served" if len(front.members) > 1 else "for any runtime"
    for shown, ending in ((front, none), (more, "is the nearest that can be served")):
        with pytest.raises(ResultError, match=f"denver1.*{ending}$"):
            write_deployment(
                replace(deployment, front=shown), Target.TRTEXEC, tmp_path / "out", Options()
            )
    taken, notes = fastest_served(more, deployment.platform, None, Target.TRTEXEC)
    assert taken.index == len(front.members)
    assert "This is the fastest that trtexec can serve. Member" in notes[0]
    assert "denver1" in notes[0]
    assert fastest_served(front, deployment.platform, None, Target.TRTEXEC)[1] == []
    assert fitting_targets(deployment) == {
        **dict.fromkeys(("nvpmodel", "sysfs", "triton", "onnx", "onnxruntime", "json")),
        "trtexec": reason,
        "deepstream": reason,
        "openvino": "openvino cannot serve unit 'denver1': jetson-tx2 names no device for it "
        "(deployment.openvino in its file)",
    }
    shown = dse("show", tmp_path / "tx2", "--member", deployment.index)
    assert "can be deployed to: nvpmodel, sysfs, triton, onnx, onnxruntime, json\n" in shown.out
    assert "not to trtexec: TensorRT cannot serve unit 'denver1'" in shown.out
    assert "CPU_ONLINE CORE_1 1" in nvpmodel_section(deployment, modes, costs, from_file=True)


def test_tx2_without_denver_cores(tmp_path):
    folder = tx2_folder(tmp_path, "--pin", "squeezenet:0-2=gpu")
    (texts,) = deployment_texts([deployment_of(folder)])
    assert "offline denver /sys/devices/system/cpu/cpu1/online" in texts["sysfs"]
    assert "CPU_ONLINE CORE_1 0" in texts["nvpmodel"]
    assert "CPU_DENVER " not in texts["nvpmodel"].partition("POWER_MODEL")[2]
    assert "--onnx=squeezenet.onnx" in texts["trtexec"]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nvpmodel", "nvpmodel cannot serve snapdragon-865"),
        ("sysfs", "sysfs cannot serve snapdragon-865"),
        ("trtexec", "TensorRT cannot serve snapdragon-865"),
    ],
)
def test_a_chip_that_a_format_cannot_serve(dse, tmp_path, target, message):
    folder = tmp_path / "run"
    command = ("explore", "squeezenet", "-p", "snapdragon-865", "--groups", "2", "--units", "gpu")
    assert dse(*command, "--max-evaluations", "20", "--no-certify", "-q", "-o", folder).status == 0
    ran = dse("deploy", folder, "--to", target, "-o", tmp_path / "out")
    assert ran.status == 2
    assert len(ran.lines) == 1
    assert message in ran.err
    assert "--to " in ran.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]


def test_a_model_that_changed_or_went_away(dse, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    from sdf.catalogue.catalogue import model_file

    Path("mine.onnx").write_bytes(model_file("squeezenet").data)
    command = ("explore", "mine.onnx", "-p", "jetson-agx-xavier", "--units", "gpu,dla0")
    more = ("--groups", "3", "--max-evaluations", "50", "--no-certify", "-q", "-o", "run")
    assert dse(*command, *more).status == 0
    deploy = ("deploy", "run", "--to", "onnx", "-o", "out")
    assert dse(*deploy).status == 0
    Path("mine.onnx").rename("moved.onnx")
    gone = dse(*deploy, "--force")
    assert gone.status == 2
    assert "there is no file 'mine.onnx'; --model mine=FILE" in gone.err
    assert dse(*deploy, "--force", "--model", "mine=moved.onnx").status == 0
    model = onnx.load("moved.onnx")
    model.producer_name = "somebody else"
    onnx.save(model, "mine.onnx")
    changed = dse(*deploy, "--force")
    assert changed.status == 2
    assert "mine.onnx is not the model that was explored" in changed.err
    assert len(changed.lines) == 1
    manifest(Path("out"))


def test_folders_that_are_not_replaced(dse, pair_folder, tmp_path):
    out = tmp_path / "out"
    command = ("deploy", pair_folder, "--to", "sysfs", "-o", out)
    assert dse(*command).status == 0
    assert "exists already; --force replaces it" in dse(*command).err
    assert dse("deploy", pair_folder, "--to", "json", "-o", out, "--force").status == 0
    assert [path.name for path in out.iterdir()] == ["deployment.json"]
    (out / "mine.engine").write_text("hours of work")
    refused = dse(*command, "--force")
    assert refused.status == 2
    assert "'mine.engine', not of ours" in refused.err
    assert (out / "mine.engine").exists()
    shutil.rmtree(out)
    out.mkdir()
    (out / "thesis.txt").write_text("text")
    assert dse(*command, "--force").status == 2
    # Nothing is left beside a folder that was refused, nor of a deployment that failed.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_without_the_origins_of_costs(dse, pair_folder, tmp_path):
    write_results(tmp_path / "bare", read_results(pair_folder), pictures=False)
    for target in ("onnx", "onnxruntime", "trtexec"):
        ran = dse("deploy", tmp_path / "bare", "--to", target, "-o", tmp_path / "out")
        assert ran.status == 2
        assert "costs.json: is missing" in ran.err
    for target in ("json", "sysfs", "nvpmodel"):
        assert dse("deploy", tmp_path / "bare", "--to", target, "-o", tmp_path / target).status == 0
    assert manifest(tmp_path / "json")["networks"][0]["source"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--to", "sysfs", "--conf", "x"), "--conf: only --to nvpmodel can use it"),
        (("--to", "json", "--model", "a=b"), "--model: only --to trtexec, --to deepstream"),
        (("--to", "onnx", "--model", "a"), "--model: NETWORK=FILE is required, got 'a'"),
        (("--to", "onnx", "--model", "a=b"), "--model: there is no network 'a'"),
        (("--to", "json", "--member", "999"), "member 999"),
        (("--to", "json", "-p", "jetson-tx2"), "jetson-tx2 has"),
        (("--to", "nvpmodel", "--conf", "nowhere"), "nowhere: cannot be read"),
    ],
)
def test_options_that_do_not_fit(dse, pair_folder, tmp_path, arguments, message):
    ran = dse("deploy", pair_folder, "-o", tmp_path / "out", *arguments)
    assert ran.status == 2
    assert message in ran.err
    assert len(ran.lines) == 1
    assert not (tmp_path / "out").exists()


def test_file_names_of_networks_with_odd_names(pair_folder):
    from dataclasses import replace

    deployment = deployment_of(pair_folder)
    problem = deployment.problem
    networks = [
        replace(network, name=name)
        for network, name in zip(problem.networks, ("a b#2", "a b?2"), strict=True)
    ]
    front = replace(deployment.front, problem=replace(problem, networks=tuple(networks)))
    odd = replace(deployment, front=front)
    names = [name for files in network_files(odd) for name in (files.whole, *files.segments)]
    assert all(shlex.quote(name) == name for name in names)
    assert {files.whole for files in network_files(odd)} == {"a_b_2.onnx", "a_b_2_2.onnx"}
    assert np.unique(names).size == len({*names})


def test_a_cpu_that_the_member_leaves_at_its_slowest_clock_is_said():
    """The model does not count what it does for the others."""
    front = explore(["squeezenet"], "jetson-agx-xavier", max_evaluations=3000)
    names = [unit.name for unit in front.problem.units]
    seen = set()
    for index, member in enumerate(front.members):
        notes = idle_cpu_notes(Deployment(front, index, load_platform("jetson-agx-xavier"), None))
        idle = names.index("cpu") not in member.design.units
        domain = [entry.name for entry in front.problem.domains].index("cpu")
        slowest = member.design.operating_points[domain] == 0
        assert len(notes) == (idle and slowest)
        assert all(note.startswith("cpu is set to its slowest clock, 115.2 MHz:") for note in notes)
        seen.add(len(notes))
    assert seen == {0, 1}


def test_check_reads_a_tree_and_writes_nothing(dse, pair_folder, tmp_path):
    board = Board(tmp_path, "")
    command = ("deploy", pair_folder, "--to", "sysfs", "--check", board.root)
    before = board.state()
    ran = dse(*command)
    assert (ran.status, ran.err) == (1, "")
    assert "settings differ" in ran.out
    assert board.state() == before
    out = tmp_path / "clocks"
    assert dse("deploy", pair_folder, "--to", "sysfs", "-o", out).status == 0
    shutil.copy(out / "set_clocks.sh", board.script)
    assert board.run("--apply").returncode == 0
    ran = dse(*command)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.endswith("all settings as planned\n")
    for more in (("-o", tmp_path / "x"), ()):
        ran = dse(
            "deploy", pair_folder, "--to", "sysfs", *(("--check", "/") if more else ()), *more
        )
        assert ran.status == 2
        assert "exactly one is required" in ran.err


def test_the_platform_file_of_the_search_is_found_again(dse, tmp_path):
    """By the command that the result keeps; another file in its place is refused."""
    mine = tmp_path / "mine.json"
    mine.write_text(json.dumps({"extends": "jetson-agx-xavier", "name": "mine"}))
    folder, out = tmp_path / "run", tmp_path / "out"
    search = [
        *("explore", "squeezenet", "-p", str(mine), "--groups", "3", "--max-evaluations", "200"),
        *("--no-certify", "-q", "-o", str(folder)),
    ]
    assert run(search) == 0
    done = dse("deploy", folder, "--to", "sysfs", "-o", out)
    assert done.status == 0, done.err
    assert "/sys/" in (out / "set_clocks.sh").read_text()
    assert "can be deployed to: nvpmodel" in dse("show", folder, "--member", 0).out
    assert dse("report", folder).err == ""
    mine.write_text(json.dumps({"extends": "jetson-agx-xavier", "name": "mine", "title": "New"}))
    other = dse("deploy", folder, "--to", "sysfs", "-o", tmp_path / "two")
    assert other.status == 2
    assert "mine.json is not the file that was explored" in other.err
    given = dse("deploy", folder, "--to", "sysfs", "-o", tmp_path / "two", "-p", mine)
    assert given.status == 0, given.err
    mine.unlink()
    gone = dse("deploy", folder, "--to", "sysfs", "-o", tmp_path / "three")
    assert gone.status == 2
    assert "--platform: the file of the search is required" in gone.err
