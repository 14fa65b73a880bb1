"""Rates and energies of networks that compute several images at once, per image."""

from __future__ import annotations

from common.units import FJ_PER_MJ, PS_PER_S, UHZ_PER_HZ
from results.front.front import Member
from results.problem.objectives import Objective, ObjectiveKind, format_number, objective_value
from results.problem.problem import Problem

_THROUGHPUT = Objective(ObjectiveKind.THROUGHPUT)


def images_per_second(problem: Problem, member: Member) -> tuple[float, ...] | None:
    """Return the images per second of each network, [networks], or None unless frames have a known
    rate."""
    if member.free_run is not None:
        return tuple(
            network.batch * uhz / UHZ_PER_HZ
            for network, uhz in zip(problem.networks, member.free_run.rates_uhz, strict=True)
        )
    frames: float
    if problem.execution.period_ps is not None:
        frames = PS_PER_S / problem.execution.period_ps
    elif _THROUGHPUT in problem.objectives:
        value = member.objectives[problem.objectives.index(_THROUGHPUT)]
        frames = objective_value(_THROUGHPUT, value)
    else:
        return None
    return tuple(frames * images for images in _images_of_frame(problem))


def energy_per_image_mj(problem: Problem, member: Member) -> float:
    """Return the energy over the images of all networks."""
    if member.free_run is not None:
        rates = member.free_run.rates_uhz
        images = sum(n.batch * uhz for n, uhz in zip(problem.networks, rates, strict=True))
        return member.energy_fj / FJ_PER_MJ * sum(rates) / images if images else 0.0
    return member.energy_fj / FJ_PER_MJ / sum(_images_of_frame(problem))


def _images_of_frame(problem: Problem) -> list[int]:
    return [network.batch * network.repeats for network in problem.networks]


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
    if all(network.batch == 1 for network in problem.networks):
        return []
    lines = [f"energy per image: {format_number(energy_per_image_mj(problem, member))} mJ"]
    rates = images_per_second(problem, member)
    if rates is not None:
        pairs = zip(problem.networks, rates, strict=True)
        texts = ", ".join(f"{network.name} {format_number(rate)}" for network, rate in pairs)
        lines.append(f"images per second: {texts}")
    return lines
