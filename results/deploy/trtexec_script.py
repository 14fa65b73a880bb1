"""The lines that build and run a network's engines with TensorRT's ``trtexec``."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

from paretosoc.results.deploy.deployment import Deployment, Segment
from paretosoc.results.deploy.network_files import NetworkFiles, network_files
from paretosoc.results.deploy.tensorrt_version import STRONGLY_TYPED, Version, tensorrt_version
from paretosoc.results.errors import ResultError

_SPECIAL = frozenset(",:*")
"""Letters that mean something in ``--layerDeviceTypes``."""
_FLAGS = {"fp32": "", "fp16": " --fp16", "int8": " --int8"}
_BYTES = {"fp32": 4, "fp16": 2, "int8": 1}
_DEFAULT_POOL = 512 << 20
"""Bytes of a DLA's global DRAM by default (TensorRT documentation: Customizing DLA Memory
Pools)."""
_MAX_ARGUMENT = 120_000
"""Bytes. Linux takes 131,072 in one argument."""


def trtexec_script(deployment: Deployment, version: Version | None = None) -> str:
    """Return a POSIX shell script that builds the engines of every network: one of everything if
    that is possible, and one for each segment if there are several. Their models are beside it.

    Args:
        deployment: the member.
        version: the version of TensorRT. None is the newest that serves the board.

    Raises:
        ResultError: if TensorRT cannot serve a unit that is used, or the number format.
    """
    check_trtexec(deployment)
    served = tensorrt_version(deployment) if version is None else version
    lines = [
        "#!/bin/sh",
        f"# Engines of {deployment.title}, for trtexec of TensorRT {'.'.join(map(str, served))}.",
        "#",
        "#   build   makes the engines (and times them once)",
        "#   run     times them again, each layer into a .profile.json beside them",
        "#",
        "# Each engine is timed alone: what networks cost each other shows only where an",
        "# application runs them together. TRTEXEC names the program.",
        "",
        "set -eu",
        'cd "$(dirname "$0")"',
        "trtexec=${TRTEXEC:-trtexec}",
        "",
    ]
    files = network_files(deployment)
    built: list[str] = []
    run: list[str] = []
    for n, network in enumerate(deployment.problem.networks):
        segments = deployment.segments(n)
        comment = f"    # {network.name}: {_describe(deployment, segments)}"
        built.append(comment)
        run.append(comment)
        single = _one_engine(deployment, segments)
        if single is not None:
            precision = _precision_option(deployment, served, segments[0])
            both, building = single
            building += _pool_options(deployment, segments)
            built.append(_build(files[n].whole, precision, (both, building)))
            run.append(_run(files[n].whole, single))
        else:
            built.append(
                "    # No engine of the whole: it would need two DLA cores, several formats, "
                "or names that --layerDeviceTypes cannot say."
            )
        if len(segments) > 1:
            for segment, file in zip(segments, files[n].segments, strict=True):
                options = _unit_options(deployment, segment.unit)
                precision = _precision_option(deployment, served, segment)
                pools = _pool_options(deployment, [segment])
                built.append(_build(file, precision, (options, pools)))
                run.append(_run(file, (options, "")))
    for name, body in (("build", built), ("run", run)):
        lines += [f"{name}() {{", *body, "}", ""]
    lines += [
        "case ${1:-} in",
        "    build) build ;;",
        "    run) run ;;",
        '    *) echo "usage: $0 build | run" >&2; exit 2 ;;',
        "esac",
    ]
    return "\n".join(lines) + "\n"


def segment_engines(deployment: Deployment, version: Version, files: Sequence[NetworkFiles]) -> str:
    """Return a POSIX shell script that builds an engine for each segment that is not on a CPU,
    beside the segment's model.

    Args:
        deployment: the member.
        version: of TensorRT.
        files: of each network.
    """
    known = deployment.platform.deployment
    served = {} if known is None else dict(known.tensorrt)
    lines = [
        "#!/bin/sh",
        f"# Engines of {deployment.title}, for trtexec of TensorRT {'.'.join(map(str, version))}.",
        "",
        "set -eu",
        'cd "$(dirname "$0")"',
        "trtexec=${TRTEXEC:-trtexec}",
    ]
    for n in range(len(deployment.problem.networks)):
        for segment, file in zip(deployment.segments(n), files[n].segments, strict=True):
            if deployment.problem.units[segment.unit].unit_name in served:
                options = _unit_options(deployment, segment.unit)
                precision = _precision_option(deployment, version, segment)
                pools = _pool_options(deployment, [segment])
                lines.append(_build(file, precision, (options, pools)).strip())
    return "\n".join(lines) + "\n"


def engine_core(deployment: Deployment, network: int, label: str) -> int | None:
    """Return the DLA core of an engine of the entire network, or None for the GPU.

    Raises:
        ResultError: if there is no such engine. ``label`` starts the message.
    """
    segments = deployment.segments(network)
    if _one_engine(deployment, segments) is None:
        raise ResultError(
            f"{label}: it is one engine only without a second DLA core, and with names that "
            "--layerDeviceTypes can say; --to triton runs segments"
        )
    cores = [_core(deployment, segment.unit) for segment in segments]
    return next((core for core in cores if core is not None), None)


def engine_file(model: str) -> str:
    """Return the name of the engine of an ONNX file."""
    return _stem(model) + ".engine"


def check_trtexec(deployment: Deployment) -> None:
    """Accept a member if TensorRT builds for all its units.

    Raises:
        ResultError: if a unit is none of these, or the number format is not known.
    """
    known = deployment.platform.deployment
    served = {} if known is None else dict(known.tensorrt)
    if not served:
        raise ResultError(
            f"TensorRT cannot serve {deployment.platform.name}: TensorRT builds for no unit of it; "
            "--to onnx has sub-models for the tools of the chip's maker"
        )
    for n, network in enumerate(deployment.problem.networks):
        for segment in deployment.segments(n):
            unit = deployment.problem.units[segment.unit].unit_name
            if unit not in served:
                raise ResultError(
                    f"TensorRT cannot serve unit {unit!r} (network {network.name!r}, "
                    f"{_groups(segment)}): TensorRT builds for {', '.join(served)} ('dse explore "
                    f"--units {','.join(served)}' keeps to these); --to onnx has sub-models for "
                    "any runtime"
                )
    for n in range(len(deployment.problem.networks)):
        for segment in deployment.segments(n):
            number_format = _format_of(deployment, segment)
            if number_format not in _FLAGS:
                raise ResultError(
                    f"TensorRT cannot serve the number format {number_format!r}; "
                    f"it has {', '.join(_FLAGS)}"
                )


def precision_of(deployment: Deployment) -> str:
    """Return the number format of the member."""
    if deployment.origins is None:
        return deployment.platform.default_precision
    return deployment.origins.precision


def _format_of(deployment: Deployment, segment: Segment) -> str:
    """Return the number format of a segment: its own if members choose formats, else that of
    all."""
    return deployment.problem.units[segment.unit].number_format or precision_of(deployment)


def _precision_option(deployment: Deployment, version: Version, segment: Segment) -> str:
    """Return the option for the precision. TensorRT 11 dropped it: precision is stored in the model
    instead."""
    return "" if version[0] >= STRONGLY_TYPED else _FLAGS[_format_of(deployment, segment)]


def _core(deployment: Deployment, unit: int) -> int | None:
    """Return the DLA core of a unit, or None for the GPU."""
    known = deployment.platform.deployment
    assert known is not None, "the units were checked"
    return dict(known.tensorrt)[deployment.problem.units[unit].unit_name]


def _unit_options(deployment: Deployment, unit: int) -> str:
    core = _core(deployment, unit)
    return "" if core is None else f" --useDLACore={core}"


def _pool_options(deployment: Deployment, segments: Sequence[Segment]) -> str:
    """Return a larger pool for the weights of a DLA engine, if one of the segments needs it. Pools
    are powers of two, upper bounds for each part on a DLA, and 512 MiB for weights by default."""
    most = 0
    for segment in segments:
        if deployment.origins is not None and _core(deployment, segment.unit) is not None:
            groups = deployment.origins.networks[segment.network].groups
            count = sum(g.parameters for g in groups[segment.first : segment.last + 1])
            most = max(most, count * _BYTES[_format_of(deployment, segment)])
    if most <= _DEFAULT_POOL:
        return ""
    return f" --memPoolSize=dlaGlobalDRAM:{(1 << (most - 1).bit_length()) >> 20}"


def _one_engine(deployment: Deployment, segments: Sequence[Segment]) -> tuple[str, str] | None:
    """Return options of an engine of the entire network: of build and run, and of the build alone.
    None if there is no such engine."""
    if len({_format_of(deployment, segment) for segment in segments}) > 1:
        return None
    cores = {_core(deployment, segment.unit) for segment in segments}
    dlas = [core for core in cores if core is not None]
    if len(dlas) > 1:
        return None
    if not dlas:
        return "", ""
    options = f" --useDLACore={dlas[0]}"
    if cores == {dlas[0]}:
        return options, ""
    places = [
        (name, "GPU" if _core(deployment, segment.unit) is None else "DLA")
        for segment in segments
        for name in deployment.layers(segment)
    ]
    types = ",".join(f"{name}:{device}" for name, device in places)
    if len(types.encode()) > _MAX_ARGUMENT:
        return None
    if any(_SPECIAL.intersection(name) for name, _ in places):
        return None
    return options, f" --layerDeviceTypes={quote(types)}"


def _build(file: str, precision: str, options: tuple[str, str]) -> str:
    both, building = options
    # Layers that a DLA cannot run inside its own segment go to the GPU, as the model assumes.
    fallback = " --allowGPUFallback" if both else ""
    return (
        f'    "$trtexec" --onnx={quote(file)} --saveEngine={quote(engine_file(file))}'
        f"{both}{fallback}{precision}{building}"
    )


def _run(file: str, options: tuple[str, str]) -> str:
    stem = _stem(file)
    return (
        f'    "$trtexec" --loadEngine={quote(engine_file(file))}{options[0]} --dumpProfile '
        f"--exportProfile={quote(stem + '.profile.json')}"
    )


def _stem(file: str) -> str:
    return file.removesuffix(".onnx")


def _describe(deployment: Deployment, segments: Sequence[Segment]) -> str:
    return ", then ".join(
        f"{_groups(s)} on {deployment.problem.units[s.unit].name}" for s in segments
    )


def _groups(segment: Segment) -> str:
    if segment.first == segment.last:
        return f"group {segment.first}"
    return f"groups {segment.first} to {segment.last}"
