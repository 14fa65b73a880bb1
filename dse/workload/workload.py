"""Networks that run together, with their rates, arrivals and dependencies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from paretosoc.common.files import naming
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.arguments import check_type
from paretosoc.dse.inputs.exact_numbers import Number
from paretosoc.dse.inputs.kinds import Choice, Flag, Kind, Quantity, Whole
from paretosoc.results.problem.runtimes import Runtime
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.formats import GRAPH_SUFFIX, is_graph_file

if TYPE_CHECKING:
    from paretosoc.sdf.catalogue.catalogue import Accuracy

SUFFIXES = (".yaml", ".yml", ".json")
"""Endings of workload files."""

MAX_COPIES = 64
MAX_FRAMES_IN_FLIGHT = 8
Value = TypeVar("Value")


@dataclass(frozen=True)
class Pin:
    """Groups ``first`` to ``last`` (indices within the network, inclusive) must run on ``unit``.
    None for ``last``: to the network's last."""

    first: int
    last: int | None
    unit: str


@dataclass(frozen=True)
class TaskTime:
    """The time of a task on a unit at one clock, as measured or known."""

    unit: str
    ms: Fraction
    mhz: Fraction | None = None
    """The unit's clock. None: its fastest."""
    traffic_mb: Fraction = Fraction(0)
    """Megabytes (10^6 bytes) that it moves from and to memory."""
    power_mw: int | None = None
    """Power above idle at that clock. None: as the platform file has it for any work."""


@dataclass(frozen=True)
class Variant:
    """One of the models, or sizes of inputs, that a network may have."""

    name: str
    source: str
    batch: int = 1
    dimensions: tuple[tuple[str, int], ...] = ()
    accuracy: Accuracy | None = None


@dataclass(frozen=True)
class WorkloadNetwork:
    """One network of a workload, or work that is none: a task, or a dataflow graph, whose actors
    are tasks.

    ``name`` is unique in the workload. ``source`` is a name of the catalogue or a path, empty for a
    task and until a variant is chosen. Copies of one network are entries of their own, each with
    its own mapping.
    """

    name: str
    source: str
    repeats: int = 1
    waits_for: tuple[str, ...] = ()
    arrival_ms: Fraction = Fraction(0)
    deadline_ms: Fraction | None = None
    min_rate_hz: Fraction | None = None
    max_transitions: int | str | None = None
    priority: int = 0
    rate_hz: Fraction | None = None
    """Frequency of its even releases, counted for each image of a batch. With a rate it has no
    repeats of its own."""
    jitter_ms: Fraction = Fraction(0)
    """How much later a release may come."""
    deadline_95_ms: Fraction | None = None
    """Limits the 95th percentile of its responses. Like the next two it needs rates."""
    max_jitter_ms: Fraction | None = None
    max_misses: int | None = None
    """Most responses of a period that may be beyond the deadline."""
    pins: tuple[Pin, ...] = ()
    batch: int = 1
    """Images that it computes at once. A rate counts images."""
    dimensions: tuple[tuple[str, int], ...] = ()
    """Sizes at the first repeat."""
    grows: tuple[tuple[str, int], ...] = ()
    """By how much a dimension is larger at each further repeat."""
    continues: str | None = None
    """The entry, one of ``waits_for``, whose cache it takes over: another phase of the same model.
    """
    times: tuple[TaskTime, ...] = ()
    """Of a task: its times on the units that can run it. Empty for a network."""
    reads_mb: tuple[tuple[str, Fraction], ...] = ()
    """Entries, of ``waits_for``, whose results it reads, with the megabytes that move to its unit
    if that is another one."""
    variants: tuple[Variant, ...] = ()
    """Those that it may be: one has to be chosen."""
    min_accuracy_percent: Fraction | None = None
    """Of its variants."""

    @property
    def original(self) -> str:
        """Return the name of the first copy, for a single network its own."""
        return self.name.rpartition("#")[0] or self.name

    def values_of(self, given: Iterable[tuple[str | None, Value]]) -> tuple[list[Value], ...]:
        """Return the values for all networks (None), for all copies of this one, which are those
        for the first copy, and for this one alone."""
        pairs = list(given)
        return tuple(
            [value for owner, value in pairs if owner == name]
            for name in (None, self.original, self.name)
        )

    @property
    def title(self) -> str:
        """Return the beginning of messages about it."""
        return f"{'task' if self.is_task else 'network'} {self.name!r}"

    @property
    def is_task(self) -> bool:
        """Return whether it is no network."""
        return bool(self.times) or self.is_graph

    @property
    def is_graph(self) -> bool:
        """Return whether it is a dataflow graph."""
        return is_graph_file(self.source)

    @property
    def release_rate_hz(self) -> Fraction | None:
        """Return how often a batch is complete."""
        return None if self.rate_hz is None else self.rate_hz / self.batch

    @property
    def batch_wait_ms(self) -> Fraction:
        """Return the time from the first image of a batch to the last."""
        return Fraction(0) if self.rate_hz is None else 1000 * (self.batch - 1) / self.rate_hz


@dataclass(frozen=True, init=False)
class Workload:
    """All networks of one frame. ``frames_in_flight`` matters if throughput is asked for.

    Examples:
        >>> dse.Workload("vgg19", "resnet50*2", free_running=True)
    """

    networks: tuple[WorkloadNetwork, ...]
    frames_in_flight: int = 2
    frames_per_second: Fraction | None = None
    power_cap_w: Fraction | None = None
    free_running: bool = False
    """No common frame: every network starts its next frame when one of its own ends."""
    runtime: Runtime | None = None
    """None: that of the options, or the platform's."""
    inputs: tuple[tuple[str, str], ...] = field(default=())
    """Files that the workload was read from, with their SHA-256."""

    def __init__(
        self,
        *names: str | Path | tuple[WorkloadNetwork, ...],
        networks: tuple[WorkloadNetwork, ...] = (),
        frames_in_flight: int = 2,
        frames_per_second: Number | None = None,
        power_cap_w: Number | None = None,
        free_running: bool = False,
        runtime: str | Runtime | None = None,
        inputs: tuple[tuple[str, str], ...] = (),
    ) -> None:
        """Build a workload from names of the catalogue, ``.onnx`` files, graphs of SDF3 (``.xml``)
        or ``NAME*COPIES``, or from the tuple of its networks.

        Raises:
            WorkloadError: on a name that is unknown, or a value that is not of its type or range.
        """
        if names and networks:
            raise WorkloadError("networks: names or networks=, not both, are required")
        if len(names) == 1 and isinstance(names[0], tuple):
            networks = names[0]
        elif names:
            for name in names:
                check_type("networks", name, str | Path, "a name or a file for each")
                if str(name).lower().endswith(SUFFIXES):
                    raise WorkloadError(
                        f"networks: names or .onnx files are required, got {str(name)!r}: "
                        "dse.Problem and dse.explore take a workload file by its path"
                    )
            networks = workload_of([str(name) for name in names], find_network).networks
        check_type("networks", networks, tuple, "a tuple of networks")
        for network in networks:
            check_type("networks", network, WorkloadNetwork, "a network for each")
        object.__setattr__(self, "networks", networks)
        object.__setattr__(self, "inputs", inputs)
        kinds: tuple[tuple[str, Kind, object], ...] = (
            ("frames_in_flight", Whole(1, MAX_FRAMES_IN_FLIGHT), frames_in_flight),
            ("frames_per_second", Quantity("HZ"), frames_per_second),
            ("power_cap_w", Quantity("W"), power_cap_w),
            ("free_running", Flag(), free_running),
            ("runtime", Choice(Runtime), runtime),
        )
        optional = ("frames_per_second", "power_cap_w", "runtime")
        for name, kind, value in kinds:
            known = None if value is None and name in optional else kind.read(value, name)
            object.__setattr__(self, name, known)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the networks."""
        return tuple(network.name for network in self.networks)

    def __repr__(self) -> str:
        return f"<dse.Workload: {', '.join(self.names)}>"


def workload_of(
    arguments: Sequence[str], find: Callable[[str], tuple[str, int]] | None = None
) -> Workload:
    """Return a workload from the command line: ``NAME``, ``FILE.onnx`` or ``NAME*COPIES`` each.

    A network that is there more than once gets names ``vgg19``, ``vgg19#2``, ...

    Args:
        find: maps an argument to a source and its copies. Default: any text is a source.

    Raises:
        WorkloadError: on no network, or a number of copies that is none.
    """
    if not arguments:
        raise WorkloadError("networks: at least one is needed, got none")
    networks: list[WorkloadNetwork] = []
    for argument in arguments:
        source, copies = (find or split_copies)(argument)
        networks += [WorkloadNetwork(name=short_name(source), source=source)] * copies
    return Workload(with_unique_names(networks))


def split_copies(argument: str) -> tuple[str, int]:
    """Split ``NAME*3`` into (``NAME``, 3). Without a star, return one copy.

    Raises:
        WorkloadError: if the text after the star is not an integer from 1 to 64.
    """
    source, star, count = argument.rpartition("*")
    if not star:
        return argument, 1
    if not re.fullmatch(r"[0-9]{1,4}", count) or not 1 <= int(count) <= MAX_COPIES:
        raise WorkloadError(
            f"network {argument!r}: after '*' a number of copies from 1 to {MAX_COPIES} is "
            f"required, got {count!r}"
        )
    return source, int(count)


def short_name(source: str) -> str:
    """Return the name of a network in results: the file's stem, or the catalogue's name."""
    stem = re.split(r"[/\\]", source)[-1]
    if is_graph_file(stem):
        stem = stem[: -len(GRAPH_SUFFIX)]
    return stem.removesuffix(".onnx") or source


def with_unique_names(networks: Sequence[WorkloadNetwork]) -> tuple[WorkloadNetwork, ...]:
    """Return the networks with unique names: the second of a name becomes ``NAME#2``, and so on.

    A file may be named ``NAME#2`` itself. The next free number is then taken.
    """
    counts: dict[str, int] = {}
    taken: set[str] = set()
    unique = []
    for network in networks:
        name = network.name
        while name in taken:
            counts[network.name] = counts.get(network.name, 1) + 1
            name = f"{network.name}#{counts[network.name]}"
        taken.add(name)
        unique.append(replace(network, name=name))
    return tuple(unique)


def find_network(text: str, locate: Callable[[str], str] = str) -> tuple[str, int]:
    """Return the source of a network and its number of copies.

    Args:
        text: ``NAME`` of the catalogue or ``FILE``, each also with ``*COPIES``.
        locate: maps a named file to the one that is read. Raises if that is not permitted.

    Raises:
        WorkloadError: on a text that names neither, or a number of copies that is none.
    """
    # Imported here: most commands read result folders, and need no catalogue.
    from paretosoc.sdf.catalogue.catalogue import find_source

    source, copies = split_copies(text)
    with naming("", WorkloadError, GraphError):
        return find_source(source, locate), copies
