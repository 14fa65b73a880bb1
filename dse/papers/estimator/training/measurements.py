"""A board's measurements as data for the estimator: one line for each mapping that was run.

CSV with a header and these columns. Separators within a field are blanks:

=================  ==============================================================================
networks           names of the catalogue (or .onnx files), in order: ``vgg16 resnet50``
mapping            a unit per group, networks one after the other; ``UNIT*COUNT`` repeats:
                   ``gpu*12 dla0*8 cpu*20``
DOMAIN_mhz         a column per clock domain: its clock, or ``off`` where nothing mapped needs it;
                   ``emc_mhz`` may be missing where the memory has one clock
throughput_hz      mean over the networks, inferences per second
power_w            total power
=================  ==============================================================================

Groups are those of ``dse network NAME --groups 20``. A clock must be one of the platform's ladder.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable
from pathlib import Path

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.papers.estimator.training.data_set import DataSet
from paretosoc.dse.papers.estimator.training.workloads import GROUPS, PLATFORM, build
from paretosoc.dse.problem.network_tables import NetworkTables
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.fitness.calibration.csv_table import TableRow, read_table
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.problem.problem import Problem

CLOCK_TOLERANCE = 0.002
"""Boards print clocks rounded."""
MEASURED = ("throughput_hz", "power_w")


def read_measurements(path: Path, platform: str = PLATFORM, groups: int = GROUPS) -> DataSet:
    """Return the data set of a CSV file.

    Raises:
        PlatformError: on a file, line or number that cannot be used.
        WorkloadError: on another field that cannot be used.
    """
    clocks = [f"{domain.name}_mhz" for domain in load_platform(platform).domains]
    columns = ("networks", "mapping", *clocks, *MEASURED)
    known: dict[Hashable, NetworkTables] = {}
    problems: dict[tuple[str, ...], Problem] = {}
    found: list[tuple[tuple[str, ...], IntArray, float, float]] = []
    for line in read_table(path, columns, optional=clocks):
        names = tuple(line.cells["networks"].split())
        if not names:
            raise WorkloadError(f"{line.where}: networks: at least one is required")
        if names not in problems:
            try:
                problems[names] = build(names, platform, groups=groups, known=known)
            except ValueError as error:
                raise WorkloadError(f"{line.where}: networks: {error}") from None
        row = _row(problems[names], line)
        values = [_positive(line, column) for column in MEASURED]
        found.append((names, row, values[0], values[1]))
    workloads = tuple(problems)
    order = sorted(range(len(found)), key=lambda i: workloads.index(found[i][0]))
    return DataSet(
        workloads=workloads,
        platform=platform,
        groups=groups,
        origin=path.name,
        seed=None,
        workload=np.array([workloads.index(found[i][0]) for i in order], dtype=np.int64),
        rows=tuple(found[i][1] for i in order),
        throughput_hz=np.array([found[i][2] for i in order]),
        power_w=np.array([found[i][3] for i in order]),
    )


def _row(problem: Problem, line: TableRow) -> IntArray:
    where = line.where
    units = {unit.name: u for u, unit in enumerate(problem.units)}
    mapping: list[int] = []
    for text in line.cells["mapping"].split():
        name, star, count = text.partition("*")
        if name not in units or (star and not re.fullmatch("[0-9]+", count)):
            raise WorkloadError(
                f"{where}: mapping: UNIT or UNIT*COUNT with units {', '.join(units)} is required, "
                f"got {text!r}"
            )
        # As many as are needed and one more: a slip in a count must not fill the memory.
        left = problem.group_count + 1 - len(mapping)
        times = 1 if not star else left if len(count) > 9 else min(int(count), left)
        mapping += [units[name]] * times
    if len(mapping) != problem.group_count:
        got = "more" if len(mapping) > problem.group_count else len(mapping)
        raise WorkloadError(
            f"{where}: mapping: a unit for each of {problem.group_count} groups is required, got "
            f"{got}"
        )
    for group, unit in enumerate(mapping):
        if not problem.allowed[group, unit]:
            name = problem.units[unit].name
            raise WorkloadError(f"{where}: mapping: unit {name} cannot run group {group}")
    space = DesignSpace(problem)
    row = np.zeros((1, space.width), dtype=np.int64)
    row[0, : space.groups] = mapping
    for d, is_used in enumerate(space.domains_used(row)[0].tolist()):
        row[0, space.groups + d] = _point(problem, d, line, is_used=is_used)
    canonical: IntArray = space.canonical(row)[0]
    return canonical


def _point(problem: Problem, d: int, line: TableRow, *, is_used: bool) -> int:
    domain = problem.domains[d]
    column = f"{domain.name}_mhz"
    text = line.cells[column]
    if not text and len(domain.frequencies_khz) == 1:
        return 0
    may_be_off = domain.may_be_off and not is_used
    if text == "off" and may_be_off:
        return 0
    try:
        clock = 1000.0 * float(text)
    except ValueError:
        clock = math.nan
    ladder = np.array(domain.frequencies_khz, dtype=np.float64)
    if not math.isfinite(clock) or np.abs(ladder / max(clock, 1.0) - 1).min() > CLOCK_TOLERANCE:
        known = ", ".join(f"{khz / 1000:g}" for khz in domain.frequencies_khz)
        off = " or off" if may_be_off else ", as the mapping uses it," if domain.may_be_off else ""
        raise WorkloadError(
            f"{line.where}: {column}: one of {known}{off} is required, got {text!r}"
        )
    return int(np.abs(ladder - clock).argmin())


def _positive(line: TableRow, column: str) -> float:
    value = line.number(column)
    if not value:
        raise WorkloadError(
            f"{line.where}: {column}: a positive number is required, got {line.cells[column]!r}"
        )
    return float(value)
