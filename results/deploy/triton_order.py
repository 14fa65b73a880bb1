"""Which part of a plan Triton keeps: by what models read from each other, and by the priorities of
its rate limiter.

The rate limiter (``RateLimiter`` in Triton's core) has one queue of all models that wait. The first
is the one with the least priority times executions so far. It alone is tried: while its unit is
busy nothing else starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from paretosoc.results.deploy.deployment import Deployment, NetworkFiles, Segment
from paretosoc.results.deploy.deployment_document import EnginePlan, PlannedRun


@dataclass(frozen=True)
class TritonOrder:
    """Priorities and resources of the models, and what they do not keep."""

    priority: dict[Segment, int]
    """1 if there is nothing to decide, else the priority by place in the plan."""
    rivals: tuple[str, ...]
    """Units on which models of one frame, or of several, may wait at once: each is a resource."""
    requests: tuple[str, ...]
    """Networks in the order in which an application asks for them."""
    not_kept: tuple[str, ...]
    """Reasons why the order may be another one than planned, a sentence each."""


def triton_order(
    deployment: Deployment, plan: EnginePlan | None, files: Sequence[NetworkFiles]
) -> TritonOrder:
    """Return the order that Triton keeps.

    Args:
        plan: of its engines; None if networks have no common frame.
    """
    segments = deployment.all_segments
    networks = deployment.problem.networks
    names = tuple(network.name for network in networks)
    everything = tuple(sorted(deployment.units_used))
    if plan is None or deployment.tasks:
        reason = "Networks have no common frame: those with fewer executions go first."
        if deployment.tasks:
            reason = (
                f"The application runs {', '.join(deployment.tasks)}, and so decides when it asks "
                "for a model: deployment.json has the plan."
            )
        return TritonOrder(dict.fromkeys(segments, 1), everything, names, (reason,))
    of_run = {(s.network, s.number): s for s in segments}
    placed = [of_run[run.network, run.segment] for run in plan.runs]
    units = [deployment.unit_name(segment) for segment in placed]
    before = _before(plan.runs)
    undecided = [
        (a, b)
        for a, b in combinations(range(len(units)), 2)
        if units[a] == units[b] and a not in before[b]
    ]
    overlap = deployment.problem.execution.frames_overlap
    rivals = everything if overlap else tuple(sorted({units[a] for a, _ in undecided}))

    def model(segment: Segment) -> str:
        return files[segment.network].segments[segment.number].partition("/")[0]

    requests = tuple(dict.fromkeys(names[run.network] for run in plan.runs))

    def waits_already(a: int, b: int) -> bool:
        """Return whether run a waits for its unit before run b does."""
        one, other = plan.runs[a], plan.runs[b]
        if one.ready_ns > other.ready_ns:
            return False
        if one.waits_for:
            earlier = set[int]().union(*(before[source] for source in other.waits_for))
            return set(one.waits_for) <= earlier
        asked = [(requests.index(names[run.network]), run.segment) for run in (one, other)]
        return bool(other.waits_for) or asked[0] <= asked[1]

    reasons = [
        f"{units[a]}: {model(placed[b])} runs before {model(placed[a])} if its inputs are there "
        "first."
        for a, b in undecided
        if not waits_already(a, b)
    ]
    if overlap:
        reasons.append("Frames overlap, and the plan is one of a single frame.")
    if len(rivals) > 1:
        reasons.append(
            f"Models wait for several units ({', '.join(rivals)}), and Triton tries only the first "
            "of all that wait: a unit may stay idle though a model for it is ready."
        )
    often = [network.name for network in networks if network.repeats > 1]
    if often and rivals:
        reasons.append(
            f"{', '.join(often)}: executed more often than others, which raises the number that "
            "is compared."
        )
    priority = dict.fromkeys(segments, 1)
    for place, segment in reversed(list(enumerate(placed))):
        if deployment.unit_name(segment) in rivals:
            priority[segment] = 2 + place
    return TritonOrder(priority, rivals, requests, tuple(dict.fromkeys(reasons)))


def triton_readme(deployment: Deployment, order: TritonOrder) -> str:
    """Return the text of ``README.md`` in a model repository."""
    limit = " --rate-limit=execution_count" if order.rivals else ""
    lines = [f"# {deployment.title}", ""]
    if any(unit in deployment.cores for unit in deployment.units_used):
        lines.append("    sh engines.sh")
    lines += [f"    tritonserver --model-repository .{limit}", ""]
    if order.rivals:
        lines += [
            f"Models on {', '.join(order.rivals)} wait for each other: the unit is a resource, and "
            "their priorities are their places in the plan. Of those that wait Triton takes the "
            "one with the least priority times executions so far. Run one frame before others, "
            "one frame at a time; in each, ask once for every network, in this order: "
            f"{', '.join(order.requests)}."
        ]
    else:
        lines += [
            "The order on every unit follows from what the models read from each other, so that "
            "Triton keeps the plan if one frame runs at a time: no model needs a resource."
        ]
    if order.not_kept:
        lines += [
            "",
            "Triton may run models in another order than planned. Latencies are then others than "
            "predicted, and no guarantee holds:",
            "",
            *(f"- {reason}" for reason in order.not_kept),
        ]
    return "\n".join(lines) + "\n"


def _before(runs: Sequence[PlannedRun]) -> list[set[int]]:
    """Return the runs that end before each one begins, since it reads from them."""
    before: list[set[int]] = []
    for run in runs:
        before.append(set(run.waits_for).union(*(before[other] for other in run.waits_for)))
    return before
