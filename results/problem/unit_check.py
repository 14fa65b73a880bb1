"""Are the units of a problem sound, and the number formats of each?"""

from __future__ import annotations

import numpy as np

from paretosoc.common.arrays import IntArray
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.arithmetic import TIME_LIMIT_PS
from paretosoc.results.problem.execution import GROUP, SHARED, ClosedForm
from paretosoc.results.problem.interchangeable import are_equal
from paretosoc.results.problem.parts import ChannelCosts, ProblemUnit
from paretosoc.results.problem.problem import Problem


def check_unit(problem: Problem, unit: ProblemUnit, path: str) -> None:
    """Accept a unit whose clocks exist and whose tables have their shapes and ranges.

    Raises:
        ResultError: names the path below ``path``.
    """
    require(
        all(0 <= clock < len(problem.domains) for clock in unit.clocks)
        and len(set(unit.clocks)) == len(unit.clocks),
        f"{path}.clocks",
        "must be different domains of this problem",
    )
    points = tuple(len(problem.domains[clock].frequencies_khz) for clock in unit.clocks)
    for name in ("time_ps", "demand_kbps", "dynamic_mw", "step_ps"):
        if (table := getattr(unit, name)) is not None:
            check_array(table, (problem.group_count, *points), f"{path}.{name}")
    for g, row in enumerate(unit.time_ps):
        require(
            bool((row == -1).all() or (row >= 1).all()),
            f"{path}.time_ps[{g}]",
            "must be -1 at all operating points (cannot run) or at least 1 at all",
        )
    if unit.step_ps is not None:
        for network in problem.networks:
            last = np.s_[network.first_group : network.groups.stop]
            longest = unit.time_ps[last].astype(object)
            longest = longest + unit.step_ps[last].astype(object) * (network.repeats - 1)
            require(
                longest.max(initial=0) < TIME_LIMIT_PS,
                f"{path}.step_ps",
                f"the last of {network.repeats} repeats of {network.name} must take less than "
                "2**47 ps (140 s)",
            )
    check_array(unit.idle_mw, points, f"{path}.idle_mw")
    for axis, clock in enumerate(unit.clocks[1:], start=1):
        domain = problem.domains[clock]
        require(
            not domain.may_be_off or not np.ptp(unit.idle_mw, axis=axis).any(),
            f"{path}.idle_mw",
            f"must not depend on the clock of {domain.name!r}, which may be off while the unit is "
            "on",
        )
    if unit.contention is not None:
        memory = problem.memory_domain
        count = 1 if memory is None else len(problem.domains[memory].frequencies_khz)
        for name, array in unit.contention.columns.items():
            check_array(array, (count,), f"{path}.contention.{name}")
    for field, usual in (("dispatch", GROUP), ("moves_tensors", False)):
        require(
            getattr(unit, field) == usual or not isinstance(problem.execution, ClosedForm),
            f"{path}.{field}",
            f"must be left out where the execution model is {ClosedForm.model}",
        )
    require(
        unit.dispatch == SHARED or unit.sharing_permille == 0,
        f"{path}.sharing_permille",
        f"must be left out where dispatch is {unit.dispatch}",
    )
    if unit.channels is not None:
        require(
            unit.channels.clock in unit.clocks,
            f"{path}.channels.clock",
            "must be one of the unit's clocks",
        )
        _check_channels(problem, unit.channels, f"{path}.channels")


def check_formats(problem: Problem) -> None:
    """Check that entries of one unit differ only in fields that depend on the number format."""
    names = [unit.name for unit in problem.units]
    formats: list[tuple[str, str | None]] = []
    for u, unit in enumerate(problem.units):
        path = f"$.units[{u}]"
        if unit.weight_bytes is not None:
            check_array(unit.weight_bytes, (problem.group_count,), f"{path}.weight_bytes")
        require(
            0 <= unit.memory_pool < max(1, len(problem.memory_pools)),
            f"{path}.memory_pool",
            f"must be one of the problem's memory_pools, got {unit.memory_pool}",
        )
        if unit.loss_ppm is not None:
            check_array(unit.loss_ppm, (problem.group_count,), f"{path}.loss_ppm")
        require(
            (unit.unit is None) == (unit.number_format is None),
            f"{path}.number_format",
            "must be given where unit is, and only there",
        )
        if unit.unit is None:
            continue
        require(unit.unit not in names, f"{path}.unit", f"{unit.unit!r} is the name of an entry")
        format_of = unit.unit, unit.number_format
        require(format_of not in formats, f"{path}.number_format", "stands twice for this unit")
        formats.append(format_of)
        require(
            not isinstance(problem.execution, ClosedForm),
            f"{path}.number_format",
            f"must be left out where the execution model is {ClosedForm.model}",
        )
        first = problem.units[problem.unit_of[u]]
        if first is not unit:
            _check_further_format(unit, first, path)


def _check_further_format(unit: ProblemUnit, first: ProblemUnit, path: str) -> None:
    """Check an entry of a unit that has one before it."""
    for field, requirement in (
        ("clocks", "must be those of {}"),
        ("contention", "must be that of {}"),
        ("memory_pool", "must be that of {}"),
        ("loads_whole_networks", "must be as for {}"),
        ("dispatch", "must be as for {}, with sharing_permille"),
        ("moves_tensors", "must be as for {}"),
    ):
        same = are_equal(getattr(unit, field), getattr(first, field))
        if field == "dispatch":
            same = same and unit.sharing_permille == first.sharing_permille
        require(same, f"{path}.{field}", requirement.format(repr(first.name)))
    require(not unit.idle_mw.any(), f"{path}.idle_mw", f"must be 0: {first.name!r} has it")
    require(
        unit.max_segments is None, f"{path}.max_segments", f"must be null: {first.name!r} has it"
    )


def _check_channels(problem: Problem, channels: ChannelCosts, path: str) -> None:
    points = len(problem.domains[channels.clock].frequencies_khz)
    tokens = 0 if problem.edge_tokens is None else int(problem.edge_tokens.max(initial=0))
    for name, array in (("write_fs", channels.write_fs), ("read_fs", channels.read_fs)):
        check_array(array, (points,), f"{path}.{name}")
        require(
            tokens * int(array.max(initial=0)) < 1000 * TIME_LIMIT_PS,
            f"{path}.{name}",
            f"one channel must take less than 2**47 ps (140 s); the largest has {tokens} tokens",
        )
    check_array(channels.busy_mw, (points,), f"{path}.busy_mw")


def require(condition: bool, path: str, requirement: str) -> None:
    """Raise ResultError, with the path and the requirement, if the condition does not hold."""
    if not condition:
        raise ResultError(f"{path}: {requirement}")


def check_array(array: IntArray, shape: tuple[int, ...], path: str) -> None:
    """Accept an array of this shape."""
    require(
        array.shape == shape, path, f"must have the shape {list(shape)}, got {list(array.shape)}"
    )
