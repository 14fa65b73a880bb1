"""The input of the monolithic formulation, without a solver: layers, dependences, constants, hints.

A layer of HaX-CoNN's Table 3 is here one execution of a group: L(i, n), with a repeat beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from paretosoc.fitness.branch_and_bound.prices import load_prices
from paretosoc.fitness.check.lemmas import Lemma, Lemmas
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.check.tree import TreeFault
from paretosoc.results.front.node_kinds import MEMBERS, TIME_LIMIT
from paretosoc.results.problem.problem import Problem


@dataclass(frozen=True)
class Layer:
    """One execution of a group, and the executions that it waits for (positions in
    ``Layers.layers``)."""

    network: int
    repeat: int
    group: int
    inputs: tuple[tuple[int, int], ...]
    """(edge, layer that feeds it): ready when that has ended and the transition has passed."""
    waits: tuple[int, ...]
    """Layers whose end it waits for without a transition."""
    arrival_ps: int
    """Not ready before this instant."""


@dataclass(frozen=True)
class Layers:
    """The layers of one frame in the order that breaks ties: (network, repeat, group)."""

    problem: Problem

    @cached_property
    def layers(self) -> tuple[Layer, ...]:
        """Return all executions."""
        place: dict[tuple[int, int, int], int] = {}
        for n, network in enumerate(self.problem.networks):
            for repeat in range(1, network.repeats + 1):
                for group in network.groups:
                    place[n, repeat, group] = len(place)
        fed = {target for _, target in self.problem.edges}
        layers = []
        for n, repeat, group in place:
            network = self.problem.networks[n]
            awaited: list[tuple[int, int]] = []
            if group not in fed:
                awaited = [(n, repeat - 1)] if repeat > 1 else []
                awaited += self.problem.awaited(n, repeat)
            layers.append(
                Layer(
                    network=n,
                    repeat=repeat,
                    group=group,
                    inputs=tuple(
                        (e, place[n, repeat, source])
                        for e, (source, target) in enumerate(self.problem.edges)
                        if target == group
                    ),
                    waits=tuple(
                        place[m, end, g] for m, end in awaited for g in self._last_groups(m)
                    ),
                    arrival_ps=network.arrival_ps if repeat == 1 and group not in fed else 0,
                )
            )
        return tuple(layers)

    def _last_groups(self, n: int) -> list[int]:
        """Groups of network ``n`` that feed no other: when they have ended, all have."""
        feeding = {source for source, _ in self.problem.edges}
        return [g for g in self.problem.networks[n].groups if g not in feeding]

    def last_layers(self, n: int) -> list[int]:
        """Return the layers with whose ends the network has ended."""
        last = set(self._last_groups(n))
        repeats = self.problem.networks[n].repeats
        return [
            i
            for i, layer in enumerate(self.layers)
            if layer.network == n and layer.repeat == repeats and layer.group in last
        ]

    @cached_property
    def before(self) -> tuple[frozenset[int], ...]:
        """Return, per layer, the layers that have ended before it can be ready, whatever is
        chosen."""
        result: dict[int, frozenset[int]] = {}

        def ancestors(i: int) -> frozenset[int]:
            if i not in result:
                layer = self.layers[i]
                direct = {j for _, j in layer.inputs} | set(layer.waits)
                result[i] = frozenset(direct).union(*(ancestors(j) for j in direct))
            return result[i]

        return tuple(ancestors(i) for i in range(len(self.layers)))

    def ordered(self, i: int, j: int) -> bool:
        """Return whether one of two layers always ends before the other is ready."""
        return i in self.before[j] or j in self.before[i]

    def chains(self) -> frozenset[int]:
        """Return the networks whose layers always follow one another."""
        apart = {
            one.network
            for j, other in enumerate(self.layers)
            for i, one in enumerate(self.layers[:j])
            if one.network == other.network and not self.ordered(i, j)
        }
        return frozenset(range(len(self.problem.networks))) - apart


Path = tuple[int, ...]
"""A part of the space: which child of all of it, which child of that, and so on."""


class Hints:
    """The tree of parts that a plain branch and bound would search."""

    def __init__(self, problem: Problem, column: int, optimum_ps: int) -> None:
        self.prices = load_prices(problem)
        claim = LemmaTarget((column,), ((optimum_ps,),), prices=self.prices)
        self.lemmas = Lemmas(problem, claim)

    def is_closed(self, lemma: Lemma) -> bool:
        """Return whether its bounds should suffice."""
        return any(self.lemmas.closes(lemma, kind) for kind in (MEMBERS, TIME_LIMIT))

    def split(self, lemma: Lemma) -> list[Lemma]:
        """Return the smaller parts, or none if nothing is left to choose or should have a
        solution."""
        if self.is_closed(lemma):
            return []
        try:
            return self.lemmas.children(lemma)
        except TreeFault:
            return []


def upper_parts(hints: Hints, count: int) -> list[Path]:
    """Return the parts of the upper levels of the tree, at least ``count``, in order of the level.

    If the whole tree has fewer, the one part is the whole space.
    """
    ends: list[Path] = []
    opened: list[tuple[Path, Lemma]] = [((), hints.lemmas.root())]
    while opened and len(opened) + len(ends) < count:
        path, lemma = opened.pop(0)
        children = hints.split(lemma)
        if children:
            opened += [((*path, k), child) for k, child in enumerate(children)]
        else:
            ends.append(path)
    return [*ends, *(path for path, _ in opened)] if opened else [()]
