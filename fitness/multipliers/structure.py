"""The fixed structure of a problem: its paths, chains and classes of demand, and work arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import comb, perm

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.fitness.simulator.types.tables import Tables
from paretosoc.results.front.bounds import MAX_CONFIGURATIONS
from paretosoc.results.problem.limits import additive_figures
from paretosoc.results.problem.objectives import ObjectiveKind
from paretosoc.results.problem.problem import Problem

MAX_CLASSES_EACH = 8
MAX_SEARCHED = 10_000
"""Configurations that a search for weights goes through."""
MAX_APART = 2
MAX_DEMANDS = 200
"""Classes begin at one of so many quantiles."""


@dataclass(frozen=True, eq=False)
class Networks(Tables):
    """The dependencies of a problem's groups and networks. Times are of all repeats."""

    path: IntArray
    """Groups along the paths, network by network."""
    first: IntArray
    """[networks + 1]: begin of each in ``path``."""
    beside: IntArray
    """Groups beside the paths."""
    transition_ps: FloatArray
    """[len(path), units, units]: from the group before, on the path."""
    limit: IntArray
    """[networks]: most transitions along the path, or -1 for no limit."""
    counts_segments: IntArray
    """[networks]"""
    member: FloatArray
    """[chains, networks]: 1 if the chain has the network."""
    chain_end: IntArray
    """[chains]: the last network."""
    arrival_ps: FloatArray
    """[chains]: arrival of the first network. With rates it is 0, as the sum of all releases
    counts."""
    unit_of: IntArray
    """[units]: the first entry of the same unit if number formats are chosen."""
    figure: FloatArray
    """[figures, groups, units]: terms of the figures that are sums."""


@dataclass(frozen=True, eq=False)
class Scratch(Tables):
    """Work arrays of the kernels."""

    value: FloatArray
    """[len(path), layers, units]"""
    back: IntArray
    pick: IntArray
    """[len(path), units]"""
    used: FloatArray
    """[resources], like all below."""
    given: FloatArray
    weight: FloatArray
    trial: FloatArray
    log: FloatArray
    mean: FloatArray
    best: FloatArray
    sums: FloatArray
    """[2]"""


def make_scratch(networks: Networks, kinds: int) -> Scratch:
    """Return work arrays for a problem with ``kinds`` classes of demand on all units."""
    units = networks.transition_ps.shape[1]
    layers = max(int(networks.limit.max()), 0) + 1
    shape = (len(networks.path), layers, units)
    rows = np.zeros((7, 1 + kinds + len(networks.member) + units + len(networks.figure)))
    return Scratch(
        value=np.zeros(shape),
        back=np.zeros(shape, dtype=np.int64),
        pick=np.zeros((len(networks.path), units), dtype=np.int64),
        used=rows[0],
        given=rows[1],
        weight=rows[2],
        trial=rows[3],
        log=rows[4],
        mean=rows[5],
        best=rows[6],
        sums=np.zeros(2),
    )


def paths_of(problem: Problem) -> tuple[tuple[int, ...], ...]:
    """Return [networks]: the path whose groups take longest on their fastest units and clocks."""
    least = np.full(problem.group_count, np.iinfo(np.int64).max)
    for u, unit in enumerate(problem.units):
        time = unit.time_ps.reshape(problem.group_count, -1)
        fastest = np.where(time < 0, np.iinfo(np.int64).max, time).min(axis=1)
        least = np.where(problem.allowed[:, u], np.minimum(least, fastest), least)
    into: dict[int, list[int]] = {}
    for source, target in problem.edges:
        into.setdefault(target, []).append(source)
    paths = []
    for network in problem.networks:
        best: dict[int, tuple[int, tuple[int, ...]]] = {}
        for g in network.groups:
            before = max((best[s] for s in into.get(g, ())), default=(0, ()))
            best[g] = (before[0] + int(least[g]), (*before[1], g))
        paths.append(max(best.values())[1])
    return tuple(paths)


def chains_of(problem: Problem) -> tuple[tuple[int, ...], ...]:
    """Return [networks]: a longest chain of networks that ends in each.

    With rates, each network is alone, as their releases overlap.
    """
    chains: dict[int, tuple[int, ...]] = {}
    if problem.has_rates:
        return tuple((n,) for n in range(len(problem.networks)))

    def chain(n: int) -> tuple[int, ...]:
        if n not in chains:
            before = [chain(m) for m in problem.networks[n].waits_for]
            chains[n] = (*max(before, key=len, default=()), n)
        return chains[n]

    return tuple(chain(n) for n in range(len(problem.networks)))


def longest_networks(problem: Problem) -> tuple[int, ...]:
    """Return the networks whose groups, each on its fastest unit, take longest."""
    least = np.full(problem.group_count, np.inf)
    for u in range(len(problem.units)):
        time = problem.frame_ps(u).reshape(problem.group_count, -1).astype(float)
        fastest = np.where(time < 0, np.inf, time).min(axis=1)
        least = np.where(problem.allowed[:, u], np.minimum(least, fastest), least)
    sums = [float(least[list(network.groups)].sum()) for network in problem.networks]
    order = sorted(range(len(sums)), key=lambda n: -sums[n])
    return tuple(order[:MAX_APART])


def classes_of(
    problem: Problem, groups_apart: Sequence[Sequence[int]] = ()
) -> tuple[tuple[int, ...], ...]:
    """Return [units]: the demands at which classes begin.

    Those for all groups come first, then those for each network that is apart. Empty if nothing
    contends or there are too many units.
    """
    if all(unit.contention is None for unit in problem.units):
        return ()
    inside = {g for groups in groups_apart for g in groups}
    parts = [sorted(set(range(problem.group_count)) - inside), *groups_apart]
    units = len(set(problem.unit_of))
    for count in range(MAX_CLASSES_EACH, 0, -1):
        searched = _configurations(units, count, len(groups_apart))
        checked = (count * len(parts) + 1) ** units
        if searched <= MAX_SEARCHED and checked <= MAX_CONFIGURATIONS:
            return tuple(
                tuple(begin for part in parts for begin in _class_begins(problem, u, count, part))
                for u in range(len(problem.units))
            )
    return ()


def _configurations(units: int, count: int, apart: int) -> int:
    """Return the number of configurations with ``count`` classes for all and per network apart."""
    return sum(
        comb(apart, some) * perm(units, some) * count**some * (count + 1) ** (units - some)
        for some in range(min(apart, units) + 1)
    )


def _class_begins(problem: Problem, u: int, count: int, groups: Sequence[int]) -> tuple[int, ...]:
    """Return class boundaries with the least sum of time x (demand - its class's least), at the
    fastest and middle clocks."""
    if problem.unit_of[u] != u:
        return ()
    among = np.zeros(problem.group_count, dtype=np.bool_)
    among[list(groups)] = True
    points = [np.flatnonzero(problem.domains[d].allowed) for d in problem.units[u].clocks]
    fastest = tuple(int(own[-1]) for own in points)
    middle = tuple(int(own[(len(own) - 1) // 2]) for own in points)
    choices = [
        [table[(among & problem.allowed[:, v], *at)] for table in tables]
        for v, unit in enumerate(problem.units)
        if problem.unit_of[v] == u
        for tables in [(problem.frame_ps(v), unit.demand_kbps)]
        for at in (fastest, middle)
    ]
    time, demand = np.concatenate(choices, axis=1)
    if not demand.size:
        return (0,)
    ranks = np.linspace(0, 1, MAX_DEMANDS)
    levels = np.unique(np.quantile(demand, ranks, method="lower"))
    level = np.searchsorted(levels, demand, side="right") - 1
    times = np.cumsum([0.0, *np.bincount(level, time)])
    volumes = np.cumsum([0.0, *np.bincount(level, time * demand.astype(float))])
    lost = np.full(len(levels) + 1, np.inf)
    lost[0] = 0.0
    firsts = []
    for _ in range(min(count, len(levels))):
        # [end, begin]: of the levels from begin on, before end.
        table = lost + np.subtract.outer(volumes, volumes)
        table -= np.append(levels, 0) * np.subtract.outer(times, times)
        table[np.triu_indices(len(table))] = np.inf
        firsts.append(table.argmin(axis=1))
        lost = table.min(axis=1)
    begins, at = set(), len(levels)
    for first in reversed(firsts):
        at = int(first[at])
        begins.add(int(levels[at]))
    return (0, *sorted(begins)[1:])


def make_networks(
    problem: Problem, paths: Sequence[Sequence[int]], chains: Sequence[Sequence[int]]
) -> Networks:
    """Lay paths and chains out."""
    units = len(problem.units)
    position = {edge: e for e, edge in enumerate(problem.edges)}
    rows, counts, limits = [], [], []
    for network, path in zip(problem.networks, paths, strict=True):
        steps = list(pairwise(path))
        rows.append(np.zeros((1, units, units)))
        rows += [network.repeats * problem.transition_ps[position[step]][None] for step in steps]
        inside = {edge for edge in problem.edges if edge[0] in network.groups}
        counts.append(len(path) == len(network.group_names) and inside == set(steps))
        limit = network.max_transitions
        limits.append(-1 if limit is None or limit >= len(steps) else limit)
    on_path = {g for path in paths for g in path}
    member = np.zeros((len(chains), len(problem.networks)))
    for c, chain in enumerate(chains):
        member[c, list(chain)] = 1
    return Networks(
        path=np.array([g for path in paths for g in path], dtype=np.int64),
        first=np.cumsum([0, *map(len, paths)]).astype(np.int64),
        beside=np.array(sorted(set(range(problem.group_count)) - on_path), dtype=np.int64),
        transition_ps=np.concatenate(rows).astype(np.float64),
        limit=np.array(limits, dtype=np.int64),
        counts_segments=np.array(counts, dtype=np.int64),
        member=member,
        chain_end=np.array([chain[-1] for chain in chains], dtype=np.int64),
        arrival_ps=np.array(
            [0 if problem.has_rates else problem.networks[c[0]].arrival_ps for c in chains],
            dtype=float,
        ),
        unit_of=np.array(problem.unit_of, dtype=np.int64),
        figure=_figures(problem),
    )


def _figures(problem: Problem) -> FloatArray:
    """Return [figures, groups, units]: the contribution of a group on a unit to each figure."""
    figures = additive_figures(problem)
    tables = np.zeros((len(figures), problem.group_count, len(problem.units)))
    owner = np.array(problem.network_of)
    for table, figure in zip(tables, figures, strict=True):
        counted = np.isin(owner, owner if figure.network is None else [figure.network])
        for u, unit in enumerate(problem.units):
            of_memory = figure.kind is ObjectiveKind.MEMORY
            added = unit.weight_bytes if of_memory else unit.loss_ppm
            if added is not None:
                table[:, u] = np.where(counted, added, 0)
    return tables


def networks_apart(problem: Problem, networks: Networks) -> list[Networks]:
    """Return one structure for each network, without arrivals."""
    made = []
    for n, network in enumerate(problem.networks):
        part = slice(int(networks.first[n]), int(networks.first[n + 1]))
        path = networks.path[part]
        made.append(
            replace(
                networks,
                path=path,
                first=np.array([0, len(path)], dtype=np.int64),
                beside=np.array(sorted(set(network.groups) - set(path.tolist())), dtype=np.int64),
                transition_ps=networks.transition_ps[part].copy(),
                limit=networks.limit[n : n + 1].copy(),
                counts_segments=networks.counts_segments[n : n + 1].copy(),
                member=networks.member[:, n : n + 1].copy(),
                arrival_ps=np.zeros_like(networks.arrival_ps),
            )
        )
    return made


def networks_of_streams(problem: Problem, networks: Networks) -> list[Networks]:
    """Return one structure for each free-running network, without transitions and segments.

    It has a path only if the path has all groups.
    """
    return [
        replace(
            one,
            transition_ps=np.zeros_like(one.transition_ps),
            counts_segments=np.zeros_like(one.counts_segments),
            member=one.member * one.counts_segments,
        )
        for one in networks_apart(problem, networks)
    ]
