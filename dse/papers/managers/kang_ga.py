"""The genetic algorithm of Kang et al. (IEEE Access, 2020), as MapFormer compares with it.

Known: a genetic algorithm maps the layers of several networks on the processors. Energy counts
beside throughput. Population 10 and 20 generations, with every candidate run on the target itself,
which is why it answers slowly. It does not use accelerators (MapFormer, Table 1).

Assumed: a gene for every group, tournaments of two, uniform crossover of whole networks, mutation
of a segment of groups, and the better half of parents and children survives. Fitness is inferences
per joule if the power cap holds, else minus the excess over the cap. Frequencies are the board's
own business there: the power mode of the cap (:mod:`dse.papers.managers.base`). The timeline is the
target.
"""

from __future__ import annotations

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.dse.papers.estimator.predictor import throughput_and_power
from paretosoc.dse.papers.managers.base import cpu_and_gpu, power_mode
from paretosoc.dse.search.base import Violation
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.objectives import Outcomes

POPULATION = 10
GENERATIONS = 20
MUTATION = 0.5
"""The probability with which a child is mutated."""


class KangGa:
    """An engine of 20 batches of 10 rows. :attr:`answer` is the fittest that it has seen.

    Raises:
        ResultError: if throughput or power is not among the objectives.
    """

    name = "kang-ga"

    def __init__(self, space: DesignSpace, *, seed: int) -> None:
        self._space = space
        self._rng = np.random.default_rng(seed)
        self._units = np.array(cpu_and_gpu(space.problem), dtype=np.int64)
        self._clocks = power_mode(space, self._units.tolist())
        self._columns = throughput_and_power(space.problem)
        self._violation_of = Violation(space.problem)
        self._parents: IntArray = np.zeros((0, space.width), dtype=np.int64)
        self._fitness: FloatArray = np.zeros(0)
        self._generation = 0

    @property
    def answer(self) -> IntArray | None:
        """Return [groups + domains]: the fittest row so far, or None before the first ``tell``."""
        return self._parents[0] if len(self._parents) else None

    def ask(self) -> IntArray:
        """Return [10, width]: the next generation, none after the last."""
        if self._generation == GENERATIONS:
            return np.zeros((0, self._space.width), dtype=np.int64)
        if self._generation == 0:
            anywhere = (POPULATION, self._space.groups)
            return self._rows(self._units[self._rng.integers(0, len(self._units), anywhere)])
        return self._rows(self._children())

    def tell(self, rows: IntArray, outcomes: Outcomes) -> None:
        """Let the better half of parents and children survive."""
        time, power = self._columns
        # Both objectives are to be minimised: time per inference, and power.
        energy = outcomes.objectives[:, time].astype(np.float64) * outcomes.objectives[:, power]
        broken = self._violation_of(outcomes)
        fitness = np.where(broken > 0.0, -1.0 - broken, 1.0 / np.maximum(energy, 1.0))
        everyone = np.concatenate((self._parents, rows))
        fitness = np.concatenate((self._fitness, fitness))
        best = np.argsort(-fitness, kind="stable")[:POPULATION]
        self._parents, self._fitness = everyone[best], fitness[best]
        self._generation += 1

    def _rows(self, mapping: IntArray) -> IntArray:
        """Return [n, width]: mappings [n, groups] on allowed units, canonical."""
        space = self._space
        allowed = space.problem.allowed
        home = self._units[allowed[:, self._units].argmax(axis=1)]
        every = np.arange(space.groups)
        mapping = np.where(allowed[every, mapping], mapping, home)
        clocks = np.broadcast_to(self._clocks, (len(mapping), len(self._clocks)))
        return space.canonical(np.concatenate((mapping, clocks), axis=1))

    def _children(self) -> IntArray:
        """Return [10, groups]."""
        space, rng = self._space, self._rng
        mothers, fathers = self._selected(), self._selected()
        from_mother = rng.random((POPULATION, len(space.first))) < 0.5
        children = np.where(from_mother[:, space.owner], mothers, fathers)
        for c in np.flatnonzero(rng.random(POPULATION) < MUTATION):
            network = int(rng.integers(0, len(space.first)))
            size = int(space.size[network])
            begin, end = np.sort(rng.integers(0, size + 1, 2))
            first = int(space.first[network])
            children[c, first + begin : first + end] = rng.choice(self._units)
        return children

    def _selected(self) -> IntArray:
        """Return [10, groups]: winners of tournaments. Parents stand fittest first."""
        pairs = self._rng.integers(0, len(self._parents), (POPULATION, 2))
        return self._parents[pairs.min(axis=1), : self._space.groups]
