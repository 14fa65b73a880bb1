"""Common parts of the import commands: options, as types for their parameters and groups of them,
the network and clocks measured, and the profile file written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Annotated

from paretosoc.common.documents.document import write_document
from paretosoc.common.files import read_file, replace_file
from paretosoc.common.text import pluralize
from paretosoc.common.units import PS_PER_MS
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Option
from paretosoc.dse.cli.shared.terminal import say
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.exact_numbers import clock_text
from paretosoc.dse.inputs.kinds_by_name import Clocks
from paretosoc.dse.problem.domains import ladder_point
from paretosoc.dse.tools.calibration import format_notes
from paretosoc.dse.workload.fields import split
from paretosoc.dse.workload.options import FIELDS
from paretosoc.fitness.cost_model.support import layer_support
from paretosoc.fitness.cost_model.tables import CostOrigin
from paretosoc.fitness.costs.measured import own_measurements
from paretosoc.fitness.costs.network_costs import choose_precision, choose_units, network_costs
from paretosoc.fitness.costs.taught import compared
from paretosoc.fitness.profiles.alike_units import describe_alike
from paretosoc.fitness.profiles.profile_document import (
    Document,
    Import,
    Subject,
    document_bytes,
    merged,
)
from paretosoc.fitness.profiles.profile_file import Profile, load_profile, read_profile
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.exact_json import parse_exact
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.measurement import Comparison
from paretosoc.platforms.platform import Platform, Unit
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.grouping.grouping import group_network

NetworkName = Annotated[str, Option("--network", "-n", help="Network: a name or an .onnx file.")]
At = Annotated[
    list[str] | None, Option("--at", help="Clocks of the measurement: DOMAIN=MHZ for each, or max.")
]
Output = Annotated[
    Path | None, Option("--output", "-o", help="Output profile. [default: print a report only]")
]
Merge = Annotated[bool, Option("--merge", help="Add to the profile in the output file.")]
Replace = Annotated[bool, Option("--force", help="Replace the output file.")]
Medians = Annotated[bool, Option("--median", help="Use medians of the runs instead of means.")]


@dataclass(frozen=True)
class MeasuringOptions:
    """How a network was cut, and at which clocks it ran, when it was measured."""

    at: At = None
    precision: opt.Precision = None
    dim: opt.Dimensions = None
    groups: opt.GroupCount = None


@dataclass(frozen=True)
class ProfileOptions:
    """Options for the output profile."""

    source: opt.Source = None
    output: Output = None
    merge: Merge = False
    force: Replace = False


def source_text(given: str | None, tool: str, files: Sequence[Path]) -> str:
    """Return the origin of a profile as text."""
    names = ", ".join(file.name for file in files[:5]) + (", ..." if len(files) > 5 else "")
    return f"{given}: {tool}, {names}" if given else f"{tool}, {names}"


MAX_FLAGGED = 12
"""Most printed lines about omissions."""


def begin_import(
    network: str, platform: str, units: Sequence[str] | None, options: MeasuringOptions, source: str
) -> Import:
    """Return the profile that an import is to fill. With ``units`` None only the memory's clock is
    needed.

    Raises:
        GraphError, PlatformError, WorkloadError: if something does not exist or is missing.
    """
    chip = load_platform(platform)
    chosen = choose_units(chip, units)
    form = choose_precision(chip, options.precision)
    imported = load_network(network, dimensions=opt.sizes_of(options.dim, network))
    layers = [actor.layer for actor in imported.graph.actors if actor.layer is not None]
    support = layer_support(layers, chip, form).table
    text = options.groups
    groups = None if text is None else FIELDS["groups"].parse(text, "--groups")
    grouped = group_network(imported.graph, support, groups)
    clocks = _clocks(chip, options.at or ())
    _need_clocks([] if units is None else chosen, chip, dict(clocks))
    macs = sum(group.macs for group in grouped.groups)
    made = Import(grouped, chip, Subject(imported.graph.name, macs, form, clocks), source)
    made.lines.extend(format_notes(chip, options.precision))
    return made


def unit_names(text: str) -> tuple[str, ...]:
    """Parse names of units, separated by commas. At least one is required.

    Raises:
        WorkloadError: if there is none.
    """
    names = tuple(split(text))
    if not names:
        raise WorkloadError(f"at least one unit is required, got {text!r}")
    return names


def parse_providers(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return units by execution provider: ``PROVIDER=UNIT`` each, or ``UNIT`` for all others.

    Raises:
        WorkloadError: if a provider is given twice.
    """
    result: dict[str, tuple[str, ...]] = {}
    for text in texts:
        provider, _, units = text.rpartition("=")
        if provider in result:
            raise WorkloadError(f"--unit: each provider once is required, got {text!r} as well")
        result[provider] = unit_names(units)
    return result


def _clocks(platform: Platform, texts: Sequence[str]) -> tuple[tuple[str, int], ...]:
    ladders = {domain.name: domain.offered_khz for domain in platform.domains}
    clocks = {name: ladder[-1] for name, ladder in ladders.items() if "max" in texts}
    for name, value in Clocks().parse([text for text in texts if text != "max"], "--at"):
        label = f"--at {name}={clock_text(value)}"
        if name not in ladders:
            raise WorkloadError(f"{label}: there is no domain {name!r} ({', '.join(ladders)})")
        clocks[name] = ladders[name][ladder_point(ladders[name], value, label)]
    return tuple(clocks.items())


def _need_clocks(units: Sequence[Unit], platform: Platform, clocks: dict[str, int]) -> None:
    needed = [clock for unit in units for clock in unit.clocks if clock != unit.host]
    missing = [
        name for name in dict.fromkeys([*needed, platform.memory.domain]) if name not in clocks
    ]
    if missing:
        raise WorkloadError(
            f"--at: the clocks at which it was measured are required, missing: "
            f"{', '.join(missing)} (DOMAIN=MHZ each, or --at max for all)"
        )


def finish(options: ProfileOptions, *imports: Import, flagged: Sequence[str] = ()) -> None:
    """Check a profile by using it, write it, and print its coverage.

    Args:
        imports: one for each network, all on one platform.
        flagged: texts about omissions beside those of the imports.

    Raises:
        PlatformError: if the profile contradicts the file that it is to be merged with.
        WorkloadError: if the output exists and neither --merge nor --force is given.
    """
    if options.merge and options.force:
        raise WorkloadError("--merge and --force exclude each other")
    if options.merge and options.output is None:
        raise WorkloadError("--merge: needs --output")
    platform = imports[0].platform
    document = reduce(merged, (item.document for item in imports))
    output = options.output
    if output is not None and output.exists():
        if options.merge:
            load_profile(output, platform)
            old = parse_exact(read_file(output, PlatformError), str(output))
            document = merged(old, document)
        elif not options.force:
            raise WorkloadError(
                f"{output}: exists; --merge adds to it, --force replaces it, or name another file"
            )
    profile = read_profile(document_bytes(document), platform, "the profile made")
    lines, comparisons = [line for item in imports for line in item.lines], list[Document]()
    found = [_coverage(item, profile) for item in imports]
    alike = ((item.subject.network, one[-1]) for item, one in zip(imports, found, strict=True))
    lines += describe_alike(platform, alike)
    for item, (covered, beside, _) in zip(imports, found, strict=True):
        named = f"{item.subject.network}, {item.subject.precision}, " if len(imports) > 1 else ""
        lines += [f"{named}{line}" for line in covered]
        comparisons += map(write_document, beside)
    if comparisons:
        document = merged(
            document, {"platform": platform.measured_name, "comparisons": comparisons}
        )
    data = document_bytes(document)
    if output is not None:
        replace_file(output, data)
        lines.append(f"Written to {output}")
    print("\n".join(lines))
    left_out = [*flagged, *(text for item in imports for text in item.flagged)]
    for text in left_out[:MAX_FLAGGED]:
        say(text)
    if len(left_out) > MAX_FLAGGED:
        more = len(left_out) - MAX_FLAGGED
        say(f"... and {more} more were flagged")


def _coverage(made: Import, profile: Profile) -> tuple[list[str], list[Comparison], dict[str, str]]:
    """Return, per unit, the number of groups of the network's own grouping that the profile gives a
    time, and their sum at the clocks of the measurement. Return these sums beside their
    estimates, and the units that take figures of others."""
    subject = made.subject
    # The platform's own measurements must not pass for the user's.
    chip = replace(made.platform, profiles=(), measurements=())
    clocks = dict(subject.clocks_khz)
    costs = network_costs(made.network, chip, precision=subject.precision, profile=profile)
    fastest = {domain.name: domain.offered_khz[-1] for domain in chip.domains}
    *_, taken = own_measurements(made.network, chip, subject.precision, profile)
    lines, found = [], []
    for unit in costs.units:
        known = [g for g, origin in enumerate(unit.origin) if origin is CostOrigin.MEASURED]
        if not known or unit.unit in taken:
            continue
        at = tuple((name, clocks.get(name, fastest[name])) for name in unit.clocks)
        points = [chip.ladder_khz(name).index(khz) for name, khz in at]
        times = {group: int(unit.time_ps[group, *points]) for group in known}
        lines.append(
            f"{unit.unit}: {len(known)} of {pluralize(len(unit.origin), 'group')} measured, "
            f"together {sum(times.values()) / PS_PER_MS:.6g} ms"
        )
        of = chip.unit_by_name[unit.unit]
        one = compared(made.network, chip, of, subject.precision, at, times)
        found += [] if one is None else [one]
    return lines, found, taken
