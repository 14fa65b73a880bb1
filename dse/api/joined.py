"""All combinations of variants and power modes on a platform, explored into one folder with their
joined front."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from paretosoc.common import compiling
from paretosoc.common.deadline import NEVER, Deadline
from paretosoc.dse.api.pipeline import Explored
from paretosoc.dse.api.problem import Problem
from paretosoc.dse.certificate.certify import Limits
from paretosoc.dse.certificate.close import close
from paretosoc.dse.certificate.strategy import SMALL_NODES, SMALL_SHARE
from paretosoc.dse.errors import InfeasibleError
from paretosoc.dse.inputs.arguments import LEAST_SECONDS
from paretosoc.dse.tools.choose.joined import CombinationFront, label_of, points_for
from paretosoc.dse.tools.choose.joined_folder import DOMINATED, folder_names, write_joined
from paretosoc.dse.tools.choose.joined_result import JoinedResult
from paretosoc.dse.workload.variants import Combination, accuracy_sources
from paretosoc.platforms.power_mode import board_and_mode
from paretosoc.results.export.result_folder import write_closed

NOT_EXPLORED = "not explored: interrupted"


def explore_combinations(
    problems: Sequence[tuple[Combination, Problem]],
    output: Path,
    explore: Callable[[str, Problem, Path, float | None], Explored],
    *,
    time_limit_s: float | None,
    overwrite: bool,
    command: tuple[str, ...],
    prove: bool = True,
    jobs: int | None = None,
    spent_s: float = 0.0,
) -> tuple[JoinedResult, bool]:
    """Explore a problem for each combination of variants, and write their fronts and the joined
    one. Return this, and whether it was interrupted.

    A combination is not explored if a small search proves that members of earlier ones are at least
    as good as all that it has. If it has no feasible design point, that is proved if possible.

    Args:
        problems: one for each combination.
        output: the folder to write.
        explore: explores a combination, by its name, into a folder within a time limit in seconds.
        time_limit_s: of all. Each combination has an equal part of what is left.
        overwrite: replace a joined front in the folder.
        command: that is recorded.
        prove: whether proofs are tried.
        jobs: threads of proofs.
        spent_s: seconds of the limit that have passed.

    Raises:
        DseError: on a folder that cannot be written.
        InfeasibleError: if no design point of any combination meets all constraints.
    """
    began = compiling.clock() - spent_s
    names = folder_names([label_of(each.choices) for each, _ in problems])
    interrupted = False
    failed: InfeasibleError | None = None

    def explore_one(
        place: int, folder: Path, earlier: Sequence[tuple[Combination, CombinationFront]]
    ) -> CombinationFront:
        nonlocal interrupted, failed
        (each, problem), until = problems[place], NEVER
        if time_limit_s is not None:
            own = (time_limit_s - (compiling.clock() - began)) / (len(problems) - place)
            until = Deadline.after(max(own, float(LEAST_SECONDS)))
        of = CombinationFront(each.choices, each.accuracies, folder.name, None)
        objectives = len(problem.numeric.objectives)
        known = [one for other, one in earlier if _is_comparable(each, other)]
        points = points_for(each.accuracies, known, objectives)
        proof = partial(close, problem.numeric, jobs=jobs)
        closed = None
        if prove and len(points):
            small = Limits(SMALL_NODES, until.share(SMALL_SHARE))
            closed = proof(points, limits=small)
            # Without a feasible design point the search says which limit it is.
            closed = closed and (proof(points[:0], limits=small) or closed)
        reason = DOMINATED
        if closed is None or closed.is_infeasible:
            try:
                left = until.left if until.is_limited else None
                explored = explore(label_of(each.choices), problem, folder, left)
            except InfeasibleError as error:
                failed, reason = failed or error, str(error).partition("\n")[0]
                closed = closed or error.closed
                if prove and closed is None:
                    closed = proof(points[:0], limits=Limits(until=until))
            else:
                interrupted = explored.interrupted
                return replace(of, front=explored.front.numeric)
        if closed is None:
            return replace(of, run="", reason=reason)
        write_closed(folder, closed)
        return replace(of, reason=reason, closed=closed)

    def explore_all(part: Path) -> JoinedResult:
        nonlocal interrupted
        found: list[tuple[Combination, CombinationFront]] = []
        for place, ((each, _), name) in enumerate(zip(problems, names, strict=True)):
            of = CombinationFront(each.choices, each.accuracies, "", None, NOT_EXPLORED)
            if not interrupted:
                try:
                    of = explore_one(place, part / name, found)
                except KeyboardInterrupt:
                    interrupted = True
            found.append((each, of))
        if all(of.front is None for _, of in found):
            raise failed or KeyboardInterrupt
        (first, problem), *_ = problems
        name = problem.platform.name
        return JoinedResult(
            platform=board_and_mode(name)[0] if first.mode else name,
            command=command,
            accuracy_sources=accuracy_sources([each for each, _ in problems]),
            combinations=tuple(of for _, of in found),
        )

    return write_joined(output, explore_all, overwrite=overwrite), interrupted


def _is_comparable(one: Combination, other: Combination) -> bool:
    """Return whether their networks are the same but for variants with known accuracies."""
    pairs = ((variant, other.variants[owner]) for owner, variant in one.variants.items())
    return all(a.accuracy is not None or a.source == b.source for a, b in pairs)
