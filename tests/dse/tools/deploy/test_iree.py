"""``--to iree``: the real compiler, if it is there, places each part on its device."""

import os
import re
import subprocess
import sys

import onnx
import pytest

from paretosoc.dse.cli.main import run
from tests.dse.tools.deploy.test_strong_types import small_network

DEVICES = {"a55": "local[0]", "a76": "local[1]"}


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """A network cut in three, its middle on the other CPU."""
    folder = tmp_path_factory.mktemp("iree")
    onnx.save(small_network(), str(folder / "small.onnx"))
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


def test_the_compiler_takes_the_parts(parts, tmp_path):
    pytest.importorskip("iree.compiler", reason="iree-base-compiler is not installed")
    python = f'#!/bin/sh\nexec "{sys.executable}" -m iree.compiler.tools.'
    program(tmp_path, "iree-import-onnx", f'{python}import_onnx "$@"\n')
    program(tmp_path, "iree-compile", f'{python}scripts.iree_compile "$@"\n')
    execute(parts, tmp_path, IREE_FLAGS="--iree-llvmcpu-target-cpu=generic --compile-to=stream")
    for file in parts.glob("*.vmfb"):
        placed = set(re.findall(r"on\(#hal.device.affinity<@(\w+)>\)", file.read_text()))
        assert placed == {file.name.split(".")[2]}


def test_units_without_a_device_are_refused_in_a_line(pair_folder, dse, tmp_path):
    outcome = dse("deploy", pair_folder, "--to", "iree", "-o", tmp_path / "out", "--member", "0")
    assert (outcome.status, len(outcome.lines)) == (2, 1)
    assert "it compiles for CPUs and GPUs" in outcome.err
