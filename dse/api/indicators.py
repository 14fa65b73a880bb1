"""Quality of fronts in numbers: against a reference, between two, and over repeated runs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paretosoc.common.arrays import FloatArray
from paretosoc.common.tables import tabular
from paretosoc.common.text import pluralize
from paretosoc.dse.api.front import Front, front_of
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.arguments import check_list, check_type
from paretosoc.dse.inputs.kinds import Quantity, wrong_argument
from paretosoc.results.errors import ResultError
from paretosoc.results.front import dominance
from paretosoc.results.text.compare_fronts import (
    FrontComparison,
    compare_fronts,
    problem_differences,
)

FrontLike = Front | str | Path
LEAST_RUNS = 2
_FRONTS = "fronts or their folders"
_PERCENT = Quantity("PERCENT", Fraction(0), Fraction(100))


def hypervolume(front: Front, reference: ArrayLike | None = None) -> float:
    """Return :meth:`Front.hypervolume`."""
    rows, signs = _minimised(front)
    if reference is None:
        return dominance.hypervolume(rows)
    try:
        given = np.asarray(reference, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.full(1, np.nan)
    order = ", ".join(front.objectives)
    if given.shape != signs.shape or not np.isfinite(given).all():
        words = f"a list of {pluralize(len(signs), 'number')} ({order})"
        raise wrong_argument("reference", words, reference)
    if not (rows < signs * given).all(axis=1).any():
        text = f"reference: no member lies within {given.tolist()} ({order}), so this is 0"
        warnings.warn(text, stacklevel=3)
    return dominance.hypervolume(rows, signs * given)


def compare(first: FrontLike, second: FrontLike) -> FrontComparison:
    """Compare two fronts, as ``dse compare``: hypervolumes, coverage, epsilons, and the members
    that only one of them has. ``differences`` of the result are those of the problems.

    Raises:
        ResultError: if a front is empty, or the objectives are not the same.

    Examples:
        >>> dse.compare("runs/first", front).first.hypervolume
    """
    return compare_fronts(front_of(first).numeric, front_of(second).numeric)


def attainment(fronts: Sequence[FrontLike], percent: float = 50) -> NDArray[np.float64]:
    """Return the surface that is attained by this share of the fronts, [points, objectives], in
    the units of ``front.objectives``: with 50 what half of the runs reach or better. Two or three
    objectives.

    Raises:
        WorkloadError: on no front, another number of objectives, or a share beyond 0 to 100.
        ResultError: if a front is empty, or the objectives are not the same.
    """
    import moocore

    percent = float(_PERCENT.read(percent, "percent"))
    parts = _all_minimised("fronts", fronts)
    signs = parts[0][1]
    if len(signs) not in (2, 3):
        raise WorkloadError(f"fronts: two or three objectives are required, got {len(signs)}")
    rows = np.concatenate([part for part, _ in parts])
    owner = np.repeat(np.arange(1, len(parts) + 1), [len(part) for part, _ in parts])
    found = moocore.eaf(rows, owner, percentiles=[percent])
    surface: NDArray[np.float64] = signs * np.asarray(found)[:, : len(signs)]
    return surface


@dataclass(frozen=True)
class IndicatorSpread:
    """An indicator over the runs of a method."""

    values: tuple[float, ...]
    """One per run."""
    median: float
    lower: float
    """First quartile."""
    upper: float
    """Third quartile."""
    p_value: float | None
    """Of a two-sided Mann-Whitney U test against the first method. None of itself."""


@dataclass(frozen=True)
class RunStatistics:
    """Indicators of several methods over repeated runs, against the front of all runs together."""

    methods: Mapping[str, Mapping[str, IndicatorSpread]]
    """By method and indicator: ``hypervolume`` (a share of that of all fronts, up to 1.1 x their
    nadir, as in campaigns; larger is better), ``igd`` and ``epsilon`` (additive; both of the range
    of each objective, smaller is better)."""

    def to_latex(self) -> str:
        r"""Return a ``tabular`` with medians and quartiles, for the package booktabs."""
        names = list(next(iter(self.methods.values())))
        rows = []
        for method, found in self.methods.items():
            cells = [method]
            for each in (found[name] for name in names):
                cells.append(f"{each.median:.4f} [{each.lower:.4f}, {each.upper:.4f}]")
                cells.append("" if each.p_value is None else f"{each.p_value:.3g}")
            rows.append(cells)
        head = ["method", *(title for name in names for title in (name, "p"))]
        return tabular(f"l{'rr' * len(names)}", head, rows)


def statistics(runs: Mapping[str, Sequence[FrontLike]]) -> RunStatistics:
    """Return indicators of methods over repeated runs, such as those of several seeds.

    Baselines join the fronts of :func:`dse.explore` unless ``baselines=False``: with them methods
    look alike.

    Args:
        runs: by method two fronts or more, all of one problem.

    Raises:
        WorkloadError: on no method, or fewer than two runs of one.
        ResultError: if a front is empty, or the objectives are not the same.

    Examples:
        >>> runs = {name: [dse.explore(problem, name, seed=seed, baselines=False)
        ...                for seed in range(10)]
        ...         for name in ("nsga2", "random")}
        >>> print(dse.statistics(runs).to_latex())
    """
    import moocore
    from scipy.stats import mannwhitneyu

    check_type("runs", runs, Mapping, "a mapping from methods to fronts")
    if not runs:
        raise WorkloadError("runs: one method at least is required, got none")
    for name, fronts in runs.items():
        check_list(f"runs: of {name!r}", fronts, _FRONTS)
        if len(fronts) < LEAST_RUNS:
            raise WorkloadError(
                f"runs: of {name!r} {LEAST_RUNS} fronts at least are required, got {len(fronts)}"
            )
    every = [front_of(front) for fronts in runs.values() for front in fronts]
    parts = [rows for rows, _ in _all_minimised("runs", every)]
    together = np.concatenate(parts)
    best = together[dominance.non_dominated(together)]
    scaled = [_over_range_of(best, part) for part in parts]
    indicators = {
        "hypervolume": dominance.hypervolume_shares(parts),
        "igd": [float(moocore.igd(rows, ref=others)) for rows, others in scaled],
        "epsilon": [float(moocore.epsilon_additive(rows, ref=others)) for rows, others in scaled],
    }
    found: dict[str, dict[str, IndicatorSpread]] = {}
    begin = 0
    for name, fronts in runs.items():
        found[name] = {}
        for indicator, all_values in indicators.items():
            values = tuple(all_values[begin : begin + len(fronts)])
            lower, median, upper = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
            first = tuple(all_values[: len(next(iter(runs.values())))])
            p = None if begin == 0 else float(mannwhitneyu(values, first).pvalue)
            found[name][indicator] = IndicatorSpread(values, median, lower, upper, p)
        begin += len(fronts)
    return RunStatistics(found)


def _minimised(front: Front) -> tuple[FloatArray, FloatArray]:
    """Return the values of a front, all minimised, and the objectives' signs. Refuse an empty
    one."""
    front.numeric.require_members("be measured")
    signs = np.array([-1.0 if o.larger_is_better else 1.0 for o in front.problem.objectives])
    return front.values * signs, signs


def _all_minimised(name: str, fronts: Sequence[FrontLike]) -> list[tuple[FloatArray, FloatArray]]:
    check_list(name, fronts, _FRONTS)
    loaded = [front_of(front) for front in fronts]
    if not loaded:
        raise WorkloadError(f"{name}: one front at least is required, got none")
    parts = [_in_order_of(loaded[0], front) for front in loaded]
    for front in loaded[1:]:
        if differences := problem_differences(loaded[0].numeric, front.numeric):
            text = f"{name}: fronts of different problems: {differences[0]}"
            warnings.warn(text, stacklevel=3)
            break
    return parts


def _in_order_of(first: Front, front: Front) -> tuple[FloatArray, FloatArray]:
    """Return the values of a front with the columns of another one."""
    if sorted(first.objectives) != sorted(front.objectives):
        raise ResultError(
            f"fronts of the same objectives are required, got {', '.join(first.objectives)} and "
            f"{', '.join(front.objectives)}"
        )
    rows, signs = _minimised(front)
    order = [front.objectives.index(name) for name in first.objectives]
    return rows[:, order], signs[order]


def scaled(front: FrontLike, reference: FrontLike) -> tuple[FloatArray, FloatArray]:
    """Return the rows of both, with the reference's range of each objective as 1."""
    (rows, _), (others, _) = _all_minimised("reference", (front, reference))
    return _over_range_of(others, rows)


def _over_range_of(others: FloatArray, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    low, span = others.min(axis=0), np.ptp(others, axis=0)
    scale = np.where(span > 0, span, 1.0)
    return (rows - low) / scale, (others - low) / scale
