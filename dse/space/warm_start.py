"""Rows of one problem as a beginning for another one of the same groups, units and domains."""

from __future__ import annotations

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.space.design_space import DesignSpace, unique_rows


def starting_rows(space: DesignSpace, rows: IntArray) -> IntArray:
    """The rows [n, width] as this space allows them: groups moved off units that they may not have,
    the next clock that may be chosen, no row twice. The same rows give the same result.

    Raises:
        WorkloadError: on rows of another width, or beyond the units or operating points.
    """
    fits = rows.ndim == 2 and rows.shape[1] == space.width
    if not fits or (rows < 0).any() or (rows >= space.gene_sizes).any():
        raise WorkloadError(
            f"rows to start from: {space.groups} units and {space.width - space.groups} operating "
            "points of this problem are required, got others"
        )
    allowed = space.nearest_points(rows)
    repaired = space.repair(np.random.default_rng(0), allowed)
    return repaired[unique_rows(repaired)]
