"""The schedule of a member beside a trace of the board that ran it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median

from paretosoc.common.units import PS_PER_NS
from paretosoc.fitness.profiles.layer_names import LayerNames
from paretosoc.fitness.profiles.profilers.trace_ranges import TraceRange
from paretosoc.fitness.profiles.profilers.trtexec_import import kind_of
from paretosoc.results.deploy.deployment import Deployment, Segment, network_files
from paretosoc.results.errors import ResultError
from paretosoc.results.export.trace import (
    execution,
    member_events,
    process_name,
    thread_names,
    trace_document,
)
from paretosoc.results.front.named_members import member_title
from paretosoc.results.front.schedule import ScheduledMember
from paretosoc.results.problem.execution import FreeRunning

Span = tuple[int, int]
_GROUPS = re.compile(r"(.+) ([0-9]{1,9})(?:-[0-9]+)?(?:: .*)?", re.DOTALL)
"""``vgg19 0-5`` and ``vgg19 3: its name``, as our own traces have it."""


@dataclass(frozen=True)
class LaidBeside:
    """One execution of a segment: start and end, in ps from the release of the frame."""

    network: str
    groups: str
    unit: str
    repeat: int
    planned_ps: Span
    measured_ps: tuple[Span, ...]
    """[frames]; empty if the trace does not show it."""

    @property
    def median_ps(self) -> Span | None:
        """Return the medians of the measured starts and of the ends."""
        if not self.measured_ps:
            return None
        starts, ends = zip(*self.measured_ps, strict=True)
        return round(median(starts)), round(median(ends))


@dataclass(frozen=True)
class PlanAndTrace:
    """All executions of a frame by their planned start."""

    rows: tuple[LaidBeside, ...]
    frames: int
    """Whole frames in the trace."""
    most_frames: int
    """Frames of the segment with the most executions."""

    @property
    def planned_ps(self) -> int:
        """Return the planned end of the executions that the trace shows."""
        return max(row.planned_ps[1] for row in self.rows if row.measured_ps)

    @property
    def ends_ps(self) -> list[int]:
        """Return the measured end of each frame."""
        shown = [row.measured_ps for row in self.rows if row.measured_ps]
        return [max(spans[f][1] for spans in shown) for f in range(self.frames)]


def lay_beside(
    deployment: Deployment, shown: ScheduledMember, ranges: Sequence[TraceRange]
) -> PlanAndTrace:
    """Find the executions of the plan in a trace.

    A range belongs to a segment if it is called after its engine (``vgg19.0.gpu``), after its
    groups (``vgg19 0-5``) or after layers. The first range whose name came before begins the next
    execution. Execution k of a network with r repeats is of frame k / r, rounded down. Every frame
    begins when the plan's first execution that the trace shows does.

    Raises:
        ResultError: if networks run freely, which have no frame, or no whole frame is found.
    """
    problem = deployment.problem
    if isinstance(problem.execution, FreeRunning):
        raise ResultError("trace: a frame is required, which networks that run freely do not have")
    find = _finder(deployment)
    found: dict[Segment, list[TraceRange]] = {}
    for entry in ranges:
        if (segment := find(entry.name)) is not None:
            found.setdefault(segment, []).append(entry)
    executions = {segment: _executions(entries) for segment, entries in found.items()}
    repeats = {s: problem.networks[s.network].repeats for s in executions}
    executions = {s: spans for s, spans in executions.items() if len(spans) >= repeats[s]}
    if not executions:
        raise ResultError(
            "trace: ranges called after engines (vgg19.0.gpu), groups (vgg19 0-5) or layers are "
            "required for a frame, got none that belongs to one network only"
        )
    planned = _planned(deployment, shown)
    counts = [len(spans) // repeats[s] for s, spans in executions.items()]
    frames = min(counts)
    earliest = min(span[0] for (s, _), span in planned.items() if s in executions)
    origins = [
        PS_PER_NS * min(spans[f * repeats[s]][0] for s, spans in executions.items()) - earliest
        for f in range(frames)
    ]
    rows = [
        LaidBeside(
            problem.networks[segment.network].name,
            f"{segment.first}-{segment.last}"
            if segment.first < segment.last
            else f"{segment.first}",
            problem.units[segment.unit].name,
            repeat,
            span,
            tuple(
                (PS_PER_NS * start - origins[f], PS_PER_NS * end - origins[f])
                for f in range(frames if segment in executions else 0)
                for start, end in [executions[segment][f * repeats[segment] + repeat - 1]]
            ),
        )
        for (segment, repeat), span in planned.items()
    ]
    return PlanAndTrace(tuple(sorted(rows, key=lambda row: row.planned_ps)), frames, max(counts))


def _planned(deployment: Deployment, shown: ScheduledMember) -> dict[tuple[Segment, int], Span]:
    """Return the span of each segment in each repeat of a frame."""
    segment_of = deployment.segment_of
    spans: dict[tuple[Segment, int], Span] = {}
    for row in shown.schedule.groups:
        if row.frame == 1:
            key = segment_of[row.group], row.repeat
            start, end = spans.get(key, (row.start_ps, row.end_ps))
            spans[key] = min(start, row.start_ps), max(end, row.end_ps)
    return spans


def _finder(deployment: Deployment) -> Callable[[str], Segment | None]:
    """Return the function that finds the segment of a range by its name."""
    networks = deployment.problem.networks
    segments = [deployment.segments(n) for n in range(len(networks))]
    engines = {
        file.removesuffix(".onnx"): segment
        for files, own in zip(network_files(deployment), segments, strict=True)
        for file, segment in zip(files.segments, own, strict=True)
    }
    by_group = [{g: s for s in own for g in range(s.first, s.last + 1)} for own in segments]
    places = {network.name: n for n, network in enumerate(networks)}
    origins = () if deployment.origins is None else deployment.origins.networks
    group_of = [
        {layer: g for g, group in enumerate(origin.groups) for layer in group.layers}
        for origin in origins
    ]
    names = [LayerNames(list(groups)) for groups in group_of]

    @cache
    def find(name: str) -> Segment | None:
        stem = name.removesuffix(".onnx").removesuffix(".engine")
        if stem in engines:
            return engines[stem]
        if (parts := _GROUPS.fullmatch(name)) and parts[1] in places:
            return by_group[places[parts[1]]].get(int(parts[2]))
        owner = kind_of(name)[1]
        found = {
            by_group[n][group_of[n][layers[0]]]
            for n, known in enumerate(names)
            if (layers := known.find(owner).layers)
        }
        return found.pop() if len(found) == 1 else None

    return find


def _executions(ranges: Sequence[TraceRange]) -> list[Span]:
    spans: list[Span] = []
    seen: set[str] = set()
    for entry in ranges:
        if not spans or entry.name in seen:
            spans.append((entry.start_ns, entry.end_ns))
            seen = set()
        else:
            spans[-1] = spans[-1][0], max(spans[-1][1], entry.end_ns)
        seen.add(entry.name)
    return spans


def both_as_trace(deployment: Deployment, shown: ScheduledMember, found: PlanAndTrace) -> bytes:
    """Return the plan and the measured frame with the median end as one trace for Perfetto."""
    title = member_title(deployment.front, deployment.index)
    ends = found.ends_ps
    frame = sorted(range(found.frames), key=ends.__getitem__)[(found.frames - 1) // 2]
    threads = list(dict.fromkeys((row.unit, row.network) for row in found.rows))
    events = member_events(1, f"planned: {title}", shown)
    events.append(process_name(2, f"measured: frame {frame + 1} of {found.frames}"))
    # Networks that share a unit overlap there, which events of one thread must not.
    events += thread_names(2, [f"{unit}: {network}" for unit, network in threads])
    events += [
        execution(
            2,
            threads.index((row.unit, row.network)) + 1,
            f"{row.network} {row.groups}",
            row.network,
            row.measured_ps[frame],
            {"repeat": row.repeat, "planned_start_ps": row.planned_ps[0]},
        )
        for row in found.rows
        if row.measured_ps
    ]
    return trace_document(events)
