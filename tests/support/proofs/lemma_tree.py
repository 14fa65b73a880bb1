"""The leaves of a plain branch and bound: lemmas that cover all design points."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fitness.lemma_checker.check import LemmaBound
from fitness.lemma_checker.costs import LemmaCostTables
from fitness.lemma_checker.simulate import LemmaSimulation, group_instances
from results.front.certificate import NOT_NAMED, LemmaTable
from results.problem.problem import Problem
from tests.support.proofs.lemmas import lemma_bounds


def lemma_tree(problem: Problem, optimum_ps: int) -> LemmaTable:
    """Branches on the first group that becomes eligible without a named unit, and on the operating
    points of a group that is about to start, until every leaf is a lemma that holds.

    ``optimum_ps`` must be the smallest makespan of the feasible design points; only allowed units,
    allowed operating points and deadlines count as constraints.
    """
    instances = group_instances(problem)
    simulate = LemmaSimulation(problem, instances)
    tables = LemmaCostTables(problem)
    groups = [instance.group for instance in instances]
    leaves: list[tuple[list[int], list[tuple[int, ...]]]] = []

    def masks_of(points: list[tuple[int, ...]]) -> list[int]:
        return [sum(1 << point for point in chosen) for chosen in points]

    def closed(bound: LemmaBound) -> bool:
        return bound.makespan_ps >= optimum_ps or any(
            network.deadline_ps is not None and latency > network.deadline_ps
            for network, latency in zip(problem.networks, bound.latency_ps, strict=True)
        )

    def branches(
        units: list[int], points: list[tuple[int, ...]]
    ) -> Iterator[tuple[list[int], list[tuple[int, ...]]]]:
        state = simulate.resume(simulate.begin(), units, tables.over(tuple(points)))
        for group in [groups[i] for i in state.fresh]:
            if units[group] == NOT_NAMED:
                for unit in np.flatnonzero(problem.allowed[group]).tolist():
                    yield [*units[:group], unit, *units[group + 1 :]], points
                return
        free = {
            unit
            for ready, unit in state.waiting.values()
            if ready <= state.now_ps and unit not in state.running
        }
        for unit in sorted(free):
            domains = list(problem.units[unit].clocks)
            if problem.memory_domain is not None:
                domains.append(problem.memory_domain)
            for d in domains:
                if len(points[d]) > 1:
                    for point in points[d]:
                        yield units, [*points[:d], (point,), *points[d + 1 :]]
                    return
        raise AssertionError("a timeline stops before its end only at an open choice")

    def visit(units: list[int], points: list[tuple[int, ...]]) -> None:
        table = LemmaTable(np.array([units]), np.array([masks_of(points)], dtype=np.uint64))
        if closed(lemma_bounds(problem, table)[0]):
            leaves.append((units, points))
            return
        for branch in branches(units, points):
            visit(*branch)

    everything = [tuple(np.flatnonzero(d.allowed).tolist()) for d in problem.domains]
    visit([NOT_NAMED] * problem.group_count, everything)
    return LemmaTable(
        np.array([units for units, _ in leaves], dtype=np.int64),
        np.array([masks_of(points) for _, points in leaves], dtype=np.uint64),
    )
