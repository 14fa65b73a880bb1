"""A front's members as rows of plain data, for JSON."""

from __future__ import annotations

from dataclasses import asdict

from paretosoc.results.front.choices import Choices
from paretosoc.results.front.front import Front, Member
from paretosoc.results.front.named_members import mark_members
from paretosoc.results.problem.objectives import displayed
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.rates import member_relative_ppm
from paretosoc.results.text.member_diff import clocks_mhz, groups_by_unit

Row = dict[str, object]


def table_rows(front: Front, choices: Choices) -> list[Row]:
    """Return one row per choice, as plain data for JSON.

    Keys: ``member`` (position in ``front.json``), ``marks``, ``stands_for`` (how many members),
    ``objectives`` (integers, all minimised), ``display`` (label with unit to value: ms, mJ, W,
    rates), ``robust`` (the same of the front's measure, null without one), ``groups_by_unit``,
    ``clocks_mhz`` (null if off), ``priorities`` (by network, null unless they are searched),
    ``transitions``, ``responses`` (null without rates of networks, else
    per network ``longest_ps``, ``percentile_95_ps``, ``jitter_ps``, ``misses``), ``rates`` (null if
    networks share a frame, else per network ``uhz`` and ``relative_ppm``, its share of its rate
    alone).
    """
    problem = front.problem
    marks = mark_members(front)
    names = problem.objective_names
    return [
        {
            "member": i,
            "marks": list(marks.get(i, ())),
            "stands_for": choices.counts[i],
            "objectives": dict(zip(names, member.objectives, strict=True)),
            "display": displayed(problem, member.objectives),
            "robust": None if member.robust is None else displayed(problem, member.robust),
            "groups_by_unit": groups_by_unit(problem, member),
            "clocks_mhz": clocks_mhz(problem, member),
            "priorities": _searched_priorities(problem, member),
            "transitions": problem.transition_count(member.design),
            "responses": _responses(problem, member),
            "rates": _rates(problem, member),
        }
        for i, member in ((entry.member, front.members[entry.member]) for entry in choices.entries)
    ]


def _searched_priorities(problem: Problem, member: Member) -> dict[str, int] | None:
    if not problem.searches_priorities:
        return None
    names = [network.name for network in problem.networks]
    return dict(zip(names, problem.priorities(member.design), strict=True))


def _responses(problem: Problem, member: Member) -> dict[str, dict[str, int]] | None:
    if member.responses is None:
        return None
    entries = zip(problem.networks, member.latencies_ps, member.responses, strict=True)
    return {
        network.name: {"longest_ps": longest, **asdict(entry)}
        for network, longest, entry in entries
    }


def _rates(problem: Problem, member: Member) -> dict[str, dict[str, int]] | None:
    if member.free_run is None:
        return None
    shares = member_relative_ppm(problem, member)
    return {
        network.name: {"images_uhz": uhz, "relative_ppm": ppm}
        for network, uhz, ppm in zip(
            problem.networks, member.free_run.rates_uhz(problem.images), shares, strict=True
        )
    }
