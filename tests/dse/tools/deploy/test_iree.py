"""``--to iree``: the real compiler, if it is there, places each part on its device."""

import os
import re
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from paretosoc.dse.cli.main import run
from tests.dse.tools.deploy.test_strong_types import small_network

DEVICES = {"a55": "local[0]", "a76": "local[1]"}


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """A network cut in three, its middle on the other CPU."""
    return deployed(tmp_path_factory.mktemp("iree"), small_network())


def deployed(folder, model):
    onnx.save(model, str(folder / "small.onnx"))
    command = ["explore", str(folder / "small.onnx"), "-p", "rk3588", "--groups", "3", "-q"]
    for g, unit in enumerate(("a55", "a76", "a55")):
        command += ["--fix", f"small:{g}={unit}"]
    command += ["--max-evaluations", "10", "--max-nodes", "0", "--runtime", "none"]
    assert run([*command, "-o", str(folder / "run")]) == 0
    deploy = ["deploy", str(folder / "run"), "--to", "iree", "--no-check"]
    assert run([*deploy, "-o", str(folder / "out")]) == 0
    return folder / "out"


def execute(parts, path, **more):
    done = subprocess.run(
        ["sh", str(parts / "iree.sh")],
        env=os.environ | {"PATH": f"{path}{os.pathsep}{os.environ['PATH']}"} | more,
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def program(folder, name, text):
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def test_every_part_has_the_affinity_of_its_unit(parts, tmp_path):
    program(tmp_path, "iree-import-onnx", 'echo "module {" >"$3"\n')
    program(tmp_path, "iree-compile", 'echo "$@" >"$(basename "$1" .placed.mlir).vmfb"\n')
    execute(parts, tmp_path)
    files = sorted(parts.glob("*.vmfb"))
    assert [file.name for file in files] == [
        f"small.{k}.{unit}.vmfb" for k, unit in enumerate(("a55", "a76", "a55"))
    ]
    for file in files:
        unit = file.name.split(".")[2]
        placed = file.with_suffix(".placed.mlir").read_text()
        assert (
            placed == f"module attributes {{stream.affinity = #hal.device.promise<@{unit}>}} {{\n"
        )
        given = file.read_text()
        for name, device in DEVICES.items():
            assert f"--iree-hal-target-device={name}={device}" in given
        file.unlink()


@pytest.fixture
def compiler(tmp_path):
    pytest.importorskip("iree.compiler", reason="iree-base-compiler is not installed")
    python = f'#!/bin/sh\nexec "{sys.executable}" -m iree.compiler.tools.'
    program(tmp_path, "iree-import-onnx", f'{python}import_onnx "$@"\n')
    program(tmp_path, "iree-compile", f'{python}scripts.iree_compile "$@"\n')
    return tmp_path


def check_compiled(parts, compiler):
    execute(parts, compiler, IREE_FLAGS="--iree-llvmcpu-target-cpu=generic --compile-to=stream")
    files = list(parts.glob("*.vmfb"))
    assert len(files) == 3
    for file in files:
        placed = set(re.findall(r"on\(#hal.device.affinity<@(\w+)>\)", file.read_text()))
        assert placed == {file.name.split(".")[2]}


def test_the_compiler_takes_the_parts(parts, compiler):
    check_compiled(parts, compiler)


def test_the_compiler_takes_old_models_and_constants_that_are_computed(compiler, tmp_path):
    """IREE knows BatchNormalization from opset 9 on, and computes the root of its variance."""
    nodes, four = [], numpy_helper.from_array(np.ones(4, np.float32), "four")
    weight = numpy_helper.from_array(np.ones((4, 4, 3, 3), np.float32), "w")
    for k in range(3):
        nodes.append(helper.make_node("Conv", [f"x{k}", "w"], [f"y{k}"], pads=[1] * 4))
        nodes.append(
            helper.make_node("BatchNormalization", [f"y{k}", *["four"] * 4], [f"x{k + 1}"])
        )
    ends = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4, 16, 16])]
        for name in ("x0", "x3")
    ]
    graph = helper.make_graph(nodes, "small", *ends, [weight, four])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 8)], ir_version=8)
    check_compiled(deployed(tmp_path, model), compiler)


def test_units_without_a_device_are_refused_in_a_line(pair_folder, dse, tmp_path):
    outcome = dse("deploy", pair_folder, "--to", "iree", "-o", tmp_path / "out", "--member", "0")
    assert (outcome.status, len(outcome.lines)) == (2, 1)
    assert "it compiles for CPUs and GPUs" in outcome.err
