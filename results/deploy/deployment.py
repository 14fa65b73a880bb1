"""The parts of a deployment: the units, clocks and segments of one member of a front."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby

from paretosoc.common.options import as_written
from paretosoc.platforms.deployment import Deployment as BoardSetup
from paretosoc.platforms.platform import Platform
from paretosoc.results.costs.cost_origins import CostOrigins
from paretosoc.results.errors import ResultError
from paretosoc.results.front.front import Front, Member
from paretosoc.results.front.named_members import mark_members
from paretosoc.results.problem.problem import Problem


@dataclass(frozen=True)
class Segment:
    """Consecutive groups of a network on one unit. All fields are indices: units of the problem,
    groups within the network, ``last`` included."""

    network: int
    number: int
    """Counted from 0 within its network."""
    unit: int
    first: int
    last: int

    @property
    def groups(self) -> str:
        """Return ``group 3`` or ``groups 3 to 5``."""
        if self.first == self.last:
            return f"group {self.first}"
        return f"groups {self.first} to {self.last}"


@dataclass(frozen=True, eq=False)
class Deployment:
    """A member, and the board that it is to run on.

    ``origins`` has the layers of the groups and the models, or None if the result folder has none.
    """

    front: Front
    index: int
    """Index of the member."""
    platform: Platform
    origins: CostOrigins | None

    @property
    def problem(self) -> Problem:
        """Return the problem of the front."""
        return self.front.problem

    @property
    def member(self) -> Member:
        """Return the member."""
        return self.front.members[self.index]

    @property
    def marks(self) -> tuple[str, ...]:
        """Names of the member: ``fastest``, ``knee``, ..."""
        return mark_members(self.front).get(self.index, ())

    @property
    def title(self) -> str:
        """Return the member's title in a line."""
        names = ", ".join(network.name for network in self.problem.networks)
        marks = f" ({', '.join(self.marks)})" if self.marks else ""
        return f"{names} on {self.platform.name}: member {self.index}{marks}"

    @property
    def clocks_khz(self) -> dict[str, int | None]:
        """Return the frequency of each domain of the problem, or None if it is off."""
        return self.problem.clocks_khz(self.member.points)

    @property
    def board(self) -> BoardSetup:
        """Return the known facts of setting up the board."""
        return self.platform.deployment or BoardSetup()

    @property
    def cores(self) -> dict[str, int | None]:
        """Return the units that TensorRT builds for: None is the GPU, a number a DLA core."""
        return dict(self.board.tensorrt)

    @property
    def precision(self) -> str:
        """Return the number format of the costs, or several, with commas, if members choose."""
        if self.origins is None:
            return self.platform.default_precision
        return self.origins.precision

    def format_of(self, segment: Segment) -> str:
        """Return the number format of a segment: its own if members choose formats, else that of
        all."""
        return self.problem.units[segment.unit].number_format or self.precision

    @property
    def tasks(self) -> tuple[str, ...]:
        """Return the names of tasks. They have no models: no format runs them."""
        known = () if self.origins is None else self.origins.networks
        return tuple(network.name for network in known if network.source.is_task)

    @property
    def all_segments(self) -> tuple[Segment, ...]:
        """Return the segments of all networks, in order, without those of tasks."""
        return tuple(
            segment
            for n, network in enumerate(self.problem.networks)
            if network.name not in self.tasks
            for segment in self.segments(n)
        )

    @property
    def units_used(self) -> tuple[str, ...]:
        """Return the names of the units that networks of the member use, each once."""
        return tuple(dict.fromkeys(map(self.unit_name, self.all_segments)))

    def unit_name(self, segment: Segment) -> str:
        """Return the name of a segment's unit, without a number format."""
        return self.problem.units[segment.unit].unit_name

    def network_name(self, segment: Segment) -> str:
        """Return the name of a segment's network."""
        return self.problem.networks[segment.network].name

    def segments(self, network: int) -> tuple[Segment, ...]:
        """Return the segments of a network, in order of execution."""
        groups = self.problem.networks[network].groups
        units = self.member.design.units[groups.start : groups.stop].tolist()
        segments: list[Segment] = []
        first = 0
        for unit, run in groupby(units):
            count = len(list(run))
            segments.append(Segment(network, len(segments), unit, first, first + count - 1))
            first += count
        return tuple(segments)

    @property
    def segment_of(self) -> dict[int, Segment]:
        """Return the segment of each group of the problem, also of tasks."""
        return {
            group: segment
            for n, network in enumerate(self.problem.networks)
            for segment in self.segments(n)
            for group in network.groups[segment.first : segment.last + 1]
        }

    @property
    def known_origins(self) -> CostOrigins:
        """Return the origins.

        Raises:
            ResultError: if the result folder has none.
        """
        return require_origins(self.origins)

    def layers(self, segment: Segment) -> tuple[str, ...]:
        """Return the names of the segment's layers, in order of execution.

        Raises:
            ResultError: if the result folder does not list the layers of a group.
        """
        groups = self.known_origins.networks[segment.network].groups
        return tuple(n for group in groups[segment.first : segment.last + 1] for n in group.layers)


@dataclass(frozen=True)
class NetworkFiles:
    """The ONNX files of one network of a deployment."""

    whole: str
    """The network in one piece, its nodes with the names of the layers."""
    segments: tuple[str, ...]
    """One for each segment, or a copy of the model if there is one segment."""


def network_files(deployment: Deployment) -> tuple[NetworkFiles, ...]:
    """Return the file names of each network, of tasks those that they would have: letters, digits
    and ``_.+-`` only, distinct without their extension."""
    taken: set[str] = set()
    files = []
    for n, network in enumerate(deployment.problem.networks):
        stem = re.sub(r"[^A-Za-z0-9_.+-]", "_", network.name).lstrip("-.") or "network"
        name, copy = stem, 2
        while name in taken:
            name, copy = f"{stem}_{copy}", copy + 1
        taken.add(name)
        # A number format stands behind its unit: net.0.gpu.int8.onnx.
        units = [deployment.problem.units[s.unit].name for s in deployment.segments(n)]
        parts = [f"{name}.{k}.{unit.replace(':', '.')}.onnx" for k, unit in enumerate(units)]
        whole = f"{name}.onnx"
        files.append(NetworkFiles(whole, tuple(parts) if len(parts) > 1 else (whole,)))
    return tuple(files)


def require_origins(origins: CostOrigins | None) -> CostOrigins:
    """Return the origins of costs, which name the layers of each group.

    Raises:
        ResultError: if there are none.
    """
    if origins is None:
        raise ResultError(
            "costs.json: is missing, and only it says which layers are in a group; "
            "'dse explore' writes it"
        )
    return origins


def as_target(name: str | None = None) -> str:
    """Return the choice of a format as the caller writes it."""
    return as_written("target", name, command="--to")


def check_platform(platform: Platform, problem: Problem) -> None:
    """Accept a platform with the clocks and units of the problem.

    Raises:
        ResultError: if a domain or unit is missing, or a ladder is another one.
    """
    faults = []
    for domain in problem.domains:
        known = platform.domain_by_name.get(domain.name)
        if known is None:
            faults.append(f"domain {domain.name!r}: {platform.name} has no such domain")
        elif known.frequencies_khz != domain.frequencies_khz:
            faults.append(f"domain {domain.name!r}: {platform.name} has another ladder")
    for unit in problem.units:
        if unit.unit_name not in platform.unit_by_name:
            faults.append(f"unit {unit.unit_name!r}: {platform.name} has no such unit")
    if faults:
        option = as_written("platform")
        raise ResultError(f"{faults[0]}; name the platform of the search with {option}")
