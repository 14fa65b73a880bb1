"""Figures that are sums over the groups, whatever the clocks."""

from __future__ import annotations

from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem

ADDITIVE = frozenset({ObjectiveKind.ACCURACY_LOSS, ObjectiveKind.MEMORY})


def additive_figures(problem: Problem) -> tuple[Objective, ...]:
    """Return losses of accuracy and memory that are objectives or limited, each once. Empty if
    networks run freely, since their bounds over boxes do not include them."""
    if not problem.execution.has_frame:
        return ()
    asked = [objective for objective in problem.objectives if objective.kind in ADDITIVE]
    limited = [
        Objective(ObjectiveKind.ACCURACY_LOSS, n)
        for n, network in enumerate(problem.networks)
        if network.max_loss_ppm is not None
    ]
    if problem.memory_cap_bytes is not None:
        limited.append(Objective(ObjectiveKind.MEMORY))
    return tuple(dict.fromkeys((*asked, *limited)))


def additive_limit(problem: Problem, figure: Objective) -> int | None:
    """Return the most that a problem allows of one of its :func:`additive_figures`."""
    if figure.kind is ObjectiveKind.MEMORY:
        return problem.memory_cap_bytes
    return None if figure.network is None else problem.networks[figure.network].max_loss_ppm
