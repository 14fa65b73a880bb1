"""Evaluation of a single mapping: its objectives and the constraints that it breaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paretosoc.dse.api.member import Member
from paretosoc.dse.api.problem import Problem
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.inputs.arguments import check_type
from paretosoc.dse.inputs.kinds import wrong_argument
from paretosoc.dse.inputs.kinds_by_name import items_by_name
from paretosoc.dse.problem.constraint_status import ConstraintState
from paretosoc.dse.space.mapping_file import load_mapping, mapping_from_document, row_of_mapping
from paretosoc.dse.space.members import evaluate_row
from paretosoc.results.front.schedule import ScheduledMember


@dataclass(frozen=True, eq=False)
class Evaluated:
    """A simulated design point. Its ``member`` may break constraints, unlike one of a front."""

    member: Member
    constraints: tuple[ConstraintState, ...]
    """Every limit with the figure that it limits."""

    @property
    def feasible(self) -> bool:
        """Return whether all constraints are met."""
        return all(state.met for state in self.constraints)

    @property
    def scheduled(self) -> ScheduledMember:
        """Return the member with its schedule."""
        return self.member.scheduled

    def __repr__(self) -> str:
        broken = [state.describe() for state in self.constraints if not state.met]
        words = f"breaks {'; '.join(broken)}" if broken else "feasible"
        return f"<dse.Evaluated: {self.member.values_text}: {words}>"


def evaluate(
    problem: Problem,
    mapping: str | Path | Mapping[str, Any],
    clocks_mhz: Mapping[str, float | str | None] | None = None,
) -> Evaluated:
    """Simulate a design point.

    Args:
        mapping: a file under ``mapping.schema.json``, or network -> a unit, a list of units (one
            per group), or ranges of groups to units as ``pins`` has them: ``{(0, 4): "gpu", ...}``.
        clocks_mhz: domain -> MHz, ``max`` or ``min``. Other domains run at their fastest permitted
            clock.

    Raises:
        WorkloadError: on an argument of another kind, or a network, unit, group or clock that the
            problem does not have or permit.

    Examples:
        >>> dse.evaluate(problem, {"vgg19": "gpu", "resnet50": "dla0"}).member.latency_ms
    """
    check_type("problem", problem, Problem, "a dse.Problem")
    each = "a unit, a list of units, or {(first group, last group): unit}"
    words = f"a file, or network -> {each}"
    check_type("mapping", mapping, str | Path | Mapping, words)
    clocks = None
    if clocks_mhz is not None:
        clocks = items_by_name(clocks_mhz, "clocks_mhz", {"gpu": 1377})
    if isinstance(mapping, str | Path):
        if clocks_mhz is not None:
            raise WorkloadError(f"clocks_mhz: the file {mapping} has the clocks")
        wanted = load_mapping(Path(mapping))
    else:
        for name, units in mapping.items():
            check_type("mapping", name, str, words)
            check_type(f"mapping[{name!r}]", units, str | Sequence | Mapping, each)
        document: dict[str, Any] = {
            "mapping": {name: _units(units, name) for name, units in mapping.items()}
        }
        if clocks is not None:
            document["operating_points"] = dict(clocks)
        wanted = mapping_from_document(document, "")
    row = row_of_mapping(wanted, problem.numeric, problem.costs)
    found = evaluate_row(problem.numeric, row)
    return Evaluated(Member(found.member, -1, (), problem.numeric), found.constraints)


def _units(units: Any, network: str) -> Any:
    """Return the units of a network in the form that files have."""
    if isinstance(units, str):
        return units
    if not isinstance(units, Mapping):
        return list(units)
    ranges = {}
    for groups, unit in units.items():
        match groups:
            case str():
                text = groups
            case (int(first), int(last)):
                text = f"{first:d}-{last:d}"
            case _:
                raise wrong_argument(
                    f"mapping[{network!r}]", "(first group, last group) for each range", groups
                )
        ranges[text] = unit
    return ranges
