"""The fitted and the held-out part of a set: a few points, one run, ``dse calibrate``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.validation.laws import (
    NAIVE,
    Law,
    Subject,
    few_points,
    one_run,
)
from benchmarks.validation.published import DataSet, read_set
from benchmarks.validation.scores import Comparison, joined
from paretosoc.common.arrays import FloatArray
from paretosoc.fitness.calibration.dvfs import calibrate_rows, predicted
from paretosoc.fitness.calibration.dvfs_table import ClockMeasurement
from paretosoc.fitness.calibration.shape import Run, estimated_shape
from paretosoc.fitness.cost_model.dvfs_forms import time_ms
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.ladder import ladder_index
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.grouping.grouping import group_network

ONE_FACTOR = "the estimate x a factor"


def rows_by(data: DataSet, column: str) -> list[tuple[str, list[dict[str, str | float]]]]:
    """Return the rows of each name in a column, in the order of the file."""
    names = dict.fromkeys(str(row[column]) for row in data.rows)
    return [(name, [row for row in data.rows if row[column] == name]) for name in names]


def tables_of(name: str) -> list[tuple[str, list[tuple[float, float, float]]]]:
    """Return, per network, its rows of unit MHz, memory MHz and figure."""
    found = []
    for network, rows in rows_by(read_set(name), "network"):
        cells = [[float(cell) for cell in list(row.values())[-3:]] for row in rows]
        found.append((network, [(own, memory, figure) for own, memory, figure in cells]))
    return found


def by_few_points(
    data: str, fitted_to: str, laws: Sequence[Law], subjects: Sequence[Subject]
) -> list[Comparison]:
    """Predict each subject by a fit to its points ``used``. Return a comparison per law."""
    return [
        joined(
            [
                held_out_of(data, fitted_to, law, "ms", s, few_points(law, s), s.measured_ms)
                for s in subjects
            ]
        )
        for law in laws
    ]


def by_one_run(
    data: str, fitted_to: str, laws: Sequence[Law], subjects: Sequence[Subject]
) -> list[Comparison]:
    """Predict each subject by its time at the fastest clocks and the shape of other groups."""
    found = []
    for law in laws:
        parts = []
        for subject in subjects:
            others = [other for other in subjects if other.group != subject.group]
            times = one_run(law, subject, others)
            keep = np.arange(len(times)) != subject.fastest
            parts.append(
                Comparison(data, fitted_to, law.name, "ms", times[keep], subject.measured_ms[keep])
            )
        found.append(joined(parts))
    return found


def by_estimate(
    data: str,
    fitted_to: str,
    unit: tuple[str, str, str],
    subjects: Sequence[tuple[Subject, str]],
    *,
    units: int = 1,
) -> list[Comparison]:
    """Predict from one run: by the unit's clock alone, by the program's estimate times one factor,
    and as ``dse calibrate`` does.

    Args:
        data: name of the set.
        fitted_to: words on the protocol.
        unit: platform, unit and number format.
        subjects: with the name of the network in the catalogue.
        units: how many alike made the images; each takes that many times as long for one.
    """
    chip, name, precision = load_platform(unit[0]), unit[1], unit[2]
    own = chip.unit_by_name[name]
    found: dict[str, list[Comparison]] = {NAIVE.name: [], ONE_FACTOR: [], "dse calibrate": []}
    for subject, network in subjects:
        grouped = group_network(load_network(network).graph, None, groups=1)
        run = Run(
            units * float(subject.measured_ms[subject.fastest]), subject.at([subject.fastest])
        )
        times = [subject.clocks.own]
        for known in (None, run):
            shape = estimated_shape(grouped, chip, own, precision, run=known)
            assert shape is not None, "the network takes time"
            times.append(time_ms(shape, subject.clocks))
        keep = np.arange(len(subject.measured_ms)) != subject.fastest
        measured = subject.measured_ms[keep]
        for law, relative in zip(found, times, strict=True):
            scaled = relative / relative[subject.fastest] * subject.measured_ms[subject.fastest]
            found[law].append(Comparison(data, fitted_to, law, "ms", scaled[keep], measured))
    return [joined(parts) for parts in found.values()]


def by_default(
    data: str,
    fitted_to: str,
    platform: str,
    unit: str,
    tables: Sequence[tuple[str, Sequence[tuple[float, float, float]]]],
    used: Sequence[tuple[float, float]],
) -> Comparison:
    """Predict by ``dse calibrate`` without options, from the runs at the clocks ``used``.

    A host runs at its fastest clock.
    """
    chip = load_platform(platform)
    clocks = chip.unit_by_name[unit].clocks
    fastest = [len(chip.domain_by_name[name].operating_points) - 1 for name in clocks]
    parts = []
    for network, table in tables:
        rows = []
        for own_mhz, memory_mhz, ms in table:
            points = list(fastest)
            points[0] = ladder_index(chip.ladder_khz(clocks[0]), round(1000 * own_mhz), network)
            points[-1] = ladder_index(
                chip.ladder_khz(clocks[-1]), round(1000 * memory_mhz), network
            )
            rows.append(ClockMeasurement(network, "", unit, tuple(points), ms, None, None))
        keep = np.array([entry[:2] not in used for entry in table])
        kept = [row for row, held_out in zip(rows, keep, strict=True) if not held_out]
        times, _ = predicted(calibrate_rows(kept, chip, resamples=0), rows, chip)
        measured = np.array([ms for _, _, ms in table])
        parts.append(
            Comparison(data, fitted_to, "dse calibrate", "ms", times[keep], measured[keep])
        )
    return joined(parts)


def held_out_of(
    data: str,
    fitted_to: str,
    law: Law,
    unit: str,
    subject: Subject,
    predicted: FloatArray,
    measured: FloatArray,
) -> Comparison:
    """Return the comparison of the points that are not ``used``."""
    keep = np.ones(len(measured), dtype=np.bool_)
    keep[list(subject.used)] = False
    return Comparison(data, fitted_to, law.name, unit, predicted[keep], measured[keep])
