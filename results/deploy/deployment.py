"""The parts of a deployment: the units, clocks and segments of one member of a front."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

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


@dataclass(frozen=True, eq=False)
class Deployment:
    """A member, and the board that it is to run on.

    ``origins`` has the layers of the groups and the models, or None if the result folder has none.
    """

    front: Front
    index: int
    """Of the member."""
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
        points = self.member.design.operating_points.tolist()
        return {
            domain.name: domain.frequencies_khz[point] if on else None
            for domain, point, on in zip(
                self.problem.domains, points, self.member.domain_on, strict=True
            )
        }

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

    def layers(self, segment: Segment) -> tuple[str, ...]:
        """Return the names of the segment's layers, in order of execution.

        Raises:
            ResultError: if the result folder does not list the layers of a group.
        """
        if self.origins is None:
            raise ResultError(
                "costs.json: is missing, and only it says which layers are in a group; "
                "'dse explore' writes it"
            )
        groups = self.origins.networks[segment.network].groups[segment.first : segment.last + 1]
        return tuple(name for group in groups for name in group.layers)


def check_one_format(deployment: Deployment, target: str) -> None:
    """Accept a member if all its groups have one number format.

    Raises:
        ResultError: if formats are chosen. The message names the target.
    """
    if deployment.problem.has_formats:
        raise ResultError(
            f"{target} has one number format for a network, and members choose among several: "
            "--to trtexec and --to triton build an engine for each segment in its own"
        )


def check_platform(deployment: Deployment) -> None:
    """Accept a platform with the clocks and units of the problem.

    Raises:
        ResultError: if a domain or unit is missing, or a ladder is another one.
    """
    platform, problem = deployment.platform, deployment.problem
    for domain in problem.domains:
        known = platform.domain_by_name.get(domain.name)
        ladder = () if known is None else tuple(p.frequency_khz for p in known.operating_points)
        if ladder != domain.frequencies_khz:
            what = "has no such domain" if known is None else "has another ladder"
            raise ResultError(
                f"domain {domain.name!r}: {platform.name} {what}; name the platform of the search "
                "with --platform"
            )
    for unit in problem.units:
        if unit.unit_name not in platform.unit_by_name:
            raise ResultError(
                f"unit {unit.unit_name!r}: {platform.name} has no such unit; name the platform of "
                "the search with --platform"
            )
