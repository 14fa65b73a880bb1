"""The input of OmniBoost's estimator: a mask of the mapping over profiled layer times.

OmniBoost (Karatzas and Anagnostopoulos, DAC 2023) stacks, for every processor, a matrix of networks
by layers with the profiled time of the layer there, and blanks what is mapped elsewhere. Here a row
of the matrix is a network, a column a group; a cell holds ln(1 + time / 1 us) of the group at the
fastest clocks where it is mapped on that unit, else 0. Frequencies are not in it: that is what
MapFormer holds against it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.arrays import IntArray
from paretosoc.common.units import PS_PER_US
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.space.design_space import DesignSpace

UNITS = 4
NETWORKS = 10
GROUPS = 32
"""Cells of the matrices; what is not there is 0."""


class Embedding:
    """The matrices of one problem.

    Raises:
        WorkloadError: where it has more units, networks or groups than there are cells.
    """

    def __init__(self, space: DesignSpace) -> None:
        problem = space.problem
        largest = int(space.size.max())
        for what, most, got in (
            ("units", UNITS, len(problem.units)),
            ("networks", NETWORKS, len(problem.networks)),
            ("groups of a network", GROUPS, largest),
        ):
            if got > most:
                raise WorkloadError(f"omniboost: {what}: at most {most} are required, got {got}")
        self._owner = space.owner
        self._position = np.arange(space.groups) - space.first[space.owner]
        self._groups = space.groups
        micros = np.where(problem.allowed, space.fastest_time, 0) / PS_PER_US
        self._cells = np.log1p(micros).astype(np.float32)

    def of(self, mappings: IntArray) -> NDArray[np.float32]:
        """[n, 4, 10, 32] single precision from mappings [n, groups and more]."""
        mappings = mappings[:, : self._groups]
        n = len(mappings)
        tensor = np.zeros((n, UNITS, NETWORKS, GROUPS), dtype=np.float32)
        every = np.arange(self._groups)
        tensor[np.arange(n)[:, None], mappings, self._owner, self._position] = self._cells[
            every, mappings
        ]
        return tensor
