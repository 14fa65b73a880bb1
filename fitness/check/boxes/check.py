"""The check of a proof by boxes: is its region empty? Boxes that it names are simulated."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from math import prod

import numpy as np

from paretosoc.fitness.check.boxes.costs import Box, BoxCostTables, leaves, off_bit, points_of
from paretosoc.fitness.check.boxes.frame_time import OF_A_FRAME, frame_time
from paretosoc.fitness.check.boxes.inequality import Inequality, Structure
from paretosoc.fitness.check.boxes.limits import contradicts, limits_of
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.results.errors import ResultError
from paretosoc.results.front.bounds import (
    MAX_CONFIGURATIONS,
    MAX_SIMULATED,
    BoundProof,
    Corner,
    Leaf,
    Simulated,
    owners_of_classes,
)
from paretosoc.results.problem.execution import ClosedForm, IdleTime
from paretosoc.results.problem.limits import additive_figures
from paretosoc.results.problem.objectives import ObjectiveKind
from paretosoc.results.problem.problem import DesignPoint, Problem


def design_points(problem: Problem, box: Box) -> Iterator[DesignPoint]:
    """Yield the design points of a box. A domain that may be off is on if a used unit needs it.

    Raises:
        ResultError: if there are more than ``MAX_SIMULATED``, or priorities are searched.
    """
    if problem.searched_order is not None:
        raise ResultError("$.tree: with searched priorities no design points are simulated")
    count = 0
    allowed = [np.flatnonzero(row).tolist() for row in problem.allowed]
    for mappings, units in enumerate(product(*allowed)):
        used = {clock for u in set(units) for clock in problem.units[u].clocks}
        choices = []
        for d, (domain, bits) in enumerate(zip(problem.domains, box, strict=True)):
            points = points_of(domain, bits)
            if domain.may_be_off and d not in used:
                points = (domain.point_when_off,) if bits & off_bit(domain) else ()
            choices.append(points)
        for operating_points in product(*choices):
            count += 1
            if count > MAX_SIMULATED:
                break
            yield DesignPoint(
                np.array(units, dtype=np.int64), np.array(operating_points, dtype=np.int64)
            )
        if max(count, mappings + 1) > MAX_SIMULATED:
            raise ResultError(
                f"$.tree: at most {MAX_SIMULATED} design points may be simulated, got more"
            )


def simulated(
    problem: Problem, box: Box, columns: Sequence[int], *, compiled: bool
) -> tuple[int, list[tuple[int, ...]]]:
    """Return the number of design points of a box, and the objectives of those that keep all rules
    and limits.

    Args:
        columns: positions of the objectives.
        compiled: the problem's figures must then fit in int64 with all their products.

    Raises:
        ResultError: see :func:`design_points`.
    """
    outcomes = [
        plain_outcome(problem, design, compiled=compiled) for design in design_points(problem, box)
    ]
    return len(outcomes), [
        tuple(outcome.objectives[column] for column in columns)
        for outcome in outcomes
        if not outcome.broken
    ]


BOUNDED = OF_A_FRAME | {
    ObjectiveKind.THROUGHPUT,
    ObjectiveKind.ENERGY,
    ObjectiveKind.EFFICIENCY,
    ObjectiveKind.TOKEN_ENERGY,
    ObjectiveKind.POWER,
    ObjectiveKind.FAIRNESS,
    ObjectiveKind.RELATIVE_RESPONSE,
    ObjectiveKind.RESPONSE,
    ObjectiveKind.GUARANTEED_RESPONSE,
    ObjectiveKind.RESPONSE_95,
    ObjectiveKind.MISSES,
}
"""Beside figures that are sums over groups, where networks do not run freely."""


class CheckedBounds:
    """The inequalities of a proof, computed from the problem and its multipliers, and the outcomes
    of the design points that it simulates.

    Args:
        compiled: simulate with compiled code. The problem's figures must then fit in int64 with
            all their products.

    Raises:
        ResultError: if objectives or limits have no bounds of this kind, or the proof does not
            fit the problem. The message names the JSON path.
    """

    def __init__(self, problem: Problem, proof: BoundProof, *, compiled: bool = False) -> None:
        self._problem = problem
        self._columns = _columns(problem, proof.objectives)
        self.simulated = 0
        """Design points that were simulated."""
        boxes = list(leaves(problem, proof.tree))
        bounded = [(box, leaf) for box, leaf in boxes if isinstance(leaf, Leaf)]
        self._boxes: list[Callable[[Corner], bool]] = []
        """Whether a box may have a design point at or below the corner."""
        if bounded or proof.multipliers:
            self._boxes += self._bounded(proof, bounded)
        for box, leaf in boxes:
            if isinstance(leaf, Simulated):
                count, found = simulated(problem, box, self._columns, compiled=compiled)
                self.simulated += count
                self._boxes.append(partial(_has_one_in, found))

    def _bounded(
        self, proof: BoundProof, boxes: Sequence[tuple[Box, Leaf]]
    ) -> Iterator[Callable[[Corner], bool]]:
        """Yield the boxes that inequalities bound, except those without design points."""
        problem = self._problem
        bounded_columns(problem, proof.objectives)
        _check_parts(problem, proof)
        self._chain_ends = [chain[-1] for chain in proof.chains]
        self._time = frame_time(problem, self._columns)
        if proof.classes and (self._time.in_flight is None or self._time.of_streams):
            raise ResultError("$.classes: there must be none in closed form, or of a free run")
        if proof.apart and self._time.in_flight != 1:
            raise ResultError("$.apart: there must be none where frames overlap")
        structure = Structure(problem, proof, self._time)
        tables = BoxCostTables(problem, proof)
        sums_rates = any(
            problem.objectives[c].kind is ObjectiveKind.INVERSE_LATENCY for c in self._columns
        )
        for box, leaf in boxes:
            costs = tables.over(box)
            latencies: tuple[int, ...] | None = ()
            if sums_rates:
                latencies = structure.latencies_ps(costs)
            if not all(costs.costs) or latencies is None:
                continue
            rows = [structure.inequality(costs, proof.multipliers[i]) for i in leaf.multipliers]
            yield partial(self._leaves_room, costs.idle_mw, latencies, rows)

    def _leaves_room(
        self, idle_mw: int, latencies: tuple[int, ...], rows: Sequence[Inequality], corner: Corner
    ) -> bool:
        limits = limits_of(self._problem, self._columns, corner, latencies)
        return limits is not None and not any(
            contradicts(self._problem, row, idle_mw, self._chain_ends, limits, self._time)
            for row in rows
        )

    def is_empty(self, corner: Corner) -> bool:
        """Return whether no feasible design point is at or below the corner in all objectives."""
        return self.box_with(corner) is None

    def box_with(self, corner: Corner) -> int | None:
        """Return the index of the first box that may have a design point below the corner."""
        return next((k for k, may_have in enumerate(self._boxes) if may_have(corner)), None)


def _has_one_in(outcomes: Sequence[tuple[int, ...]], corner: Corner) -> bool:
    """Return whether one of the outcomes is at or below the corner in all objectives."""
    return any(
        all(most is None or value <= most for value, most in zip(outcome, corner, strict=True))
        for outcome in outcomes
    )


def _columns(problem: Problem, objectives: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of objectives by name. Refuse no name, one twice, or of no objective."""
    names = problem.objective_names
    if not objectives or len(set(objectives)) != len(objectives) or not set(objectives) <= {*names}:
        raise ResultError(f"$.objectives: {', '.join(objectives)}: are not the problem's")
    return tuple(names.index(name) for name in objectives)


def bounded_columns(problem: Problem, objectives: Sequence[str]) -> tuple[int, ...]:
    """Return the positions of objectives by name. They and all limits must have bounds over boxes.

    Raises:
        ResultError: if one has no such bound, or is not the problem's.
    """
    execution, columns = problem.execution, _columns(problem, objectives)
    for column in columns:
        objective = problem.objectives[column]
        kind = objective.kind
        if kind not in BOUNDED and objective not in additive_figures(problem):
            raise ResultError(f"no bound over boxes is known on {kind.value} of {execution.words}")
    if isinstance(execution, ClosedForm) and execution.idle_time is IdleTime.SUM_OF_LOADS:
        # Power is then energy over more than a period.
        kinds = {problem.objectives[column].kind for column in columns}
        if problem.power_cap_mw is not None or ObjectiveKind.POWER in kinds:
            raise ResultError("no bound over boxes is known on power over the sum of loads")
    frame_time(problem, columns)
    return columns


def _check_parts(problem: Problem, proof: BoundProof) -> None:
    """Check that the proof has weights, chains and paths of this problem."""
    networks, units = problem.networks, len(problem.units)
    edges = set(problem.edges)
    for c, chain in enumerate(proof.chains):
        if not chain or not all(0 <= n < len(networks) for n in chain):
            raise ResultError(f"$.chains[{c}]: must name networks")
        if problem.has_rates and len(chain) > 1:
            raise ResultError(f"$.chains[{c}]: with rates must be one network, got {len(chain)}")
        for before, after in itertools.pairwise(chain):
            if before not in networks[after].waits_for:
                raise ResultError(f"$.chains[{c}]: network {after} does not wait for {before}")
    if len(proof.paths) != len(networks):
        raise ResultError(f"$.paths: {len(networks)} are required, one per network")
    for n, (network, path) in enumerate(zip(networks, proof.paths, strict=True)):
        steps = itertools.pairwise(path)
        if not path or path[0] not in network.groups or not all(step in edges for step in steps):
            raise ResultError(f"$.paths[{n}]: must be groups that feed one another")
    apart = set(proof.apart)
    if len(apart) < len(proof.apart) or not apart <= set(range(len(networks))):
        raise ResultError("$.apart: must name networks, each once")
    firsts = [u == first for u, first in enumerate(problem.unit_of)]
    if proof.classes:
        sound = len(proof.classes) == units and all(
            _are_classes(row, 1 + len(proof.apart)) if is_first else not row
            for row, is_first in zip(proof.classes, firsts, strict=True)
        )
        if not sound or prod(len(row) + 1 for row in proof.classes) > MAX_CONFIGURATIONS:
            raise ResultError(
                "$.classes: must rise from 0 for every unit, and again for each network of "
                "$.apart, with few configurations"
            )
    sizes = [len(row) for row in proof.classes] or [int(is_first) for is_first in firsts]
    figures = len(additive_figures(problem))
    for index, weights in enumerate(proof.multipliers):
        rows = (*weights.units, weights.chains, weights.segments, weights.figures)
        if [len(row) for row in rows] != [*sizes, len(proof.chains), units, figures]:
            raise ResultError(f"$.multipliers[{index}]: must have a weight for each")
        if min(weights.energy, *(min(row, default=0) for row in rows)) < 0:
            raise ResultError(f"$.multipliers[{index}]: must not be negative")
    for index, node in enumerate(proof.tree):
        listed = getattr(node, "multipliers", ())
        if not all(0 <= i < len(proof.multipliers) for i in listed):
            raise ResultError(f"$.tree[{index}]: there are no such multipliers")


def _are_classes(begins: tuple[int, ...], parts: int) -> bool:
    """Return whether there are as many parts as required, each rising from 0."""
    pairs = list(zip(owners_of_classes(begins), begins, strict=True))
    return begins[:1] == (0,) and begins.count(0) == parts and pairs == sorted(set(pairs))
