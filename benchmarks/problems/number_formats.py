"""Random problems whose groups may run in several number formats."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from paretosoc.results.problem.parts import ProblemUnit
from paretosoc.results.problem.problem import Problem

FORMATS = ("fp32", "fp16", "int8")


def with_losses(problem: Problem, rng: np.random.Generator | None = None) -> Problem:
    """Return the problem with the accuracy that every group costs on every unit, none without
    ``rng``.

    There are three bytes for a millionth.
    """

    def table(unit: ProblemUnit) -> ProblemUnit:
        size = problem.group_count
        none = np.zeros(size, dtype=np.int64)
        loss = none if rng is None else rng.integers(0, 9, size) * 1000
        return replace(unit, loss_ppm=loss, weight_bytes=3 * loss)

    return replace(problem, units=tuple(map(table, problem.units)))


def with_formats(rng: np.random.Generator, problem: Problem, *, most: int = 3) -> Problem:
    """Return the problem with one to ``most`` number formats for every unit.

    Each format has its own times, powers, support and accuracy, and times of converting. Some
    losses are limited.
    """
    units: list[ProblemUnit] = []
    origin: list[int] = []
    allowed = []
    for u, unit in enumerate(problem.units):
        formats = rng.permutation(FORMATS)[: rng.integers(1, most + 1)].tolist()
        for place, name in enumerate(formats):
            entry = replace(
                unit,
                name=f"{unit.name}:{name}",
                unit=unit.name,
                number_format=name,
                loss_ppm=rng.integers(0, 9, problem.group_count) * 1000,
            )
            may = problem.allowed[:, u].copy()
            if place:
                runs = unit.time_ps > 0
                # Groups that cannot run at all stay so. Some others cannot run in this format.
                drops = (rng.random(len(may)) < 0.15).reshape(-1, *[1] * (unit.time_ps.ndim - 1))
                factor = int(rng.integers(1, 6))
                time = np.where(runs & ~drops, np.maximum(unit.time_ps * factor // 3, 1), -1)
                entry = replace(
                    entry,
                    time_ps=time,
                    demand_kbps=np.where(time > 0, unit.demand_kbps * factor // 4, 0),
                    dynamic_mw=np.where(time > 0, unit.dynamic_mw * factor // 2, 0),
                    idle_mw=np.zeros_like(unit.idle_mw),
                    max_segments=None,
                    step_ps=None if unit.step_ps is None else unit.step_ps * (time > 0),
                )
                may &= ~drops.reshape(len(may), -1)[:, 0]
            units.append(entry)
            origin.append(u)
            allowed.append(may)
    # The order of entries means nothing, but that the first of a unit has its idle power.
    order = _first_entries_first(rng.permutation(len(units)).tolist(), origin)
    places = np.array([origin[e] for e in order])

    def spread(table: np.ndarray) -> np.ndarray:
        wide = table[:, places][:, :, places].copy()
        for a, e in enumerate(order):
            for b, f in enumerate(order):
                if e != f and origin[e] == origin[f]:
                    wide[:, a, b] = rng.integers(0, 40, len(wide))
        return wide

    limits = [
        int(rng.integers(1, 7 * len(network.group_names))) * 1000 if rng.integers(3) == 0 else None
        for network in problem.networks
    ]
    return replace(
        problem,
        units=tuple(units[e] for e in order),
        allowed=np.stack([allowed[e] for e in order], axis=1),
        transition_ps=spread(problem.transition_ps),
        handover_ps=None if problem.handover_ps is None else spread(problem.handover_ps),
        networks=tuple(
            replace(network, max_loss_ppm=limit)
            for network, limit in zip(problem.networks, limits, strict=True)
        ),
    )


def with_twin(rng: np.random.Generator, problem: Problem) -> Problem:
    """Return the problem with a unit that is interchangeable with one that it has, in all
    formats."""
    first = int(rng.choice(problem.unit_of))
    ours = [u for u, unit in enumerate(problem.unit_of) if unit == first]
    count = len(problem.units)
    place = np.array([*range(count), *ours])
    name = f"twin of {problem.units[first].unit_name}"
    twins = [
        replace(
            problem.units[u],
            name=f"{name}:{problem.units[u].number_format}",
            unit=None if problem.units[u].unit is None else name,
        )
        for u in ours
    ]
    apart = int(rng.integers(1, 40))

    def spread(table: np.ndarray) -> np.ndarray:
        wide = table[:, place][:, :, place].copy()
        wide[:, count:, ours] = apart
        wide[:, np.array(ours)[:, None], np.arange(count, len(place))] = apart
        return wide

    return replace(
        problem,
        units=(*problem.units, *twins),
        allowed=problem.allowed[:, place],
        transition_ps=spread(problem.transition_ps),
        handover_ps=None if problem.handover_ps is None else spread(problem.handover_ps),
    )


def _first_entries_first(order: list[int], origin: list[int]) -> list[int]:
    """Return the same order, with the entries of each unit in theirs."""
    left = {u: [e for e in range(len(origin)) if origin[e] == u] for u in set(origin)}
    return [left[origin[e]].pop(0) for e in order]
