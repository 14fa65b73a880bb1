"""Cost models of workloads, as MapFormer's Table 3 compares them: MOSAIC's and ODMDEF's.

Known: MOSAIC predicts throughput and power by linear regression. ODMDEF predicts throughput alone,
by linear regression and a k-nearest-neighbour classifier. Their inputs are not given. Here they are
figures that a manager of single layers can add up: for every unit the stand-alone time, bytes and
groups mapped there, for every domain its frequency, and the number of networks. scikit-learn fits
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.common.units import PS_PER_S
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.results.problem.problem import Problem

NEIGHBOURS = 5


def workload_figures(problem: Problem, rows: IntArray) -> FloatArray:
    """Return [n, 3 * units + domains + 1]: the inputs of the cost models.

    They are seconds, gigabytes and share of the groups per unit, GHz per domain, 0 if it is off,
    and the number of networks.
    """
    groups = problem.group_count
    mapping = rows[:, :groups]
    every = np.arange(groups)
    columns: list[FloatArray] = []
    for u, unit in enumerate(problem.units):
        here = mapping == u
        at = tuple(rows[:, groups + clock][:, None] for clock in unit.clocks)
        seconds = np.where(here, unit.time_ps[(every[None], *at)], 0) / PS_PER_S
        demand = np.where(here, unit.demand_kbps[(every[None], *at)], 0) / 1e6
        columns += [seconds.sum(axis=1), (seconds * demand).sum(axis=1), here.mean(axis=1)]
    space = DesignSpace(problem)
    on = space.domains_on(space.units_used(rows))
    for d, domain in enumerate(problem.domains):
        ghz = np.array(domain.frequencies_khz)[rows[:, groups + d]] / 1e6
        columns.append(np.where(on[:, d], ghz, 0.0))
    columns.append(np.full(len(rows), float(len(problem.networks))))
    return np.stack(columns, axis=1)


@dataclass(frozen=True, eq=False)
class MosaicCostModel:
    """Linear regressions of throughput and power on the figures of a workload."""

    throughput: Any
    power: Any

    @classmethod
    def fitted(
        cls, figures: FloatArray, throughput_hz: FloatArray, power_w: FloatArray
    ) -> MosaicCostModel:
        """Fit the model to figures [n, k] and measurements [n]."""
        from sklearn.linear_model import LinearRegression

        return cls(
            LinearRegression().fit(figures, throughput_hz), LinearRegression().fit(figures, power_w)
        )

    def predict(self, figures: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return [n] inferences per second and [n] W."""
        return self.throughput.predict(figures), self.power.predict(figures)


@dataclass(frozen=True, eq=False)
class OdmdefCostModel:
    """A k-nearest-neighbour classifier of the throughput class. A linear regression's prediction is
    one more feature, as the paper composes the two.
    """

    regression: Any
    classifier: Any
    mean: FloatArray
    deviation: FloatArray

    @classmethod
    def fitted(
        cls, figures: FloatArray, throughput_hz: FloatArray, classes: IntArray
    ) -> OdmdefCostModel:
        """Fit the model to figures [n, k], measured throughput [n] and its class [n]."""
        from sklearn.linear_model import LinearRegression
        from sklearn.neighbors import KNeighborsClassifier

        regression = LinearRegression().fit(figures, throughput_hz)
        table = np.column_stack((figures, regression.predict(figures)))
        mean, deviation = table.mean(axis=0), np.maximum(table.std(axis=0), 1e-12)
        classifier = KNeighborsClassifier(NEIGHBOURS).fit((table - mean) / deviation, classes)
        return cls(regression, classifier, mean, deviation)

    def predict(self, figures: FloatArray) -> IntArray:
        """Return [n]: throughput classes."""
        table = np.column_stack((figures, self.regression.predict(figures)))
        classes: IntArray = self.classifier.predict((table - self.mean) / self.deviation)
        return classes
