"""``dse deploy``: every format from a result folder, what it refuses, and what it leaves alone."""

import json
import shlex
import shutil
from dataclasses import replace

import numpy as np
import pytest

from paretosoc.dse.cli.main import run
from paretosoc.dse.tools.analysis.power_modes import mode_costs
from paretosoc.dse.tools.deploy.deploy import deploy as write_deployment
from paretosoc.dse.tools.deploy.deploy import deployment_texts, fastest_served, fitting_targets
from paretosoc.dse.tools.deploy.job import Options
from paretosoc.results.deploy.deployment import network_files
from paretosoc.results.deploy.nvpmodel_section import nvpmodel_section, power_modes
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import read_results, write_results
from tests.results.deploy.test_sysfs_script import Board
from tests.support.deployments import deployment_of, manifest


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


def tx2_folder(tmp_path, *options):
    folder = tmp_path / "tx2"
    command = ["explore", "squeezenet", "-p", "jetson-tx2", "--units", "denver1,gpu"]
    command += ["--runtime", "none"]
    more = [
        *options,
        "--groups",
        "3",
        "--max-evaluations",
        "200",
        "--max-nodes",
        "0",
        "-q",
        "-o",
        str(folder),
    ]
    assert run([*command, *more]) == 0
    return folder


def test_tx2_with_a_denver_core(tmp_path, dse):
    deployment = deployment_of(tx2_folder(tmp_path, "--fix", "squeezenet:0=denver1"))
    modes = power_modes(deployment)
    (costs,) = mode_costs([deployment], modes)
    assert [cost.times_ps is None for cost in costs] == [False, True, False, True]
    assert "denver is off" in costs[1].remarks[0]
    (texts,) = deployment_texts([deployment])
    assert "online denver /sys/devices/system/cpu/cpu1/online" in texts["sysfs"]
    assert "trtexec" not in texts
    reason = fitting_targets(deployment)["trtexec"]
    assert reason.startswith("TensorRT cannot serve unit 'denver1'")
    assert "a search with runtime='trtexec' keeps to these" in reason
    # Every member of this front has the pinned group; with one more there is one to take instead.
    front = deployment.front
    gpu = [unit.name for unit in front.problem.units].index("gpu")
    design = replace(front.members[0].design, units=np.full(front.problem.group_count, gpu))
    more = replace(front, members=(*front.members, replace(front.members[0], design=design)))
    none = "no other member can be served either" if len(front.members) > 1 else "for any runtime"
    for shown, ending in ((front, none), (more, "is the nearest that can be served")):
        with pytest.raises(ResultError, match=f"denver1.*{ending}$"):
            write_deployment(
                replace(deployment, front=shown), "trtexec", tmp_path / "out", Options()
            )
    taken, notes = fastest_served(more, deployment.platform, None, "trtexec")
    assert taken.index == len(front.members)
    assert "This is the fastest that trtexec can serve. Member" in notes[0]
    assert "denver1" in notes[0]
    assert fastest_served(front, deployment.platform, None, "trtexec")[1] == []
    served = "nvpmodel, sysfs, triton, onnx, onnxruntime, openvino, ros2, iree, json"
    assert fitting_targets(deployment) == {
        **dict.fromkeys(served.split(", ")),
        "trtexec": reason,
        "deepstream": reason.replace("TensorRT", "DeepStream").replace("trtexec", "deepstream"),
        "rknn": "RKNN cannot serve jetson-tx2: the platform names no unit for it; target='onnx' "
        "has sub-models for the tools of the chip's maker",
    }
    shown = dse("show", tmp_path / "tx2", "--member", deployment.index)
    assert f"can be deployed to: {served}\n" in shown.out
    assert "not to trtexec: TensorRT cannot serve unit 'denver1'" in shown.out
    assert "CPU_ONLINE CORE_1 1" in nvpmodel_section(deployment, modes, costs, from_file=True)
    for given, meant in (("tensorrt", " (did you mean trtexec?)"), ("zzz", "")):
        refused = dse("deploy", tmp_path / "tx2", "--to", given, "-o", tmp_path / "none")
        assert refused.status == 2
        assert f"got '{given}'{meant}; this member can be written as {served}\n" in refused.err


def test_tx2_without_denver_cores(tmp_path):
    folder = tx2_folder(tmp_path, "--fix", "squeezenet:0-2=gpu")
    (texts,) = deployment_texts([deployment_of(folder)])
    assert "offline denver /sys/devices/system/cpu/cpu1/online" in texts["sysfs"]
    assert "CPU_ONLINE CORE_1 0" in texts["nvpmodel"]
    assert "CPU_DENVER " not in texts["nvpmodel"].partition("POWER_MODEL")[2]
    assert engine_lines(texts["trtexec"]) == {"--onnx": ["squeezenet.onnx"], "--loadEngine": 1}


def engine_lines(script):
    """The models that engines are built of, and the number of runs."""
    words = [word.partition("=") for line in script.splitlines() for word in line.split()]
    models = [value for name, _, value in words if name == "--onnx"]
    return {"--onnx": models, "--loadEngine": sum(name == "--loadEngine" for name, _, _ in words)}


def test_no_engine_is_built_twice(pair_folder):
    """One engine of the whole, and one of each segment only if there are several."""
    members = range(len(read_results(pair_folder).members))
    deployments = [deployment_of(pair_folder, index) for index in members]
    texts = deployment_texts(deployments)
    for deployment, text in zip(deployments, texts, strict=True):
        expected = [
            file
            for network in network_files(deployment)
            for file in dict.fromkeys((network.whole, *network.segments))
        ]
        lines = {"--onnx": expected, "--loadEngine": len(expected)}
        assert engine_lines(text["trtexec"]) == lines


@pytest.mark.parametrize(
    ("chip", "target", "message", "other"),
    [
        ("snapdragon-865", "nvpmodel", "nvpmodel cannot serve snapdragon-865", "--to json"),
        ("snapdragon-865", "sysfs", "sysfs cannot serve snapdragon-865", "--to "),
        ("snapdragon-865", "trtexec", "TensorRT cannot serve snapdragon-865", "--to "),
        ("jetson-nano", "nvpmodel", "nvpmodel cannot serve jetson-nano", "--to sysfs"),
    ],
)
def test_a_chip_that_a_format_cannot_serve(dse, tmp_path, chip, target, message, other):
    folder = tmp_path / "run"
    command = ("explore", "squeezenet", "-p", chip, "--groups", "2", "--units", "gpu")
    assert (
        dse(*command, "--max-evaluations", "20", "--max-nodes", "0", "-q", "-o", folder).status == 0
    )
    ran = dse("deploy", folder, "--to", target, "-o", tmp_path / "out")
    assert ran.status == 2
    assert len(ran.lines) == 1
    assert message in ran.err
    assert other in ran.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]


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
    assert "'mine.engine', which this command does not write" in refused.err
    assert (out / "mine.engine").exists()
    shutil.rmtree(out)
    out.mkdir()
    (out / "thesis.txt").write_text("text")
    assert dse(*command, "--force").status == 2
    # Nothing is left beside a folder that was refused, nor of a deployment that failed.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_without_the_origins_of_costs(dse, pair_folder, tmp_path):
    write_results(tmp_path / "bare", read_results(pair_folder), pictures=False)
    for target in ("onnx", "trtexec"):
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
        (
            ("--to", "onnx", "--model", "a=b", "--model", "a=c"),
            "--model: one NETWORK=FILE for each NETWORK is required, got a=b and a=c",
        ),
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


@pytest.mark.parametrize("name", [{"name": "mine"}, {}])
def test_the_platform_file_of_the_search_is_found_again(dse, tmp_path, name):
    """By the path that the result keeps; another file in its place is refused. Without a name
    it has that of the board that it extends."""
    mine = tmp_path / "mine.json"
    mine.write_text(json.dumps({"extends": "jetson-agx-xavier", **name}))
    folder, out = tmp_path / "run", tmp_path / "out"
    search = [
        *("explore", "squeezenet", "-p", str(mine), "--groups", "3", "--max-evaluations", "200"),
        *("--max-nodes", "0", "-q", "-o", str(folder)),
    ]
    assert run(search) == 0
    done = dse("deploy", folder, "--to", "sysfs", "-o", out)
    assert done.status == 0, done.err
    assert "/sys/" in (out / "set_clocks.sh").read_text()
    assert "can be deployed to: nvpmodel" in dse("show", folder, "--member", 0).out
    assert dse("report", folder).err == ""
    mine.write_text(json.dumps({"extends": "jetson-agx-xavier", **name, "title": "New"}))
    other = dse("deploy", folder, "--to", "sysfs", "-o", tmp_path / "two")
    assert other.status == 2
    assert "mine.json is not the file that was explored" in other.err
    given = dse("deploy", folder, "--to", "sysfs", "-o", tmp_path / "two", "-p", mine)
    assert given.status == 0, given.err
    mine.unlink()
    gone = dse("deploy", folder, "--to", "sysfs", "-o", tmp_path / "three")
    assert gone.status == 2
    assert "--platform: the file of the search is required" in gone.err


def test_a_root_to_check_must_be_a_folder(dse, pair_folder, tmp_path):
    refused = dse("deploy", pair_folder, "--to", "sysfs", "--check", tmp_path / "missing")
    assert refused.status == 2
    assert "--check: a folder is required, got" in refused.err
