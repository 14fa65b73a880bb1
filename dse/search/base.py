"""The interface of optimizers: they propose rows and receive their outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.space.design_space import DesignSpace, Random
from paretosoc.fitness.objectives import OutcomeFunction, Outcomes
from paretosoc.results.problem.limits import constraints_of
from paretosoc.results.problem.problem import Problem


@runtime_checkable
class Engine(Protocol):
    """A search strategy. The driver in :mod:`dse.search.driver` evaluates, keeps the front and
    stops."""

    @property
    def name(self) -> str:
        """Name in results and on the command line."""
        ...

    def ask(self) -> IntArray:
        """Return rows [n, groups + domains] to evaluate next, canonical. None end the search."""
        ...

    def tell(self, rows: IntArray, outcomes: Outcomes) -> None:
        """Receive the outcomes of the rows of the last :meth:`ask`.

        Not called for a batch that the budget has cut short, as nothing comes after it.
        """
        ...


@dataclass(frozen=True, eq=False)
class EngineState:
    """The state that an engine resumes from, besides the problem and its settings."""

    arrays: dict[str, NDArray[Any]]
    generator: dict[str, Any]
    """The state of numpy's bit generator, as JSON content."""

    def array(
        self,
        name: str,
        kind: type[np.generic],
        shape: tuple[int | None, ...],
        *,
        least: int | None = None,
        most: int | None = None,
    ) -> NDArray[Any]:
        """Return the array ``name`` after checking it. None in ``shape`` permits any length.

        Raises:
            ValueError: if it is missing or has another type, shape or range.
        """
        array = self.arrays.get(name)
        if array is None:
            raise ValueError(f"{name}: is missing")
        fits = len(array.shape) == len(shape) and all(
            wanted is None or wanted == got for wanted, got in zip(shape, array.shape, strict=True)
        )
        if array.dtype != np.dtype(kind) or not fits:
            raise ValueError(
                f"{name}: {np.dtype(kind)} of shape {shape} is required, "
                f"got {array.dtype} of shape {array.shape}"
            )
        if array.size and least is not None and array.min() < least:
            raise ValueError(f"{name}: at least {least} is required, got {array.min()}")
        if array.size and most is not None and array.max() > most:
            raise ValueError(f"{name}: at most {most} is required, got {array.max()}")
        return array.copy()

    def rows(self, name: str, space: DesignSpace) -> IntArray:
        """Return the rows [n, width] under ``name``, all within the space.

        Raises:
            ValueError: as :meth:`array`, or if a row is not one of the space.
        """
        return checked_rows(name, self.array(name, np.int64, (None, space.width)), space)


def checked_rows(name: str, rows: IntArray, space: DesignSpace) -> IntArray:
    """Return the same rows [n, width], checked because kernels check no index of a file's rows.

    Raises:
        ValueError: if one is not of the space.
    """
    if not space.holds(rows).all():
        raise ValueError(f"{name}: rows of this problem are required")
    return rows


def checked_proposal(engine: str, rows: object, space: DesignSpace) -> IntArray:
    """Return the rows that a foreign engine proposed, checked because kernels check no index.

    Raises:
        WorkloadError: unless they are integers [n, width] of the space.
    """
    label, shape = f"engine {engine}: ask()", f"an integer array [n, {space.width}]"
    if not isinstance(rows, np.ndarray):
        raise WorkloadError(f"{label}: {shape} is required, got {type(rows).__name__}")
    if rows.ndim != 2 or rows.shape[1] != space.width or rows.dtype.kind not in "iu":
        got = f"{rows.dtype} {list(rows.shape)}"
        raise WorkloadError(f"{label}: {shape} is required, got {got}")
    genes = np.ascontiguousarray(rows, dtype=np.int64)
    beyond = np.argwhere((genes < 0) | (genes >= space.gene_sizes))
    if len(beyond):
        row, gene = beyond[0].tolist()
        most = space.gene_sizes[gene] - 1
        raise WorkloadError(
            f"{label}: column {gene}: 0 to {most} is required, got {genes[row, gene]}"
        )
    outside = genes[~space.holds(genes)]
    if len(outside):
        raise WorkloadError(
            f"{label}: rows as of space.repair(rng, rows) are required, got {outside[0].tolist()}"
        )
    return genes


@runtime_checkable
class ResumableEngine(Engine, Protocol):
    """An engine whose state can be kept between :meth:`ask` and :meth:`tell`."""

    def state(self) -> EngineState:
        """Return the present state, valid until the next call of any method."""
        ...

    def restore(self, state: EngineState) -> None:
        """Continue from a state.

        Raises:
            ValueError: if the state is not one of this engine and problem.
        """
        ...


class Violation:
    """A measure of how far design points break their constraints, for engines to compare."""

    def __init__(self, problem: Problem) -> None:
        self._limits = np.array([entry.limit for entry in constraints_of(problem)], np.float64)

    def __call__(self, outcomes: Outcomes) -> FloatArray:
        """Return [n]: the summed excess over constraints, 0 only if all are kept.

        An excess is a share of its limit. An impossible design point has 1 more. The shortfall of a
        least rate is a share of that rate, so a network without progress counts 1.
        """
        if outcomes.feasible.all():
            return np.zeros(len(outcomes.feasible))
        excess = (outcomes.constraint_values - self._limits) / np.maximum(np.abs(self._limits), 1.0)
        total: FloatArray = np.maximum(excess, 0.0).sum(axis=1)
        total = np.where(outcomes.possible, total, 1.0 + total)
        smallest = np.finfo(np.float64).tiny
        return np.where(outcomes.feasible, 0.0, np.maximum(total, smallest))


def state_of(rng: Random) -> dict[str, Any]:
    """Return the state for :func:`generator_from`: PCG64's integers."""
    return dict(rng.bit_generator.state)


def generator_from(state: dict[str, Any]) -> Random:
    """Return a generator that draws the numbers that the stored one would have drawn next.

    Raises:
        ValueError: if the state is not one of PCG64.
    """
    bits = np.random.PCG64(0)
    try:
        bits.state = {
            "bit_generator": "PCG64",
            "state": {"state": int(state["state"]["state"]), "inc": int(state["state"]["inc"])},
            "has_uint32": int(state["has_uint32"]),
            "uinteger": int(state["uinteger"]),
        }
    except (KeyError, TypeError, ValueError, OverflowError):
        raise ValueError("generator: a state of PCG64 is required") from None
    return np.random.Generator(bits)


def surrogate_search(engine: Engine, guess: OutcomeFunction, rows: int) -> None:
    """Run ``engine`` on outcomes by ``guess`` for a number of rows."""
    while rows > 0:
        proposed = engine.ask()
        if len(proposed) == 0:
            return
        engine.tell(proposed, guess(proposed))
        rows -= len(proposed)
