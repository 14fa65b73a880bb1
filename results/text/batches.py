"""Rates and energies of networks that compute several images at once, per image."""

from __future__ import annotations

from paretosoc.common.units import FJ_PER_MJ, PS_PER_S, UHZ_PER_HZ
from paretosoc.results.front.front import Member
from paretosoc.results.problem.objectives import Objective, ObjectiveKind, format_number
from paretosoc.results.problem.problem import Problem

_THROUGHPUT = Objective(ObjectiveKind.THROUGHPUT)


def images_per_second(problem: Problem, member: Member) -> tuple[float, ...] | None:
    """Return the images per second of each network, [networks], or None unless frames have a known
    rate."""
    if member.free_run is not None:
        rates = member.free_run.rates_uhz(problem.images)
        return tuple(uhz / UHZ_PER_HZ for uhz in rates)
    period: float
    if problem.execution.period_ps is not None:
        period = problem.execution.period_ps
    elif _THROUGHPUT in problem.objectives:
        value = member.objectives[problem.objectives.index(_THROUGHPUT)]
        period = value * sum(problem.images) / len(problem.networks)
    else:
        return None
    return tuple(PS_PER_S * images / period for images in problem.images)


def energy_per_image_mj(problem: Problem, member: Member) -> float:
    """Return the energy over the images of all networks."""
    energy = member.energy_fj / FJ_PER_MJ
    return energy if member.free_run is not None else energy / sum(problem.images)


def _has_batches(problem: Problem) -> bool:
    return any(network.batch > 1 for network in problem.networks)


def adds_energy_per_image(problem: Problem) -> bool:
    """Return whether the energy per image is worth a column: batches, and no such objective."""
    kinds = {objective.kind for objective in problem.objectives}
    same = ObjectiveKind.EFFICIENCY if problem.execution.has_frame else ObjectiveKind.ENERGY
    return _has_batches(problem) and same not in kinds


def describe_batches(problem: Problem) -> list[str]:
    """Return ``a frame of resnet50 is a batch of 8 images`` for each network that has one. With
    rates it is a release."""
    what = "a release" if problem.has_rates else "a frame"
    return [
        f"{what} of {network.name} is a batch of {network.batch} images"
        for network in problem.networks
        if network.batch > 1
    ]


def batch_lines(problem: Problem, member: Member) -> list[str]:
    """Return a line on energy and, if it is known, one on rates. Empty without batches."""
    if not _has_batches(problem):
        return []
    lines = [f"energy per image: {format_number(energy_per_image_mj(problem, member))} mJ"]
    rates = images_per_second(problem, member)
    if rates is not None:
        pairs = zip(problem.networks, rates, strict=True)
        texts = ", ".join(f"{network.name} {format_number(rate)}" for network, rate in pairs)
        lines.append(f"images per second: {texts}")
    return lines
