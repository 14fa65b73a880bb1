"""The clock domains of a search, and the operating points and units that it may choose."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from paretosoc.common.arrays import BoolArray, IntArray
from paretosoc.common.options import as_written as in_words
from paretosoc.common.text import did_you_mean, shortened
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.exact_numbers import clock_text, parse_with_unit
from paretosoc.dse.inputs.kinds_by_name import Pinned
from paretosoc.dse.problem.runtime_limits import not_served
from paretosoc.dse.workload.options import as_written
from paretosoc.dse.workload.workload import Workload
from paretosoc.fitness.cost_model.power import domain_static_mw, unit_idle_mw
from paretosoc.fitness.cost_model.tables import CostOrigin, NetworkCosts
from paretosoc.platforms.ladder import ladder_index
from paretosoc.platforms.platform import Platform, Unit
from paretosoc.results.problem.parts import ProblemDomain, ProblemUnit
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.runtimes import RUNTIMES, Runtime
from paretosoc.sdf.grouping.groups import GroupedNetwork


def problem_domains(
    platform: Platform, units: Sequence[Unit], fixed: Sequence[tuple[str, str | Fraction]]
) -> tuple[ProblemDomain, ...]:
    """Return the relevant domains: those of the requested units, and those that are never off.

    A domain that none of these units uses, and that cannot be off, is held at its parked point. The
    idle power of excluded units stays, since it belongs to their domain. With an accelerator among
    the units, no domain is offered below its lowest clock as a host.

    Args:
        fixed: (domain, ``max``, ``min`` or a frequency in MHz). ``min`` is the slowest clock that
            is offered, a frequency any of the ladder.

    Raises:
        WorkloadError: on an unknown domain, or a frequency that is not on its ladder.
    """
    used = {clock for unit in units for clock in unit.clocks} | {platform.memory.domain}
    asked = {unit.name for unit in units}
    known = {domain.name for domain in platform.domains}
    for name, _ in fixed:
        if name not in known:
            hint = did_you_mean(name, known, "", most=1)
            raise WorkloadError(
                f"{as_written('fixed')}: {platform.name} has no domain {name!r} "
                f"(it has {', '.join(sorted(known))})" + (hint and f"; {hint}")
            )
    choices = dict(fixed)
    accelerated = any(unit.kind != "cpu" for unit in units)
    domains = []
    for domain in platform.domains:
        if domain.name not in used and domain.may_be_off:
            continue
        static = domain_static_mw(platform, domain.name)
        for unit in platform.units:
            if unit.name not in asked and unit.clocks[0] == domain.name:
                idle = unit_idle_mw(platform, unit)
                static = static + idle.reshape(idle.shape[0], -1)[:, 0]
        frequencies = domain.frequencies_khz
        points = np.arange(len(frequencies))
        slowest = domain.lowest_host if accelerated else 0
        fastest = len(points) - 1 if domain.fastest is None else domain.fastest
        allowed = (points >= slowest) & (points <= fastest)
        if domain.name in choices:
            value = choices[domain.name]
            label = as_written("fixed", {domain.name: clock_text(value)})
            chosen = ladder_point(frequencies, value, label, slowest, fastest)
            if chosen > fastest:
                most = f"{frequencies[fastest] / 1000:g}"
                raise WorkloadError(f"{label}: at most {most} MHz is required in this power mode")
            allowed = points == chosen
        elif domain.name not in used:
            allowed = points == domain.parked
        domains.append(
            ProblemDomain(
                name=domain.name,
                frequencies_khz=frequencies,
                voltages_mv=tuple(point.voltage_mv for point in domain.operating_points),
                may_be_off=domain.may_be_off,
                static_mw=static.astype(np.int64),
                allowed=allowed,
            )
        )
    return tuple(domains)


def ladder_point(
    ladder_khz: Sequence[int],
    value: str | Fraction,
    label: str,
    slowest: int = 0,
    fastest: int = -1,
) -> int:
    """Return the operating point that ``max``, ``min`` or a frequency in MHz denotes.

    Args:
        ladder_khz: slowest first.
        slowest: operating point that ``min`` denotes.
        fastest: that of ``max``. -1: the last one.

    Raises:
        WorkloadError: on any other text, or a frequency that is not on the ladder. The nearest are
            named.
    """
    if value in ("max", "min"):
        return fastest % len(ladder_khz) if value == "max" else slowest
    megahertz = parse_with_unit(value, "MHZ") if isinstance(value, str) else value
    if megahertz is None:
        raise WorkloadError(f"{label}: max, min or a frequency in MHz is required")
    return ladder_index(ladder_khz, megahertz * 1000, label, WorkloadError)


def clocks_at(
    problem: Problem, choices: Sequence[tuple[str, str | Fraction]], *, permitted: bool = False
) -> IntArray:
    """Return [domains]: the operating points of ``choices`` (domain, ``max``, ``min`` or MHz, with
    the ends of those that may be chosen), and the fastest permitted one of every other domain.

    Args:
        permitted: refuse clocks that may not be chosen. Else only those above all that may be.

    Raises:
        WorkloadError: on a domain that the problem does not have, a frequency that is not on its
            ladder, or one that is refused.
    """
    names = [domain.name for domain in problem.domains]
    allowed = [np.flatnonzero(domain.allowed).tolist() for domain in problem.domains]
    points = np.array([of_domain[-1] for of_domain in allowed], dtype=np.int64)
    for name, value in choices:
        label = f"{shortened(name)}={clock_text(value)}"
        if name not in names:
            hint = did_you_mean(name, names, f"there are {', '.join(names)}")
            raise WorkloadError(f"{label}: there is no domain {shortened(name)!r} ({hint})")
        d = names.index(name)
        ladder, slowest, fastest = problem.domains[d].frequencies_khz, allowed[d][0], allowed[d][-1]
        point = ladder_point(ladder, value, label, slowest, fastest)
        if point > fastest or (permitted and point not in allowed[d]):
            low, high = (f"{ladder[end] / 1000:g}" for end in (slowest, fastest))
            held = f"held at {low}" if slowest == fastest else f"one of {low} to {high}"
            option = in_words("fixed", command="--fix")
            raise WorkloadError(f"{label}: the clock is {held} MHz ({option} sets another)")
        points[d] = point
    return points


def allowed_units(
    workload: Workload,
    pins: Sequence[Pinned],
    networks: Sequence[GroupedNetwork],
    units: Sequence[ProblemUnit],
    costs: Sequence[NetworkCosts],
    platform: Platform,
    runtime: Runtime,
) -> BoolArray:
    """Return [groups, units]: whether each group may run on each unit.

    Args:
        pins: beside those of the workload.
        costs: costs of each network, whose notes are the reasons in messages.
        runtime: the reason if a pin names a unit that it does not serve.

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
    wanted = [pin for pin in pins if pin[0] not in by_name]
    for network in workload.networks:
        _, of_copies, own = network.values_of((pin[0], pin[1:]) for pin in pins)
        wanted += [(network.name, pin.first, pin.last, pin.unit) for pin in network.pins]
        wanted += [(network.name, *pin) for pin in own or of_copies]
    for name, begin, last, unit in wanted:
        groups = "" if last is None else f":{begin}" if last == begin else f":{begin}-{last}"
        label = f"pin {name}{groups}={unit}"
        if name not in by_name:
            hint = did_you_mean(name, by_name)
            if any(domain.name == name for domain in platform.domains):
                hint = f"the domain {name!r} takes max, min or a frequency in MHz"
            raise WorkloadError(f"{label}: there is no network {name!r} in the workload ({hint})")
        n = by_name[name]
        size = len(networks[n].groups)
        if max(begin, last or 0) >= size:
            raise WorkloadError(f"{label}: {name} has groups 0 to {size - 1}")
        if unit not in names:
            served, base = RUNTIMES[runtime].places(platform), unit.partition(":")[0]
            if base in platform.unit_by_name and base not in served:
                raise WorkloadError(f"{label}: {not_served(platform, runtime, [*served, base])}")
            hint = did_you_mean(unit, names, "", most=1)
            raise WorkloadError(
                f"{label}: there is no unit {unit!r} in the search ({', '.join(names)})"
                + (hint and f"; {hint}")
            )
        # A unit, in any number format, or one of its formats.
        wanted_here = np.array([unit in (entry.name, entry.unit_name) for entry in units])
        for index in range(first[n] + begin, first[n] + (size if last is None else last + 1)):
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
