"""The script that compiles each part of a member by IREE, with an affinity to the device of its
unit."""

from __future__ import annotations

import re
import shlex

from paretosoc.results.deploy.deployment import Deployment, network_files, require_origins
from paretosoc.results.errors import ResultError


def check_iree(deployment: Deployment) -> dict[str, str]:
    """Return the device of each unit that is used, as ``iree-compile`` names it.

    Raises:
        ResultError: if IREE has none for a unit, or the layers are not known.
    """
    chip, devices, counts = deployment.platform, dict[str, str](), dict[str, int]()
    for unit in deployment.units_used:
        kind = chip.unit_by_name[unit].kind
        driver = {"cpu": "local", "gpu": "cuda" if deployment.cores else "vulkan"}.get(kind)
        if driver is None:
            raise ResultError(f"IREE cannot serve unit {unit!r}: it compiles for CPUs and GPUs")
        counts[driver] = counts.get(driver, -1) + 1
        devices[unit] = f"{driver}[{counts[driver]}]"
    require_origins(deployment.origins)
    return devices


def iree_script(deployment: Deployment) -> str:
    """Return the script. All modules know all devices, so that they run in one session."""
    devices = check_iree(deployment)
    symbols = {unit: re.sub(r"\W", "_", unit, flags=re.ASCII) for unit in devices}
    # IREE's search for constants ends in a crash if a module has an affinity (3.13).
    flags = ["--iree-opt-const-eval=false"]
    flags += [f"--iree-hal-target-device={symbols[u]}={device}" for u, device in devices.items()]
    if any(device.startswith("local") for device in devices.values()):
        flags.append("--iree-hal-local-target-device-backends=llvm-cpu")
    lines = [
        "#!/bin/sh",
        f"# {deployment.title}",
        "# Needs iree-base-compiler[onnx]. IREE_FLAGS: flags of iree-compile for the board's CPU",
        "# on another machine. Not run on a board yet.",
        "set -eu",
        'cd "$(dirname "$0")"',
        "compile() {",
        '    iree-import-onnx "$1.onnx" -o "$1.mlir" --opset-version 17',
        '    placed="module attributes {stream.affinity = #hal.device.promise<@$2>} {"',
        '    sed "s/^module {/$placed/" "$1.mlir" >"$1.placed.mlir"',
        "    # shellcheck disable=SC2086 # Several flags.",
        f'    iree-compile "$1.placed.mlir" {shlex.join(flags)} \\',
        '        ${IREE_FLAGS:---iree-llvmcpu-target-cpu=host} -o "$1.vmfb"',
        "}",
    ]
    files = network_files(deployment)
    lines += [
        f"compile {shlex.quote(files[s.network].segments[s.number].removesuffix('.onnx'))} "
        f"{symbols[deployment.unit_name(s)]}"
        for s in deployment.all_segments
    ]
    return "\n".join(lines) + "\n"
