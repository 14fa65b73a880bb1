"""Rows as segments: consecutive groups of a network on one unit, the estimator's tokens.

MapFormer has a token for every layer, more than 1,000 of them. A segment is what a mapping cuts a
network into (its "sub-DNNs"), so nothing of the mapping is lost, and a sequence has some twenty
tokens instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.dse.papers.estimator.features import Figures
from paretosoc.dse.space.design_space import DesignSpace


@dataclass(frozen=True, eq=False)
class Segments:
    """Of n rows with N networks of at most S segments; 0 where a network has fewer."""

    count: IntArray
    """[n, N]: segments of each network."""
    unit: IntArray
    """[n, N, S]"""
    groups: FloatArray
    """[n, N, S]: how many groups are in it."""
    work_s: FloatArray
    """[n, N, S]: time of one pass alone."""
    demand_kbps: FloatArray
    """[n, N, S]: mean over that time."""
    dynamic_w: FloatArray
    """[n, N, S]: the same of the power above idle."""
    transition_s: FloatArray
    """[n, N, S]: before it begins; 0 for a network's first."""
    idle_w: FloatArray
    """[n]: drawn all the time by what is on."""
    residence_s: FloatArray
    """[n, N, S]: time that a frame spends in it, waiting included; 0 where nobody has looked."""


def segments_of(
    figures: Figures, residence_s: FloatArray | None, space: DesignSpace, rows: IntArray
) -> Segments:
    """The segments of ``rows`` [n, groups + domains], in the order of the groups;
    ``residence_s`` [n, groups], where it is known."""
    n, groups, networks = len(rows), space.groups, len(space.first)
    unit = rows[:, :groups]
    begins = np.ones((n, groups), dtype=np.bool_)
    begins[:, 1:] = (unit[:, 1:] != unit[:, :-1]) | (space.owner[1:] != space.owner[:-1])
    so_far = np.cumsum(begins, axis=1)
    place: IntArray = so_far - so_far[:, space.first][:, space.owner]
    longest = int(place.max(initial=0)) + 1
    shape = (n, networks, longest)
    index = ((np.arange(n)[:, None] * networks + space.owner) * longest + place).reshape(-1)

    def total(values: FloatArray) -> FloatArray:
        size = n * networks * longest
        summed: FloatArray = np.bincount(index, values.reshape(-1), minlength=size).astype(float)
        return summed.reshape(shape)

    time = figures.time_s
    work = total(time)
    safe = np.where(work > 0.0, work, 1.0)
    where = np.zeros(n * networks * longest, dtype=np.int64)
    where[index] = unit.reshape(-1)
    transition = total(np.where(begins, figures.transition_s, 0.0))
    transition[:, :, 0] = 0.0
    return Segments(
        count=place[:, space.first + space.size - 1] + 1,
        unit=where.reshape(shape),
        groups=total(np.ones_like(time)),
        work_s=work,
        demand_kbps=total(time * figures.demand_kbps) / safe,
        dynamic_w=total(time * figures.dynamic_w) / safe,
        transition_s=transition,
        idle_w=figures.idle_w,
        residence_s=np.zeros(shape) if residence_s is None else total(residence_s),
    )
