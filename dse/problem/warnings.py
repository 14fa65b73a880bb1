"""Warnings about platforms, networks and measurements that are sound, but hardly meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from paretosoc.common.text import did_you_mean
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem.network_tables import NetworkTables
from paretosoc.dse.workload.options import as_written
from paretosoc.dse.workload.workload import WorkloadNetwork
from paretosoc.fitness.cost_model.support import lacks_formats
from paretosoc.fitness.profiles.loss_table import LossTable
from paretosoc.fitness.profiles.profile_file import Profile
from paretosoc.platforms.measurement import is_same_network
from paretosoc.platforms.platform import Platform, PowerTable
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from paretosoc.sdf.grouping.groups import GroupedNetwork
from paretosoc.sdf.onnx.importer import ImportedNetwork


def problem_warnings(
    workload: Sequence[WorkloadNetwork],
    tables: Sequence[NetworkTables],
    platform: Platform,
    formats: Sequence[str],
    profile: Profile | None,
    sizes: Sequence[tuple[str, int]] = (),
) -> tuple[str, ...]:
    """Return texts about unknown, unused or unsupported parts.

    Args:
        tables: tables of each network of the workload. Networks that are alike share theirs.
        sizes: sizes of dimensions that the options give, of all networks or, after its name and a
            colon, of one.

    Raises:
        WorkloadError: on the size of a dimension that no network has, or not the one that it is
            given for.
    """
    check_dimensions(workload, [entry.imported for entry in tables], sizes)
    distinct = list(dict.fromkeys(tables))
    named = {network.original: entry for network, entry in zip(workload, tables, strict=True)}
    measurable = [
        Measurable(
            entry.grouped.name,
            sum(group.macs for group in entry.grouped.groups) // network.batch,
            network.batch,
        )
        for network, entry in zip(workload, tables, strict=True)
    ]
    return (
        *_same_names(workload),
        *(
            f"{name}: {text}"
            for name, entry in named.items()
            for text in (*entry.imported.warnings, *entry.costs.notes)
        ),
        *_idle_units(distinct, platform, formats),
        *platform_warnings(platform),
        *_quantised(named, platform, formats),
        *_unused_measurements(measurable, formats, profile),
    )


@dataclass(frozen=True)
class Measurable:
    """Identity of a network for measurements: its name, its work for one image, its batch."""

    name: str
    macs: int
    batch: int


def loss_warnings(
    problem: Problem, networks: Sequence[GroupedNetwork], losses: LossTable
) -> tuple[str, ...]:
    """Return a text about losses that nothing asks for, or of different metrics that the objective
    adds up.

    Args:
        networks: one for each of the problem.
    """
    names = [network.name for network in problem.networks]
    kinds = {part.kind for each in problem.objectives for part in each.parts(names)}
    if ObjectiveKind.ACCURACY_LOSS not in kinds and all(
        network.max_loss_ppm is None for network in problem.networks
    ):
        return (
            f"{losses.name}: not used, as neither the objective accuracy-loss nor "
            f"{as_written('max_accuracy_loss_percent')} is asked for",
        )
    if Objective(ObjectiveKind.ACCURACY_LOSS) not in problem.objectives:
        return ()
    found = {
        entry.name: losses.metric_of((entry.name, network.name))
        for entry, network in zip(problem.networks, networks, strict=True)
    }
    named = {name: metric for name, metric in found.items() if metric is not None}
    if len(set(named.values())) < 2:
        return ()
    each = ", ".join(f"{name} by {metric}" for name, metric in named.items())
    return (
        f"{losses.name}: accuracy-loss adds up losses of different metrics ({each}); "
        "accuracy-loss:NETWORK is of one",
    )


def unknown_power(problem: Problem, platform: str) -> tuple[str, ...]:
    """Return a text if a limit or an objective rests on powers, of which none is known."""
    limits = (problem.power_cap_mw, problem.energy_budget_fj)
    names = [network.name for network in problem.networks]
    parts = [part for objective in problem.objectives for part in objective.parts(names)]
    if limits == (None, None) and not any(part.kind.spec.of_power for part in parts):
        return ()
    return (f"no power of {platform} is known: power and energy are 0 and keep every limit",)


def check_dimensions(
    workload: Sequence[WorkloadNetwork],
    graphs: Sequence[ImportedNetwork],
    sizes: Sequence[tuple[str, int]],
) -> None:
    """Refuse sizes of dimensions that no network has, or not the one that they are given for.

    Args:
        graphs: of the networks of the workload, in their order, imported with their sizes.
        sizes: as they were given, by names of dimensions or ``NETWORK:NAME``.

    Raises:
        WorkloadError: on such a size.
    """
    pairs = list(zip(workload, graphs, strict=True))
    options = {key for key, _ in sizes}
    for network, graph in pairs:
        for name in graph.unused_dimensions:
            if name not in options or f"{network.name}:{name}" in options:
                own = graph.dynamic_dimensions
                hint = did_you_mean(name, own) if own else "its sizes are fixed"
                raise WorkloadError(
                    f"network {network.name!r} has no dynamic dimension {name!r} ({hint})"
                )
    given = {name for network in workload for name, _ in network.dimensions}
    used = {
        name
        for network, graph in pairs
        for name, _ in network.dimensions
        if name not in graph.unused_dimensions
    }
    known = sorted(used.union(*(graph.dynamic_dimensions for graph in graphs)))
    for name in sorted(given - used):
        hint = did_you_mean(name, known) if known else "their sizes are fixed"
        raise WorkloadError(
            f"{as_written('dimensions')}: no network has a dynamic dimension {name!r} ({hint})"
        )


def _same_names(workload: Sequence[WorkloadNetwork]) -> list[str]:
    """Return a text about each name that several networks have, as if they were copies of one."""
    named: dict[str, dict[str, str]] = {}
    for network in workload:
        named.setdefault(network.original, {}).setdefault(network.source, network.name)
    return [
        f"{', '.join(f'{name} is {source}' for source, name in files.items())}: options for "
        f"{stem!r} hold for all; a workload file gives them names of their own"
        for stem, files in named.items()
        if len(files) > 1
    ]


def _quantised(
    tables: Mapping[str, NetworkTables], platform: Platform, formats: Sequence[str]
) -> list[str]:
    """Return a text about networks that are costed in a wider format than they compute in."""
    known = {name for unit in platform.units for name in unit.peak_by_format}
    if "int8" in formats or "int8" not in known:
        return []
    return [
        f"{name}: this model is quantised, and costed in {' and '.join(formats)}: "
        f"use {as_written('precision', 'int8')}"
        for name, entry in tables.items()
        if entry.imported.is_quantised
    ]


def _idle_units(
    tables: Sequence[NetworkTables], platform: Platform, formats: Sequence[str]
) -> list[str]:
    """Return a text about each unit that computes in none of the number formats."""
    chosen = {unit.unit for entry in tables for unit in entry.costs.units}
    units = (unit for unit in platform.units if unit.name in chosen)
    reasons = (lacks_formats(unit, formats) for unit in units)
    return [f"{reason}: it runs nothing" for reason in reasons if reason is not None]


def _unused_measurements(
    networks: Sequence[Measurable], formats: Sequence[str], profile: Profile | None
) -> list[str]:
    """Return a text about records of a profile that match no network of the workload."""
    if profile is None:
        return []
    kinds = [(one.names, one.macs, one.batch, one.precision) for one in profile.networks]
    kinds += [((one.network,), one.macs, 1, one.precision) for one in profile.models]
    taught = {(one.network, one.precision) for one in profile.comparisons}
    have = ", ".join(_named(network.name, network.batch) for network in networks)
    unused = []
    for names, macs, batch, precision in dict.fromkeys(kinds):
        alike = [
            network
            for network in networks
            if network.batch == batch and is_same_network(network.name, 0, names, None)
        ]
        fits = any(is_same_network(one.name, one.macs, names, macs) for one in alike)
        if fits and precision in formats:
            continue
        teaches = precision in formats and (names[0], precision) in taught
        hint = ""
        if fits:
            hint = f"; {as_written('precision', precision)} uses them"
        elif alike:
            hint = (
                f"; they are of {(macs or 0) / 1e9:.3g} GMAC, {alike[0].name} has "
                f"{alike[0].macs / 1e9:.3g}: their inputs differ in size"
            )
        unused.append(
            f"profile: its measurements of {_named(names[0], batch, repr)} in {precision} "
            f"{'only correct estimates' if teaches else 'are not used'}; the workload has {have} "
            f"in {' and '.join(formats)}{hint}"
        )
    return unused


def _named(name: str, batch: int, spelt: Callable[[str], str] = str) -> str:
    return spelt(name) if batch == 1 else f"{spelt(name)} in batches of {batch}"


SLOWEST_KHZ = 10_000
"""No unit or memory has a fastest clock below 10 MHz."""


def platform_warnings(platform: Platform) -> tuple[str, ...]:
    """Return texts about operations that ONNX does not have, powers that fall while the clock rises
    and clocks that are given in another unit than MHz."""
    tables = [(unit.name, table) for unit in platform.units for table in unit.power]
    return (
        *_misspelt_operations(platform),
        *(
            f"{domain.name}: its fastest clock is {fastest / 1000:g} MHz; clocks must be in MHz"
            for domain in platform.domains
            if (fastest := domain.frequencies_khz[-1]) < SLOWEST_KHZ
        ),
        *(
            text
            for name, table in [*tables, ("memory", platform.memory.power)]
            for text in _falling(name, table, platform.ladder_khz(table.domain))
        ),
    )


def _misspelt_operations(platform: Platform) -> list[str]:
    """Return a text about each operation in the rules of a unit that ONNX does not have, if it has
    one with nearly the same name. Other unknown names may be operations of other domains."""
    from onnx import defs

    found = []
    for unit in platform.units:
        named = (*unit.unsupported_operations, *(rule.operation for rule in unit.rules))
        for operation in dict.fromkeys(text.split()[0] for text in named):
            if operation == "*" or defs.has(operation):
                continue
            known = {schema.name for schema in defs.get_all_schemas()}
            hint = did_you_mean(operation, known, "", most=1, cutoff=0.8)
            if hint:
                found.append(f"{unit.name}: no operation is called {operation!r}; {hint}")
    return found


def _falling(name: str, table: PowerTable, ladder_khz: tuple[int, ...]) -> list[str]:
    """Return a text about the first clock at which less is drawn than at the one before it."""
    found = []
    for what, powers in (("idle", table.idle_mw), ("busy", table.busy_mw)):
        for (low, before), (high, after) in pairwise(zip(ladder_khz, powers, strict=True)):
            if after < before:
                found.append(
                    f"{name}: its {what} power by the clock {table.domain} falls from {before} mW "
                    f"at {low / 1000:g} MHz to {after} mW at {high / 1000:g} MHz"
                )
                break
    return found
