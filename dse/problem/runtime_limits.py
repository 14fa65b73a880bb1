"""The demands of a runtime on a problem: units, number formats, one unit of a sort per network, and
the number of unit changes that a network may choose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from paretosoc.common.arrays import BoolArray, IntArray
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.workload.options import PAPERS, Options, ThroughputModel, as_written
from paretosoc.dse.workload.workload import Workload
from paretosoc.fitness.costs.network_costs import choose_units
from paretosoc.platforms.platform import Platform, Unit
from paretosoc.results.problem.execution import SHARED
from paretosoc.results.problem.parts import ProblemUnit
from paretosoc.results.problem.runtimes import (
    RUNTIMES,
    Runtime,
    RuntimeRules,
    layer_device_types,
    runtimes_serving,
    usual_runtime,
)
from paretosoc.sdf.onnx.importer import ImportedNetwork

CHOSEN = "chosen"
"""Stands for the limit of unit changes with ``CHOSEN_TRANSITIONS`` more than groups force."""
CHOSEN_TRANSITIONS = 2


def with_defaults(options: Options, platform: Platform, workload: Workload) -> Options:
    """Return options with defaults for a runtime and a limit of unit changes that are not given.

    These are the platform's runtime, none for dataflow graphs alone, and :data:`CHOSEN`. With an
    option of single papers they are no runtime and no limit.
    """
    if any(getattr(options, name) != getattr(_PAPERS, name) for name in PAPERS):
        return options
    only_graphs = all(network.is_graph for network in workload.networks)
    usual = Runtime.NONE if only_graphs else usual_runtime(platform)
    return replace(
        options,
        runtime=chosen_runtime(options, workload) or usual,
        max_transitions=(*options.max_transitions, (None, CHOSEN)),
    )


_PAPERS = Options()


def chosen_runtime(options: Options, workload: Workload) -> Runtime | None:
    """Return the runtime of the options, else that of the workload, or None."""
    return options.runtime or workload.runtime


def served_units(platform: Platform, options: Options, runtime: Runtime) -> tuple[Unit, ...]:
    """Return the units of the options that a runtime serves, by default all.

    Raises:
        PlatformError: on a unit that the platform does not have.
        WorkloadError: on one that the runtime does not serve, or a runtime that serves none, or not
            the throughput model.
    """
    rules = RUNTIMES[runtime]
    units = choose_units(platform, options.units)
    places = rules.places(platform)
    served = tuple(unit for unit in units if unit.name in places)
    if not served and options.units is None:
        raise WorkloadError(
            f"{as_written('runtime', runtime.value)}: {rules.served(platform)}, whose default is "
            f"{as_written('runtime', usual_runtime(platform).value)}"
        )
    if options.units is not None and len(served) < len(units):
        raise WorkloadError(not_served(platform, runtime, [unit.name for unit in units]))
    if runtime is not Runtime.NONE and options.throughput_model is not ThroughputModel.TIMELINE:
        raise WorkloadError(
            f"{as_written('runtime')}: none is required with the closed form, got {runtime.value}"
        )
    return served


def not_served(platform: Platform, runtime: Runtime, units: Sequence[str]) -> str:
    """Return a text about units that a runtime does not serve, with one that does."""
    other = runtimes_serving(platform, tuple(units))
    return (
        f"{as_written('runtime', runtime.value)}: {RUNTIMES[runtime].served(platform)}, got "
        f"{', '.join(units)}; {as_written('runtime', other[0])} serves these"
    )


def unserved_units(platform: Platform, options: Options, runtime: Runtime) -> tuple[str, ...]:
    """Return a text about accelerators of networks that nobody chose to leave out, but the runtime
    does not serve."""
    rules = RUNTIMES[runtime]
    places = rules.places(platform)
    left = [
        unit.name
        for unit in platform.units
        if unit.name not in places and unit.kind != "cpu" and unit.supported_kinds != ()
    ]
    if options.units is not None or not left:
        return ()
    return (
        f"{', '.join(left)}: not used by networks, as {rules.served(platform)} only; "
        f"{as_written('runtime', Runtime.NONE.value)} uses all units",
    )


def check_formats(rules: RuntimeRules, formats: Sequence[str], runtime: Runtime) -> None:
    """Accept number formats that a runtime has.

    Raises:
        WorkloadError: on others.
    """
    reason = rules.refusal(tuple(formats))
    if reason is not None:
        raise WorkloadError(f"{as_written('runtime', runtime.value)}: {reason}")


def check_images(rules: RuntimeRules, networks: Sequence[ImportedNetwork]) -> None:
    """Check that networks take one batch of images, if a runtime has only these.

    Raises:
        WorkloadError: on another one.
    """
    for network in networks:
        shapes = [shape for _, shape in network.inputs]
        if rules.has_one_engine and (len(shapes) != 1 or len(shapes[0]) != 4):
            raise WorkloadError(
                f"network {network.graph.name!r}: {rules.title} gives it one batch of images, and "
                f"it takes {', '.join(repr(name) for name, _ in network.inputs)}"
            )


def can_be_split(rules: RuntimeRules, layers: Iterable[str]) -> bool:
    """Return whether layers of one network may be on different units."""
    if not rules.has_one_engine:
        return True
    return layer_device_types((name, "DLA") for name in layers) is not None


def dispatch_of(
    units: Sequence[Unit], rules: RuntimeRules, options: Options
) -> dict[str, tuple[str, int]]:
    """Return how each unit takes its work, and the overhead of sharing it in permille.

    Raises:
        WorkloadError: on a unit that is not in the search.
    """
    asked = dict(options.dispatch)
    names = [unit.name for unit in units]
    for name in asked:
        if name is not None and name not in names:
            raise WorkloadError(
                f"{as_written('dispatch')}: there is no unit {name!r} in the search "
                f"({', '.join(names)})"
            )
    found = {}
    for unit in units:
        how = asked.get(unit.name, asked.get(None, rules.dispatch_of(unit.kind)))
        found[unit.name] = how, unit.sharing.permille if how == SHARED and unit.sharing else 0
    return found


def without_rivals(
    allowed: BoolArray,
    sizes: Sequence[int],
    units: Sequence[ProblemUnit],
    rivals: Mapping[str, tuple[str, ...]],
) -> tuple[BoolArray, tuple[tuple[int, str], ...]]:
    """Return the permitted units without those that a network cannot use beside another one, and
    the index of each network that had a choice with the unit that it keeps: one that it is pinned
    to, else networks take turns.

    Args:
        allowed: [groups, units].
        sizes: the number of groups of each network.
        rivals: for each unit those that exclude it.

    Raises:
        WorkloadError: on pins to units that exclude each other.
    """
    allowed, kept = allowed.copy(), []
    names = [unit.unit_name for unit in units]
    columns = {name: np.array([name == other for other in names]) for name in names}
    for n, here in enumerate(np.split(allowed, np.cumsum(sizes)[:-1])):
        for name in columns:
            usable = [u for u in (name, *rivals.get(name, ())) if u in columns]
            usable = [u for u in columns if u in usable and here[:, columns[u]].any()]
            if len(usable) < 2 or name not in usable:
                continue
            pinned = [u for u in usable if (~here[:, ~columns[u]].any(axis=1)).any()]
            if len(pinned) > 1:
                raise WorkloadError(
                    f"pins: one of {', '.join(usable)} is required for each network, got "
                    f"{' and '.join(pinned)}"
                )
            keeps = (pinned or [usable[n % len(usable)]])[0]
            for other in usable:
                if other != keeps:
                    here[:, columns[other]] = False
            kept.append((n, keeps))
    return allowed, tuple(kept)


def transition_limit(
    asked: int | str | None,
    allowed: BoolArray,
    edges: Sequence[tuple[int, int]],
    units: Sequence[ProblemUnit],
) -> tuple[int | None, int]:
    """Return the limit of a network's unit changes, or None, and the number of forced ones if the
    limit follows from them.

    For :data:`CHOSEN` it is ``CHOSEN_TRANSITIONS`` more than the forced number, or None if a
    mapping cannot have more.

    A unit that can run at least half of the groups forces a change on every edge between a group
    that it can run and one that it cannot. If no unit can run all groups, so do the changes of the
    mapping that stays on a unit for as long as it can. The largest of these is forced.

    Args:
        asked: the limit of the network. None and ``any``: there is none.
        allowed: [groups of the network, units].
        edges: pairs of groups of the network, from 0.
    """
    if asked != CHOSEN:
        return asked if isinstance(asked, int) else None, 0
    most = max(_changes(allowed, edges, units).values(), default=0)
    limit = CHOSEN_TRANSITIONS + most
    return (limit, most) if limit < len(edges) else (None, 0)


def why_so_many(
    allowed: BoolArray, edges: Sequence[tuple[int, int]], units: Sequence[ProblemUnit]
) -> str:
    """Return what has the number of unit changes that :func:`transition_limit` counts as forced."""
    changes = _changes(allowed, edges, units)
    names = [name for name, count in changes.items() if count == max(changes.values())]
    if "" in names:
        return "no unit can run all layers, which forces"
    return f"a mapping that runs all it can on {' or '.join(names)} has"


def _changes(
    allowed: BoolArray, edges: Sequence[tuple[int, int]], units: Sequence[ProblemUnit]
) -> dict[str, int]:
    """Return the unit changes that :func:`transition_limit` counts, by the name of the unit; the
    empty name is of the mapping that stays longest, if no unit can run all groups."""
    names = list(dict.fromkeys(unit.unit_name for unit in units))
    entries = [[unit.unit_name == name for unit in units] for name in names]
    can = np.stack([allowed[:, columns].any(axis=1) for columns in entries], axis=1)
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    changes = {
        name: int((column[ends[:, 0]] != column[ends[:, 1]]).sum())
        for name, column in zip(names, can.T, strict=True)
        if 2 * column.sum() >= len(column)
    }
    if not can.all(axis=0).any():
        place = _longest_stays(can)
        changes[""] = int((place[ends[:, 0]] != place[ends[:, 1]]).sum())
    return changes


def _longest_stays(can: BoolArray) -> IntArray:
    """Return a unit for each group: at each change the one that can run most groups in a row."""
    places = np.zeros(len(can), dtype=np.int64)
    at = 0
    while at < len(can):
        runs = [int(np.argmin([*column, False])) for column in can[at:].T]
        places[at : at + max(runs)] = int(np.argmax(runs))
        at += max(runs)
    return places
