"""Permitted units of each group: the supported ones, less those that pins exclude."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paretosoc.common.arrays import BoolArray
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.workload.workload import Workload
from paretosoc.fitness.cost_model.tables import CostOrigin, NetworkCosts
from paretosoc.results.problem.parts import ProblemUnit
from paretosoc.sdf.grouping.groups import GroupedNetwork


def allowed_units(
    workload: Workload,
    pins: Sequence[tuple[str, int, int, str]],
    networks: Sequence[GroupedNetwork],
    units: Sequence[ProblemUnit],
    costs: Sequence[NetworkCosts],
) -> BoolArray:
    """Return [groups, units]: whether each group may run on each unit.

    Args:
        pins: (network, first group, last group, unit), beside those of the workload.
        costs: costs of each network, whose notes are the reasons in messages.

    Raises:
        WorkloadError: on a group that no unit can run, or a pin that does not fit.
    """
    columns = [unit.time_ps.reshape(unit.time_ps.shape[0], -1)[:, 0] >= 0 for unit in units]
    allowed = np.stack(columns, axis=1)
    first = np.cumsum([0] + [len(network.groups) for network in networks]).tolist()
    for group in np.flatnonzero(~allowed.any(axis=1)).tolist():
        n = max(i for i, start in enumerate(first[:-1]) if start <= group)
        name = networks[n].groups[group - first[n]].name
        notes = [table.note[group - first[n]] for table in costs[n].units]
        raise WorkloadError(
            f"network {workload.networks[n].name!r}: no unit can run group {name!r} as a whole"
            f"{_reasons(notes)}"
        )
    names = list(dict.fromkeys(name for unit in units for name in (unit.unit_name, unit.name)))
    by_name = {network.name: n for n, network in enumerate(workload.networks)}
    wanted = [
        (network.name, pin.first, pin.last, pin.unit)
        for network in workload.networks
        for pin in network.pins
    ]
    for name, begin, last, unit in (*wanted, *pins):
        label = f"pin {name}:{begin}-{last}={unit}"
        if name not in by_name:
            raise WorkloadError(f"{label}: there is no network {name!r} in the workload")
        n = by_name[name]
        size = len(networks[n].groups)
        if last >= size:
            raise WorkloadError(f"{label}: {name} has groups 0 to {size - 1}")
        if unit not in names:
            raise WorkloadError(
                f"{label}: there is no unit {unit!r} in the search ({', '.join(names)})"
            )
        # A unit, in any number format, or one of its formats.
        wanted_here = np.array([unit in (entry.name, entry.unit_name) for entry in units])
        for index in range(first[n] + begin, first[n] + last + 1):
            if not allowed[index, wanted_here].any():
                notes = [
                    table.note[index - first[n]]
                    for table, entry in zip(costs[n].units, units, strict=True)
                    if unit in (entry.name, entry.unit_name)
                    and table.origin[index - first[n]] is CostOrigin.CANNOT_RUN
                ]
                raise WorkloadError(
                    f"{label}: {unit} cannot run group {index - first[n]}, or a pin forbids it"
                    f"{_reasons(notes)}"
                )
            allowed[index] &= wanted_here
    return allowed


def _reasons(notes: Sequence[str]) -> str:
    distinct = [note for note in dict.fromkeys(notes) if note]
    return f" ({'; '.join(distinct)})" if distinct else ""
