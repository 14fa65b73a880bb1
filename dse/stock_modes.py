"""What the power modes that a board comes with cost for the mapping of a member."""

from __future__ import annotations

from math import log

import numpy as np

from dse.evaluate import evaluate_row
from platforms.deployment import PowerMode, PowerModes
from results.deployment import Deployment
from results.nvpmodel_section import ModeCost


def mode_costs(deployment: Deployment, modes: PowerModes) -> tuple[ModeCost, ...]:
    """Every mode, all clocks at their caps on the ladder, played by the timeline."""
    return tuple(_mode_cost(deployment, modes, mode) for mode in modes.modes)


def _mode_cost(deployment: Deployment, modes: PowerModes, mode: PowerMode) -> ModeCost:
    problem, caps = deployment.problem, dict(mode.caps_khz)
    wanted = deployment.clocks_khz
    points = deployment.member.design.operating_points.copy()
    clocks: list[tuple[str, int | None]] = []
    distance = 0.0
    missing: list[str] = []
    for d, domain in enumerate(problem.domains):
        cap, exact = caps.get(domain.name), wanted[domain.name]
        if exact is None:
            clocks.append((domain.name, None))
            continue
        below = [p for p, khz in enumerate(domain.frequencies_khz) if cap is None or khz <= cap]
        if not below:
            missing.append(domain.name)
            clocks.append((domain.name, None))
            continue
        points[d] = below[-1]
        khz = domain.frequencies_khz[below[-1]]
        clocks.append((domain.name, khz))
        distance += abs(log(khz / exact))
    if missing:
        remark = f"cannot run: {', '.join(missing)} is off, and this member uses it"
        return ModeCost(mode, tuple(clocks), distance, None, None, (remark,))
    row = np.concatenate([deployment.member.design.units, points])
    result = evaluate_row(problem, row)
    broken = [state.in_words() for state in result.constraints if not state.met]
    return ModeCost(
        mode=mode,
        clocks_khz=tuple(clocks),
        distance=distance,
        makespan_ps=result.member.makespan_ps,
        energy_fj=result.member.energy_fj,
        remarks=(*_takes_longer(deployment, modes, mode), *broken),
    )


def _takes_longer(deployment: Deployment, modes: PowerModes, mode: PowerMode) -> tuple[str, ...]:
    """Why the figures are at best: units that the mode takes something away from."""
    problem, platform = deployment.problem, deployment.platform
    used = {problem.units[u].name for u in deployment.member.design.units.tolist()}
    kinds = {platform.unit_by_name[name].kind for name in used}
    most = modes.modes[0].cores
    remarks = []
    if mode.cores < most and "cpu" in kinds:
        remarks.append(f"at best, with {mode.cores} of {most} cores on line")
    if not mode.all_gpu and "gpu" in kinds:
        remarks.append("at best, for the GPU has fewer processors")
    return tuple(remarks)
