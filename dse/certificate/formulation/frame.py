"""The executions of groups in one frame, and their dependences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from paretosoc.results.problem.problem import Problem


@dataclass(frozen=True)
class Execution:
    """One execution of a group, and the executions that it waits for (positions in
    ``Frame.executions``)."""

    network: int
    repeat: int
    group: int
    inputs: tuple[tuple[int, int], ...]
    """(edge, execution that feeds it): ready when that has ended and the transition has passed."""
    waits: tuple[int, ...]
    """Executions whose end it waits for without a transition."""
    arrival_ps: int
    """Not ready before this instant."""


@dataclass(frozen=True)
class Frame:
    """The executions of one frame in the order that breaks ties: (network, repeat, group)."""

    problem: Problem

    @cached_property
    def executions(self) -> tuple[Execution, ...]:
        """Return all executions."""
        place: dict[tuple[int, int, int], int] = {}
        for n, network in enumerate(self.problem.networks):
            for repeat in range(1, network.repeats + 1):
                for group in network.groups:
                    place[n, repeat, group] = len(place)
        fed = {target for _, target in self.problem.edges}
        executions = []
        for n, repeat, group in place:
            network = self.problem.networks[n]
            awaited = () if group in fed else self.problem.awaited(n, repeat)
            executions.append(
                Execution(
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
        return tuple(executions)

    def _last_groups(self, n: int) -> list[int]:
        """Return the groups of network ``n`` that feed no other: when they have ended, all have."""
        feeding = {source for source, _ in self.problem.edges}
        return [g for g in self.problem.networks[n].groups if g not in feeding]

    def last_executions(self, n: int) -> list[int]:
        """Return the executions with whose ends the network has ended."""
        last = set(self._last_groups(n))
        repeats = self.problem.networks[n].repeats
        return [
            i
            for i, execution in enumerate(self.executions)
            if execution.network == n and execution.repeat == repeats and execution.group in last
        ]

    @cached_property
    def before(self) -> tuple[frozenset[int], ...]:
        """Return, per execution, those that have ended before it can be ready, whatever is
        chosen."""
        result: dict[int, frozenset[int]] = {}

        def ancestors(i: int) -> frozenset[int]:
            if i not in result:
                execution = self.executions[i]
                direct = {j for _, j in execution.inputs} | set(execution.waits)
                result[i] = frozenset(direct).union(*(ancestors(j) for j in direct))
            return result[i]

        return tuple(ancestors(i) for i in range(len(self.executions)))

    def ordered(self, i: int, j: int) -> bool:
        """Return whether one of two executions always ends before the other is ready."""
        return i in self.before[j] or j in self.before[i]

    def chains(self) -> frozenset[int]:
        """Return the networks whose executions always follow one another."""
        apart = {
            one.network
            for j, other in enumerate(self.executions)
            for i, one in enumerate(self.executions[:j])
            if one.network == other.network and not self.ordered(i, j)
        }
        return frozenset(range(len(self.problem.networks))) - apart
