"""Engines on a GPU in instances: every process sees the one that its variable names."""

import subprocess
from dataclasses import replace

import pytest

from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.deploy.deployment import Deployment
from paretosoc.results.deploy.scripts.measure import command_of
from paretosoc.results.deploy.trtexec_script import timing_commands, trtexec_script
from tests.support.explored import explore
from tests.support.trtexec import stand_in

RECORD = 'echo "${CUDA_VISIBLE_DEVICES-none} $1"'


@pytest.fixture(scope="module")
def deployment():
    front = explore(["squeezenet", "resnet18"], "jetson-agx-thor", max_evaluations=50)
    return Deployment(front, 0, load_platform("jetson-agx-thor"), None)


def run(command, tmp_path, **environment):
    stand_in(tmp_path / "trtexec", RECORD, 101300)
    program = {"TRTEXEC": str(tmp_path / "trtexec"), "trtexec": str(tmp_path / "trtexec")}
    return subprocess.run(
        command,
        env={"PATH": "/usr/bin:/bin", **program, **environment},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_engines_of_a_deployment(deployment, tmp_path):
    script = tmp_path / "engines.sh"
    script.write_text(trtexec_script(deployment))
    ran = run(["sh", script, "build"], tmp_path, mig0="MIG-a")
    assert ran.returncode != 0
    assert "mig1: is required: the UUID of GPU instance mig1" in ran.stderr
    assert ran.stdout == ""
    ran = run(["sh", script, "build"], tmp_path, mig0="MIG-a", mig1="MIG-b")
    assert ran.returncode == 0, ran.stderr
    assert {line.split()[0] for line in ran.stdout.splitlines()} <= {"MIG-a", "MIG-b"}


def test_a_network_on_two_instances_is_no_engine(deployment):
    """The script says why there is none of the whole."""
    problem, design = deployment.problem, deployment.member.design
    names = [unit.name for unit in problem.units]
    units = design.units.copy()
    units[:2] = names.index("mig0"), names.index("mig1")
    member = replace(deployment.member, design=replace(design, units=units))
    front = replace(deployment.front, members=(member,))
    script = trtexec_script(replace(deployment, front=front))
    assert "# No engine of the whole: it would need two DLA cores or GPU instances, " in script


def test_one_process_does_not_see_the_instances(dse, tmp_path):
    """Also if a member uses one of them only: which one a process gets is its variable's."""
    explored = dse(
        *("explore", "squeezenet", "-p", "jetson-agx-thor", "--fix", "squeezenet=mig1", "-q"),
        *("--groups", 2, "--max-evaluations", 20, "--max-nodes", 0, "-o", tmp_path / "run"),
    )
    assert explored.status == 0, explored.err
    made = dse("deploy", tmp_path / "run", "--to", "trtexec", "--no-check", "-o", tmp_path / "out")
    assert made.status == 0, made.err
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *("deployment.json", "engines.sh", "squeezenet.onnx")
    }


def test_engines_that_are_measured(deployment, tmp_path):
    """The one beside another is replaced by its program, so that it can be ended."""
    segment = deployment.all_segments[0]
    name = deployment.unit_name(segment)
    build, timed = timing_commands(deployment, (10, 13), "model.onnx", segment)
    beside = command_of({"runtime": "trtexec"}, {"run": timed}, 3)
    (tmp_path / "model.engine.part").touch()
    for command in (["sh", "-c", build], ["sh", "-c", timed], beside):
        ran = run(command, tmp_path, **{name: "MIG-a"})
        assert (ran.returncode, ran.stdout.split()[:1]) == (0, ["MIG-a"]), ran.stderr
        ran = run(command, tmp_path)
        assert f"{name}: is required: the UUID of GPU instance {name}" in ran.stderr
