"""Costs over clocks from measurements at a few: a profile, and how well each form predicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from paretosoc.common.arrays import FloatArray
from paretosoc.common.documents.document import write_document
from paretosoc.common.files import naming
from paretosoc.common.text import pluralize
from paretosoc.common.units import PS_PER_MS
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem.warnings import check_dimensions
from paretosoc.dse.workload.options import as_written
from paretosoc.dse.workload.with_options import with_dimensions
from paretosoc.dse.workload.workload import workload_of
from paretosoc.fitness.calibration.dvfs import (
    DEFAULT_NOISE,
    Calibrated,
    ShapeOf,
    calibrate_rows,
    estimated_shapes,
    power_errors,
    subject_name,
    subjects,
    time_errors,
)
from paretosoc.fitness.calibration.dvfs_profile import Subject, clock_profile_document
from paretosoc.fitness.calibration.dvfs_table import (
    ClockMeasurement,
    point_table,
    read_measurements,
)
from paretosoc.fitness.cost_model.dvfs_forms import PowerForm, TimeForm
from paretosoc.fitness.cost_model.power import alone_idle_mw
from paretosoc.fitness.costs.hardware_limits import limit_notes
from paretosoc.fitness.costs.network_costs import choose_precision
from paretosoc.fitness.costs.standard_errors import estimated
from paretosoc.fitness.costs.taught import beyond_error, compared
from paretosoc.fitness.profiles.alike_units import alike_units, describe_alike
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.measurement import Comparison
from paretosoc.platforms.platform import Platform, Unit
from paretosoc.results.io.canonical_json import Json
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.grouping.grouping import group_network
from paretosoc.sdf.grouping.groups import GroupedNetwork
from paretosoc.sdf.layer import Layer

CONTRADICTION = 0.25
"""A fit is noted if its rows are off by more in the mean."""
LOW_POWER = 10
"""A power is noted if so many times it is less than the platform draws idle."""


@dataclass(frozen=True)
class Forms:
    """The dependence of times and powers on clocks.

    ``time``, ``power``: None takes the form that predicts a subject's times, or powers, best.
    ``fixed``: a term that no clock changes is fitted too. ``noise``: least relative standard error
    of a measurement.
    """

    time: TimeForm | None = None
    power: PowerForm | None = None
    fixed: bool = False
    noise: float = DEFAULT_NOISE


@dataclass(frozen=True, eq=False)
class Calibration:
    """The fits of a table, and the profile that they make."""

    platform: Platform
    groups: Mapping[tuple[str, str, str], Sequence[ClockMeasurement]]
    """Rows of the table, by network, layer and unit."""
    shapes: Mapping[tuple[str, str, str], ShapeOf]
    """Shapes by the estimates and the fastest of some of its rows."""
    results: tuple[Calibrated, ...]
    """The result of each group."""
    document: dict[str, Json]
    notes: tuple[str, ...]
    """Texts about times that beat the hardware, and possible explanations."""


def calibrate_table(
    table: Path,
    platform: Platform,
    forms: Forms,
    *,
    source: str,
    precision: str | None = None,
    dimensions: Mapping[str, int] | None = None,
) -> Calibration:
    """Fit the rows of a CSV table.

    Raises:
        WorkloadError: on a layer or a dimension that its network does not have.
        PlatformError: on a time that beats the hardware, and nothing explains it.
        DseError: on a table, platform or network that cannot be used.
    """
    notes = format_notes(platform, precision)
    precision = choose_precision(platform, precision)
    groups = subjects(read_measurements(table, platform))
    networks, comparisons = {}, list[Comparison]()
    notes += _assumed_clocks([row for rows in groups.values() for row in rows])
    shapes: dict[tuple[str, str, str], ShapeOf] = {}
    sources = list(dict.fromkeys(key[0] for key in groups))
    workload = workload_of(sources, lambda source: (source, 1))
    sizes = [*(dimensions or {}).items()]
    sized = with_dimensions(workload, sizes).networks
    with naming(table, GraphError):
        graphs = [load_network(each.source, dimensions=dict(each.dimensions)) for each in sized]
    check_dimensions(sized, graphs, sizes)
    for name, graph in zip(sources, (imported.graph for imported in graphs), strict=True):
        layers = [actor.layer for actor in graph.actors if actor.layer is not None]
        networks[name] = Subject(graph.name, sum(layer.macs for layer in layers))
        names = {layer.name for layer in layers}
        for network, layer, _ in groups:
            if network == name and layer and layer not in names:
                raise WorkloadError(f"{table}: network {name!r} has no layer {layer!r}")
        whole = group_network(graph, None, groups=1)
        for key, rows in groups.items():
            if key[0] == name:
                own = [layer for layer in layers if rows[0].layer in ("", layer.name)]
                unit = platform.unit_by_name[rows[0].unit]
                notes += _notes(rows, own, platform, precision)
                notes += _low_powers(rows, platform, unit)
                shapes[key] = estimated_shapes(whole, platform, unit, precision, rows[0].layer)
                comparisons += _compared(whole, rows, platform, unit, precision)
    results = [
        calibrate_rows(
            rows,
            platform,
            time_form=forms.time,
            power_form=forms.power,
            shape=shapes[key],
            fixed=forms.fixed,
            noise=forms.noise,
        )
        for key, rows in groups.items()
    ]
    notes += [
        f"{what} of {subject_name(rows[0])} is off by {100 * found.residual:.0f} % in the mean: "
        "its rows contradict each other, or one is in another unit, or of another clock"
        for rows, result in zip(groups.values(), results, strict=True)
        for what, found in (("time", result.time), ("power", result.power))
        if found is not None and found.residual > CONTRADICTION
    ]
    document = clock_profile_document(
        platform, results, networks, precision=precision, source=source
    )
    if comparisons:
        document["comparisons"] = [write_document(one) for one in comparisons]
    units: dict[str, set[str]] = {}
    for network, _, name in groups:
        units.setdefault(network, set()).add(name)
    notes += describe_alike(
        platform, ((network, alike_units(platform, own)) for network, own in units.items())
    )
    notes += dict.fromkeys(filter(None, (_beyond(platform, one) for one in comparisons)))
    if "board_mw" in document:
        notes.append(
            f"constant power of the board, which counts in all networks' energy: now "
            f"{document['board_mw'] / 1000:g} W by the measured powers, {platform.name} has "
            f"{platform.board_mw / 1000:g} W"
        )
    return Calibration(platform, groups, shapes, tuple(results), document, tuple(notes))


def format_notes(platform: Platform, precision: str | None) -> list[str]:
    """Return a note on the number format of measurements if none was named, and there are several,
    or nothing."""
    formats = {peak.precision for unit in platform.units for peak in unit.peaks}
    if precision is not None or len(formats) < 2:
        return []
    return [
        f"all rows are taken as {platform.default_precision}, the default of {platform.name}; "
        f"{as_written('precision')} takes another number format"
    ]


def _assumed_clocks(rows: Sequence[ClockMeasurement]) -> list[str]:
    """Return a text about each clock that rows do not give."""
    counts = Counter((row.unit, *clock) for row in rows for clock in row.assumed_khz)
    of_unit = Counter(row.unit for row in rows)
    return [
        f"{unit}: {count} of {pluralize(of_unit[unit], 'row')} without {domain}_mhz: taken as "
        f"{khz / 1000:g} MHz"
        for (unit, domain, khz), count in counts.items()
    ]


def _low_powers(rows: Sequence[ClockMeasurement], platform: Platform, unit: Unit) -> list[str]:
    """Return a text if powers are far below what the platform draws idle."""
    idle = alone_idle_mw(platform, unit, platform.board_mw)
    found = [
        (mw, int(idle[row.points]))
        for row in rows
        if (mw := row.mw or (row.mj and row.ms and 1000 * row.mj / row.ms))
    ]
    low = [pair for pair in found if pair[0] * LOW_POWER < pair[1]]
    if not low:
        return []
    power, expected = min(low)
    return [
        f"{subject_name(rows[0])}: a power of {power:g} mW is far below the {expected} mW that "
        f"{platform.name} draws without work: mw must be in mW, mj in mJ"
    ]


def _compared(
    network: GroupedNetwork,
    rows: Sequence[ClockMeasurement],
    platform: Platform,
    unit: Unit,
    precision: str,
) -> list[Comparison]:
    """Return the fastest time of an entire network beside its estimate at the same clocks."""
    timed = [(row.ms, row.points) for row in rows if row.ms is not None and not row.layer]
    if not timed:
        return []
    time_ms, points = min(timed)
    clocks = tuple(
        (name, platform.ladder_khz(name)[point])
        for name, point in zip(unit.clocks, points, strict=True)
    )
    measured = {0: max(1, round(time_ms * PS_PER_MS))}
    found = compared(network, platform, unit, precision, clocks, measured)
    return [] if found is None else [found]


def _beyond(platform: Platform, one: Comparison) -> str:
    peak = platform.unit_by_name[one.unit].peak_by_format[one.precision]
    return beyond_error(estimated(peak), [one])


def _notes(
    rows: Sequence[ClockMeasurement], layers: Sequence[Layer], platform: Platform, precision: str
) -> list[str]:
    unit = platform.unit_by_name[rows[0].unit]
    timed = [row for row in rows if row.ms is not None]
    peak = unit.peak_by_format.get(precision)
    if not timed or peak is None:
        return []
    times = np.array([row.ms for row in timed], dtype=np.float64) * PS_PER_MS
    label = subject_name(rows[0])
    return limit_notes(label, layers, platform, unit, peak, point_table(timed), times)


@dataclass(frozen=True)
class FormError:
    """Error of a form on rows that it was not fitted to, as shares. None if ``reason`` explains why
    there are none."""

    of: str
    """``time`` or ``power``."""
    form: str
    median_error: float | None
    largest_error: float | None
    reason: str | None


def cross_validate(calibration: Calibration) -> list[FormError]:
    """Return each form's errors over the rows, each predicted from the others of its subject."""
    platform = calibration.platform

    def of_time(form: TimeForm) -> list[FloatArray]:
        return [
            time_errors(rows, platform, form, calibration.shapes[key])
            for key, rows in calibration.groups.items()
        ]

    def of_power(form: PowerForm) -> list[FloatArray]:
        return [
            power_errors(group, platform, form, result.time.values)
            for group, result in zip(calibration.groups.values(), calibration.results, strict=True)
            if result.power is not None
        ]

    tries: list[tuple[str, str, Callable[[], list[FloatArray]]]] = [
        ("time", form.value, partial(of_time, form)) for form in TimeForm
    ]
    tries += [("power", form.value, partial(of_power, form)) for form in PowerForm]
    return [_form_error(*entry) for entry in tries]


def _form_error(what: str, form: str, errors_of: Callable[[], list[FloatArray]]) -> FormError:
    try:
        found = errors_of()
    except PlatformError as error:
        return FormError(what, form, None, None, str(error))
    if not found:
        return FormError(what, form, None, None, None)
    errors = np.abs(np.concatenate(found))
    return FormError(what, form, float(np.median(errors)), float(errors.max()), None)
