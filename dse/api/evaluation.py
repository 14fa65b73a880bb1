"""One mapping of the user's own: what it gives, and which constraints it breaks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dse.api.problem import Problem
from dse.space.evaluate import Evaluated, evaluate_row
from dse.space.mapping_file import load_mapping, mapping_from_document, row_of_mapping

__all__ = ["Evaluated", "evaluate"]


def evaluate(
    problem: Problem,
    mapping: str | Path | Mapping[str, Any],
    clocks_mhz: Mapping[str, float | str | None] | None = None,
) -> Evaluated:
    """Simulate a design point.

    Args:
        mapping: a file under ``mapping.schema.json``, or network -> a unit, a list of units (one
            per group), or ranges of groups to units.
        clocks_mhz: domain -> MHz, ``max`` or ``min``; a domain that is not named runs at its
            fastest permitted clock.

    Raises:
        WorkloadError: on a network, unit, group or clock that the problem does not have or permit.

    Example:
        >>> dse.evaluate(problem, {"vgg19": "gpu", "resnet50": "dla0"}).member.makespan_ps
    """
    if isinstance(mapping, str | Path):
        wanted = load_mapping(Path(mapping))
    else:
        document: dict[str, Any] = {"mapping": dict(mapping)}
        if clocks_mhz is not None:
            document["operating_points"] = dict(clocks_mhz)
        wanted = mapping_from_document(document, "mapping")
    return evaluate_row(problem.numeric, row_of_mapping(wanted, problem.numeric, problem.costs))
