"""TensorRT: the versions that serve a board, and the lines that build and run a network's engines
with ``trtexec``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from shlex import quote

from paretosoc.common.options import as_written
from paretosoc.results.deploy.deployment import (
    Deployment,
    NetworkFiles,
    Segment,
    as_target,
    network_files,
)
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.runtimes import layer_device_types

Version = tuple[int, ...]
STRONGLY_TYPED = 11
"""From this one on the types of a model's tensors are its number format, and ``--fp16`` and
``--int8`` are gone."""
_FIRST_DLA = {STRONGLY_TYPED: (11, 4, 1)}
"""By major version, the first release that builds for a DLA, if it is not the first of all."""


def tensorrt_version(deployment: Deployment, wanted: str | None = None) -> Version:
    """Return the version to write for.

    Args:
        deployment: the member. Its units were checked.
        wanted: ``11``, ``10.3``, ``11.4.1``. None is the newest below 11 that serves the board, as
            boards have them (JetPack 6 and 7 have 10), else the newest.

    Raises:
        ResultError: if it is no version, takes no number formats as options, or builds for no DLA
            and the member uses one.
    """
    served = _served(deployment)
    if wanted is None:
        usual = [entry for entry in served if entry[0] < STRONGLY_TYPED]
        if not usual and not deployment.problem.has_formats:
            usual = list(served)
        return usual[-1] if usual else (STRONGLY_TYPED - 1,)
    version = _parsed(wanted)
    if deployment.problem.has_formats and version[0] >= STRONGLY_TYPED:
        raise ResultError(
            f"{as_written('tensorrt', wanted)}: where members have several number formats a "
            f"version below {STRONGLY_TYPED} is required, which takes them as options of engines"
        )
    known = (entry for entry in served if entry[0] == version[0])
    first = next(known, _FIRST_DLA.get(version[0]))
    if first is not None and len(version) > 1 and version < first:
        cores = deployment.cores
        for dla in (unit for unit in deployment.units_used if cores.get(unit) is not None):
            raise ResultError(
                f"{as_written('tensorrt', wanted)}: builds for no DLA (unit {dla!r}); "
                f"{'.'.join(map(str, first))} is the first {first[0]} that does"
            )
    return version


def version_notes(deployment: Deployment, version: Version) -> list[str]:
    """Return notes for the user on a version that does not serve the board."""
    majors = [entry[0] for entry in _served(deployment)]
    if not majors or version[0] in majors:
        return []
    return [
        f"TensorRT {version[0]} does not serve {deployment.platform.name}, which has TensorRT "
        f"{', '.join(map(str, majors))}: build these engines on another board."
    ]


def _served(deployment: Deployment) -> tuple[Version, ...]:
    return tuple(_parsed(text) for text in deployment.board.tensorrt_versions)


def _parsed(text: str) -> Version:
    if not re.fullmatch(r"[1-9][0-9]?(\.[0-9]{1,3}){0,3}", text):
        raise ResultError(
            f"{as_written('tensorrt')}: must be a version such as 11 or 10.3, got {text!r}"
        )
    return tuple(int(number) for number in text.split("."))


_FLAGS = {"fp32": "", "fp16": " --fp16", "int8": " --int8"}
_BYTES = {"fp32": 4, "fp16": 2, "int8": 1}
_DEFAULT_POOL = 512 << 20
"""Bytes of a DLA's global DRAM by default (TensorRT documentation: Customizing DLA Memory
Pools)."""
_START = """
set -eu
cd "$(dirname "$0")"
trtexec=${{TRTEXEC:-trtexec}}
if ! command -v "$trtexec" >/dev/null; then
    echo "$0: $trtexec is not found; TRTEXEC is to be its path (JetPack:" \\
        "/usr/src/tensorrt/bin/trtexec)" >&2
    exit 1
fi
# trtexec says v8603 for 8.6.3, v100300 for 10.3.0.
found=$("$trtexec" --help 2>&1 | sed -n 's/.*\\[TensorRT v\\([0-9]*\\)\\].*/\\1/p' | head -n 1)
case $found in
    ?????*) major=${{found%????}} ;;
    *) major=${{found%???}} ;;
esac
if [ "$major" != {major} ]; then
    echo "$0: TensorRT {major} is required, $trtexec has ${{major:-no known version}};" \\
        "'dse deploy --tensorrt VERSION' writes files for another" >&2
    exit 1
fi
"""
_USE = """#
#   build   makes the engines (and times them once)
#   run     times them again, each layer into a .profile.json beside them
#
# Each engine is timed alone: what networks cost each other shows only where an
# application runs them together. TRTEXEC names the program.
"""
_MAIN = """
case ${1:-} in
    build) build ;;
    run) run ;;
    *) echo "usage: $0 build | run" >&2; exit 2 ;;
esac
"""


def trtexec_script(deployment: Deployment, version: Version | None = None) -> str:
    """Return a POSIX shell script that builds the engines of every network: one of everything if
    that is possible, and one for each segment if there are several. Their models are beside it.

    Args:
        deployment: a member that was checked.
        version: the version of TensorRT. None: as :func:`tensorrt_version` chooses.
    """
    version = tensorrt_version(deployment) if version is None else version
    built: list[str] = []
    run: list[str] = []
    for n, (network, files) in enumerate(
        zip(deployment.problem.networks, network_files(deployment), strict=True)
    ):
        if network.name in deployment.tasks:
            continue
        segments = deployment.segments(n)
        places = ", then ".join(
            f"{s.groups} on {deployment.problem.units[s.unit].name}" for s in segments
        )
        engines = [(files.whole, segments)]
        if len(segments) > 1:
            engines += [(f, (s,)) for s, f in zip(segments, files.segments, strict=True)]
        for lines in (built, run):
            lines.append(f"# {network.name}: {places}")
        for file, parts in engines:
            commands = _commands(deployment, version, file, parts)
            if commands is not None:
                built.append(commands[0])
                run.append(commands[1])
            else:
                built.append(
                    "# No engine of the whole: it would need two DLA cores or GPU instances, "
                    "several formats, or names that --layerDeviceTypes cannot say."
                )
    functions = "".join(
        f"\n{name}() {{\n" + "".join(f"    {line}\n" for line in lines) + "}\n"
        for name, lines in (("build", built), ("run", run))
    )
    start = _start(deployment, version)
    return f"{_title(deployment, version)}{_USE}{start}{functions}{_MAIN}"


def segment_engines(deployment: Deployment, version: Version, files: Sequence[NetworkFiles]) -> str:
    """Return a POSIX shell script that builds an engine for each segment that is not on a CPU,
    beside the segment's model."""
    lines = ""
    for s in deployment.all_segments:
        file = files[s.network].segments[s.number]
        if deployment.unit_name(s) in deployment.cores:
            build, _ = _commands(deployment, version, file, [s]) or ("", "")
            lines += f"{build}\n"
    return f"{_title(deployment, version)}{_start(deployment, version)}{lines}"


def timing_commands(
    deployment: Deployment, version: Version, file: str, segment: Segment
) -> tuple[str, str]:
    """Return the lines that build the engine of a segment, and that time it. They take trtexec from
    a variable of this name."""
    commands = _commands(deployment, version, file, [segment])
    assert commands is not None, "one segment is one engine"
    build, run = commands
    engine = quote(engine_file(file))
    # An engine is there only when it is whole.
    part = f"{build.replace(f'--saveEngine={engine}', f'--saveEngine={engine}.part')}"
    timed = run[: run.index(" --dumpProfile")]
    return (
        f"{part} && mv {engine}.part {engine}",
        f"{timed} --warmUp=1000 --noDataTransfers --useSpinWait",
    )


def whole_engines(deployment: Deployment) -> list[int]:
    """Return the networks of which one engine can be made."""
    return [
        n
        for n, network in enumerate(deployment.problem.networks)
        if network.name not in deployment.tasks
        if _engine_options(deployment, deployment.segments(n)) is not None
    ]


def engine_core(deployment: Deployment, network: int, label: str) -> int | None:
    """Return the DLA core of an engine of the entire network, or None for the GPU.

    Raises:
        ResultError: if there is no such engine. ``label`` starts the message.
    """
    if network not in whole_engines(deployment):
        raise ResultError(
            f"{label}: it is one engine only without a second DLA core, and with names that "
            f"--layerDeviceTypes can say; {as_target('triton')} runs segments"
        )
    cores = _used(deployment, deployment.segments(network)).values()
    return next((core for core in cores if core is not None), None)


def engine_file(model: str) -> str:
    """Return the name of the engine of an ONNX file."""
    return model.removesuffix(".onnx") + ".engine"


def _start(deployment: Deployment, version: Version) -> str:
    needed = "".join(f': "{value}"\n' for value in _instances(deployment).values())
    return _START.format(major=version[0]) + needed


def _title(deployment: Deployment, version: Version) -> str:
    return (
        f"#!/bin/sh\n# Engines of {deployment.title}, for trtexec of TensorRT "
        f"{'.'.join(map(str, version))}.\n"
    )


def _used(deployment: Deployment, segments: Sequence[Segment]) -> dict[str, int | None]:
    """Return the units of segments, with their DLA cores; None is a GPU."""
    units = (deployment.unit_name(segment) for segment in segments)
    return {unit: deployment.cores[unit] for unit in units}


def _instances(deployment: Deployment) -> dict[str, str]:
    """Return the UUIDs of GPU instances, if there are several: shell variables, required."""
    gpus = [unit for unit, core in deployment.cores.items() if core is None]
    names = {unit: re.sub(r"\W", "_", unit, flags=re.A) for unit in gpus if len(gpus) > 1}
    return {
        unit: f"${{{name}:?is required: the UUID of GPU instance {name} (nvidia-smi -L)}}"
        for unit, name in names.items()
    }


def _pool_option(deployment: Deployment, segments: Sequence[Segment]) -> str:
    """Return a larger pool for the weights of a DLA engine, if one of the segments needs it. Pools
    are powers of two, upper bounds for each part on a DLA, and 512 MiB for weights by default."""
    most = 0
    for segment in segments:
        on_dla = deployment.cores[deployment.unit_name(segment)] is not None
        if deployment.origins is not None and on_dla:
            groups = deployment.origins.networks[segment.network].groups
            count = sum(g.parameters for g in groups[segment.first : segment.last + 1])
            most = max(most, count * _BYTES[deployment.format_of(segment)])
    if most <= _DEFAULT_POOL:
        return ""
    return f" --memPoolSize=dlaGlobalDRAM:{(1 << (most - 1).bit_length()) >> 20}"


def _engine_options(deployment: Deployment, segments: Sequence[Segment]) -> tuple[str, str] | None:
    """Return options of one engine of consecutive segments: of build and run, and of the build
    alone. None if there is no such engine."""
    formats = {deployment.format_of(segment) for segment in segments}
    used = _used(deployment, segments)
    gpus = [unit for unit, core in used.items() if core is None]
    dlas = {core for core in used.values() if core is not None}
    if max(map(len, (formats, gpus, dlas))) > 1:
        return None
    if not dlas:
        return "", ""
    options = f" --useDLACore={dlas.pop()}"
    if not gpus:
        return options, ""
    types = layer_device_types(
        (name, "GPU" if deployment.unit_name(segment) in gpus else "DLA")
        for segment in segments
        for name in deployment.layers(segment)
    )
    return None if types is None else (options, f" --layerDeviceTypes={quote(types)}")


def _commands(
    deployment: Deployment, version: Version, file: str, segments: Sequence[Segment]
) -> tuple[str, str] | None:
    """Return the lines that build and run one engine of consecutive segments, or None if there is
    no such engine."""
    options = _engine_options(deployment, segments)
    if options is None:
        return None
    both, building = options
    # Layers that a DLA cannot run inside its own segment go to the GPU, as the model assumes.
    fallback = " --allowGPUFallback" if both else ""
    # From TensorRT 11 on the precision is in the model.
    is_typed = version[0] >= STRONGLY_TYPED
    precision = "" if is_typed else _FLAGS[deployment.format_of(segments[0])]
    engine, profile = engine_file(file), file.removesuffix(".onnx") + ".profile.json"
    instances = _instances(deployment)
    at = "".join(
        f'env CUDA_VISIBLE_DEVICES="{instances[gpu]}" '
        for gpu in _used(deployment, segments)
        if gpu in instances
    )
    return (
        f'{at}"$trtexec" --onnx={quote(file)} --saveEngine={quote(engine)}'
        f"{both}{fallback}{precision}{building}{_pool_option(deployment, segments)}",
        f'{at}"$trtexec" --loadEngine={quote(engine)}{both} --dumpProfile '
        f"--exportProfile={quote(profile)}",
    )
