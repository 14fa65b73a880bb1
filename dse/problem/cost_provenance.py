"""Origins of the costs of a problem that was built, for the result folder."""

from __future__ import annotations

from paretosoc.dse.problem.build import BuiltProblem
from paretosoc.fitness.costs.standard_errors import DEMAND, IDLE_POWER, SHARING_OVERHEAD
from paretosoc.results.costs.cost_origins import (
    CostOrigins,
    GroupOrigins,
    NetworkOrigins,
    UnitOrigin,
)


def cost_origins(built: BuiltProblem) -> CostOrigins:
    """Return the content of every group, and the origin of its costs on every unit."""
    return CostOrigins(
        precision=built.precision,
        idle_error=IDLE_POWER,
        demand_error=DEMAND,
        sharing_error=SHARING_OVERHEAD,
        networks=tuple(
            NetworkOrigins(
                name=entry.name,
                source=source,
                groups=tuple(
                    GroupOrigins(
                        name=group.name,
                        layers=tuple(layer.name for layer in group.layers),
                        macs=group.macs,
                        parameters=group.parameters,
                        by_unit=tuple(
                            UnitOrigin(unit.origin[g], unit.note[g], unit.error[g])
                            for unit in table.units
                        ),
                    )
                    for g, group in enumerate(network.groups)
                ),
            )
            for entry, source, network, table in zip(
                built.problem.networks, built.sources, built.networks, built.costs, strict=True
            )
        ),
    )
