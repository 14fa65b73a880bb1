"""The content of ``report.html`` as JSON. The folder ``assets`` has the program that draws it.

Times are picoseconds, powers mW, demands kB/s, energies fJ, as in the other files. Objectives are
in display units. Lists of one entry per execution follow the order of schedules: frame, network,
repeat, group. Repeated content is written once, since schedules are most of the page. There are as
many as a browser takes, of the usual choices and of others along the front.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from paretosoc.results.costs.cost_origins import CostOrigins
from paretosoc.results.export.report_proofs import proofs_of
from paretosoc.results.front.choices import RESOLUTIONS, Confidence, choose
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.front import Front, Member
from paretosoc.results.front.front_document import front_sha256
from paretosoc.results.front.mapping_gain import describe_mapping_gain, is_at_fastest
from paretosoc.results.front.named_members import mark_members
from paretosoc.results.front.schedule import Schedule
from paretosoc.results.io.canonical_json import Json, finite_or_none
from paretosoc.results.problem.execution import SHARED, OneFrame
from paretosoc.results.problem.objectives import shown_values
from paretosoc.results.problem.problem import DesignPoint, Problem
from paretosoc.results.problem.problem_file import problem_sha256
from paretosoc.results.problem.rates import member_relative_ppm
from paretosoc.results.text.confidence import describe_confidence, describe_costs
from paretosoc.results.text.front import front_sentences
from paretosoc.results.text.member_diff import varying_domains
from paretosoc.results.text.rates import describe_shown_part
from paretosoc.results.text.schedule import activity
from paretosoc.results.text.space_description import describe_execution, names_of_kinds

ScheduleOf = Callable[[Problem, DesignPoint], Schedule]
"""Simulates a design point, see :func:`fitness.execution.schedule_of`."""


@dataclass(frozen=True)
class ReportConfidence:
    """How sure the figures of a front are, for the report."""

    members: Confidence
    """At resolution 0: of all members."""
    choices: Confidence
    """At the resolution of the tables."""


MAX_EXECUTIONS = 500_000
"""On one page, in all schedules of members: some megabytes, which a browser reads in a second."""


def report_data(
    front: Front,
    schedule_of: ScheduleOf,
    costs: CostOrigins | None = None,
    deployments: Sequence[Mapping[str, str]] = (),
    max_schedules: int | None = None,
    resolutions: Sequence[float] = RESOLUTIONS,
    confidence: ReportConfidence | None = None,
) -> dict[str, Json]:
    """Return the content of the report.

    Args:
        costs: adds layers, operations and the origin of costs.
        deployments: for each member, the texts that set it up, by format. Empty if the board is not
            known.
        max_schedules: maximum number of members with schedules. None: as many as a browser takes.
        resolutions: those whose choices can be shown, beside that of the tables.
    """
    problem = front.problem
    paragraphs: dict[str, int] = {}
    marks = mark_members(front)
    gain = describe_mapping_gain(front)
    return {
        "networks": _networks(problem, costs),
        "units": [unit.name for unit in problem.units],
        # Of each entry, the entry that its groups run at once with, or null on other units.
        "shared": [
            first if problem.units[first].dispatch == SHARED else None for first in problem.unit_of
        ],
        "unit_names": [unit.unit_name for unit in problem.units],
        "unit_of": list(problem.unit_of),
        "unit_kinds": list(names_of_kinds(problem)),
        "domains": [
            {
                "name": domain.name,
                "khz": list(domain.frequencies_khz),
                "mv": list(domain.voltages_mv),
            }
            for domain in problem.domains
        ],
        "edges": [[source, target] for source, target in problem.edges],
        "transition_ps": [*problem.delay_ps.reshape(-1).tolist()],
        "objectives": [
            {
                "label": objective.label(problem),
                "unit": objective.heading(problem),
                "larger_is_better": objective.larger_is_better,
            }
            for objective in problem.objectives
        ],
        "stairs": non_dominated(front.objective_array).tolist(),
        "varying_domains": list(varying_domains(front)),
        "execution": describe_execution(problem.execution)
        + (" (each network once, on an idle chip)" if problem.execution == OneFrame() else ""),
        "searches_priorities": problem.searched_order is not None,
        "marks": {str(index): list(names) for index, names in marks.items()},
        "sentences": [*front_sentences(front), *describe_costs(front, costs)],
        **_choices(front, resolutions),
        "confidence": None if confidence is None else _confidence(front, confidence),
        "mapping_gain": None if gain is None else [gain.text, gain.comes_first],
        **_points(front, schedule_of, max_schedules),
        "deployments": [
            {
                name: [paragraphs.setdefault(part, len(paragraphs)) for part in text.split("\n\n")]
                for name, text in deployment.items()
            }
            for deployment in deployments
        ],
        "deployment_paragraphs": list(paragraphs),
        "proofs": proofs_of(front),
        "provenance": _provenance(front),
    }


def _choices(front: Front, resolutions: Sequence[float]) -> dict[str, Json]:
    """Return the choices at each resolution, finest first, and the place of that of the tables."""
    if not front.members:
        return {"choices": [], "resolution": 0}
    usual = choose(front).resolution
    shares = sorted({*resolutions, usual})
    return {
        "choices": [
            {
                "percent": 100 * share,
                "members": [
                    [member, count] for member, count in choose(front, share).counts.items()
                ],
            }
            for share in shares
        ],
        "resolution": shares.index(usual),
    }


def _confidence(front: Front, confidence: ReportConfidence) -> dict[str, Json]:
    """Return what is advised, and of each member its intervals, how often it keeps all limits, and
    its regret for each goal."""
    goals = list(confidence.members.choices[0].goals)
    return {
        "draws": confidence.members.draws,
        "sentences": [*describe_confidence(front, confidence.choices)],
        "goals": [*goals],
        "members": [
            {
                "intervals": [
                    [finite_or_none(value) for value in interval]
                    for interval in entry.intervals.values()
                ],
                "meets_limits": entry.meets_limits,
                "regrets": [entry.goals[goal].regret for goal in goals],
            }
            for entry in confidence.members.choices
        ],
    }


def _networks(problem: Problem, costs: CostOrigins | None) -> list[Json]:
    return [
        {
            "name": network.name,
            "groups": list(network.group_names),
            "repeats": network.repeats,
            "arrival_ps": network.arrival_ps,
            # With rates it is one of each release.
            "deadline_ps": None if problem.has_rates else network.deadline_ps,
            "min_rate_uhz": network.min_rate_uhz,
            "details": None
            if costs is None
            else [
                {
                    "layers": list(group.layers),
                    "macs": group.macs,
                    "origins": [entry.origin.value for entry in group.by_unit],
                }
                for group in costs.networks[n].groups
            ],
        }
        for n, network in enumerate(problem.networks)
    ]


_CostsSeen = list[dict[tuple[int, int, int, int], int]]
"""Map each group's figures to their place in the content: the time alone of its first repeat and
the addition of each further one, in ps, demand_kbps and dynamic_mw."""


def _points(front: Front, schedule_of: ScheduleOf, max_schedules: int | None) -> dict[str, Json]:
    """Return members and baselines, and the costs that they refer to."""
    problem = front.problem
    costs_seen: _CostsSeen = [{} for _ in range(problem.group_count)]
    # Each execution's place in the order of a complete frame.
    frame = [
        (n, repeat, group)
        for n, network in enumerate(problem.networks)
        for repeat in range(1, network.repeats + 1)
        for group in network.groups
    ]
    place = {key: k for k, key in enumerate(frame)}
    room = MAX_EXECUTIONS // len(frame)
    most = room if max_schedules is None else min(room, max_schedules)
    count = len(front.members)
    spread = range(count) if count <= most else [i * count // most for i in range(most)]
    shown = {*choose(front).members, *spread}

    def point(member: Member, *, with_schedule: bool) -> dict[str, Json]:
        schedule: dict[str, Json] | None = None
        if with_schedule:
            rows = schedule_of(problem, member.design).groups
            # Beyond one frame not all frames are complete.
            is_frame = member.free_run is None and len(rows) == len(frame)
            before = [0, *(row.end_ps for row in rows)]
            schedule = {
                # From the end of the execution before in the list, mostly that of the group before.
                "gap_ps": [row.start_ps - end for row, end in zip(rows, before, strict=False)],
                "stretch_ps": [row.contention_ps for row in rows],
                "waited_ps": [row.waited_ps for row in rows],
                "places": None
                if is_frame
                else [
                    (row.frame - 1) * len(frame) + place[row.network, row.repeat, row.group]
                    for row in rows
                ],
            }
        return {**_member(problem, member, costs_seen), "schedule": schedule}

    members: list[Json] = [
        point(member, with_schedule=i in shown) for i, member in enumerate(front.members)
    ]
    baselines: list[Json] = [
        {
            "label": entry.label,
            "breaks": list(entry.breaks),
            "at_fastest": is_at_fastest(problem, entry),
            **point(entry.member, with_schedule=i < room),
        }
        for i, entry in enumerate(front.baselines)
    ]
    costs: list[Json] = [[list(cost) for cost in seen] for seen in costs_seen]
    return {"group_costs": costs, "members": members, "baselines": baselines}


def _member(problem: Problem, member: Member, costs_seen: _CostsSeen) -> dict[str, Json]:
    figures = activity(problem, member)
    points = member.design.operating_points.tolist()
    cost: list[Json] = []
    moving = problem.moving_ps(member.design.units).tolist()
    for group, u in enumerate(member.design.units.tolist()):
        unit, seen = problem.units[u], costs_seen[group]
        at = (group, *(points[clock] for clock in unit.clocks))
        step = 0 if unit.step_ps is None else int(unit.step_ps[at])
        alone = int(unit.time_ps[at]) + moving[group]
        key = alone, step, figures.demand_kbps[group], figures.dynamic_mw[group]
        cost.append(seen.setdefault(key, len(seen)))
    return {
        "overloaded": member.is_overloaded,
        "objectives": [
            None if member.is_overloaded else finite_or_none(value)
            for value in shown_values(problem.objectives, member.objectives)
        ],
        "makespan_ps": member.makespan_ps,
        "latencies_ps": list(member.latencies_ps),
        "responses": None
        if member.responses is None or member.is_overloaded
        else [[*asdict(entry).values()] for entry in member.responses],
        "energy_fj": member.energy_fj,
        "energy_by_unit_fj": list(member.energy_by_unit_fj),
        "priorities": [list(each) for each in problem.priorities(member.design)],
        "units": member.design.units.tolist(),
        "points": list(member.points),
        "cost": cost,
        "idle_mw": list(figures.idle_mw),
        "base_mw": figures.base_mw,
        "free_run": _free_run(problem, member),
        "period_end_ps": None if member.window_ps is None else member.window_ps[1],
    }


def _free_run(problem: Problem, member: Member) -> dict[str, Json] | None:
    run = member.free_run
    if run is None:
        return None
    return {
        "window_ps": list(run.window_ps),
        "rates_uhz": list(run.rates_uhz(problem.images)),
        "relative_ppm": list(member_relative_ppm(problem, member)),
        "shown_ps": run.shown_ps,
        "words": describe_shown_part(run),
    }


def _provenance(front: Front) -> dict[str, Json]:
    source = front.provenance
    return {
        "version": source.version,
        "command": source.command,
        "platform": source.platform,
        "precision": source.precision,
        "search": f"{source.engine}, seed {source.seed}: {source.effort}, {source.ended}",
        "evaluations": source.evaluations,
        "inputs": [[file.name, file.sha256] for file in source.inputs],
        "problem_sha256": problem_sha256(front.problem),
        "front_sha256": front_sha256(front),
        "convergence": [[p.evaluations, p.hypervolume] for p in source.convergence],
    }
