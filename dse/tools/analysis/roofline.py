"""The rooflines of a member: the rate that each unit could reach at its clocks, and its groups'."""

from __future__ import annotations

import math

import numpy as np

from paretosoc.common.units import KBPS_PER_GBPS, PS_PER_S
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.space.members import evaluate_row
from paretosoc.fitness.cost_model.power import busy_above_idle_mw
from paretosoc.platforms.platform import Platform
from paretosoc.results.costs.cost_origins import CostOrigins
from paretosoc.results.errors import ResultError
from paretosoc.results.front.front import Member
from paretosoc.results.plots.roofline import Point, Roof
from paretosoc.results.problem.problem import Problem
from paretosoc.results.text.member_diff import clocks_mhz
from paretosoc.results.text.schedule import activity

_KHZ_PER_GHZ = 10**6
_MW_PER_W = 1000


def unit_rooflines(problem: Problem, origins: CostOrigins, platform: Platform) -> list[Roof]:
    """Return a roof for each unit that multiplies, at the fastest clocks. The groups that it can
    run are points.

    Raises:
        ResultError: if no group multiplies.
    """
    space = DesignSpace(problem)
    roofs = []
    for u, unit in enumerate(problem.units):
        able = problem.allowed[:, u]
        # A group that it cannot run is elsewhere, on another unit's roof.
        units = np.where(able, u, problem.allowed.argmax(axis=1))
        if not able.any():
            continue
        row = space.canonical(np.array([[*units.tolist(), *space.fastest.tolist()]]))[0]
        member = evaluate_row(problem, row).member
        found = rooflines(problem, member, origins, platform)
        roofs += [roof for roof in found if roof.unit == unit.name]
    return roofs


def rooflines(
    problem: Problem, member: Member, origins: CostOrigins, platform: Platform
) -> list[Roof]:
    """Return a roof for each unit that multiplies. Its groups are points, each as it runs alone.

    A multiply-accumulate counts as two operations. Powers are those of the whole board at the
    member's clocks, of which every unit that is on draws its idle power.

    Raises:
        ResultError: if no group multiplies.
    """
    figures = activity(problem, member)
    idle_watts = (figures.base_mw + sum(figures.idle_mw)) / _MW_PER_W
    memory, mhz = platform.memory, clocks_mhz(problem, member)
    points: dict[int, list[Point]] = {}
    groups = [group for network in origins.networks for group in network.groups]
    for g, (u, group) in enumerate(zip(member.design.units.tolist(), groups, strict=True)):
        if not group.macs:
            continue
        chosen, at = member.design.place_of(problem, g)
        seconds = int(chosen.time_ps[at]) / PS_PER_S
        gops, gbps = 2e-9 * group.macs / seconds, figures.demand_kbps[g] / KBPS_PER_GBPS
        watts = idle_watts + figures.dynamic_mw[g] / _MW_PER_W
        points.setdefault(u, []).append(
            Point(
                problem.networks[problem.network_of[g]].name,
                gops / gbps if gbps else math.inf,
                gops,
                gops / watts if watts else 0.0,
            )
        )
    roofs = []
    for u, entry in enumerate(problem.units):
        if u not in points:
            continue
        unit = platform.unit_by_name[entry.unit_name]
        wanted = entry.number_format or origins.precision
        peak = unit.peak_by_format[wanted]
        khz = {domain: round(1000 * (mhz[domain] or 0)) for domain in unit.clocks}
        place = {domain: platform.ladder_khz(domain).index(khz[domain]) for domain in khz}
        above_mw = busy_above_idle_mw(platform, unit)[tuple(place.values())]
        gbps = memory.bytes_per_cycle * khz[memory.domain] / KBPS_PER_GBPS
        traffic_mw = memory.power.above_idle_mw[place[memory.domain]]
        roofs.append(
            Roof(
                entry.name,
                tuple((domain, mhz[domain] or 0.0) for domain in unit.clocks),
                float(2 * peak.macs_per_cycle * khz[unit.clocks[0]] / _KHZ_PER_GHZ),
                gbps * float(unit.share_of(peak)) or math.inf,
                idle_watts + int(above_mw) / _MW_PER_W,
                traffic_mw / _MW_PER_W / gbps,
                tuple(points[u]),
            )
        )
    if not roofs:
        raise ResultError("roofline: no network multiplies, so that there are no operations")
    return roofs
