"""All combinations of variants on a platform, explored into one folder with their joined front."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from paretosoc.common import compiling
from paretosoc.dse.api.pipeline import Explored
from paretosoc.dse.api.problem import Problem
from paretosoc.dse.errors import InfeasibleError
from paretosoc.dse.inputs.arguments import LEAST_SECONDS
from paretosoc.dse.tools.choose.joined import CombinationFront, label_of
from paretosoc.dse.tools.choose.joined_folder import folder_names, write_joined
from paretosoc.dse.tools.choose.joined_result import JoinedResult
from paretosoc.dse.workload.variants import Combination, accuracy_sources

NOT_EXPLORED = "not explored: interrupted"


def explore_combinations(
    problems: Sequence[tuple[Combination, Problem]],
    output: Path,
    explore: Callable[[str, Problem, Path, float | None], Explored],
    *,
    time_limit_s: float | None,
    overwrite: bool,
    command: tuple[str, ...],
    spent_s: float = 0.0,
) -> tuple[JoinedResult, bool]:
    """Explore a problem for each combination of variants, and write their fronts and the joined
    one. Return this, and whether it was interrupted.

    Args:
        problems: one for each combination.
        output: the folder to write.
        explore: explores a combination, by its name, into a folder within a time limit in seconds.
        time_limit_s: of all. Each combination has an equal part of what is left.
        overwrite: replace a joined front in the folder.
        command: that is recorded.
        spent_s: seconds of the limit that have passed.

    Raises:
        DseError: on a folder that cannot be written.
        InfeasibleError: if no design point of any combination meets all constraints.
    """
    began = compiling.clock() - spent_s
    names = folder_names([label_of(each.names) for each, _ in problems])
    interrupted = False

    def explore_all(part: Path) -> JoinedResult:
        nonlocal interrupted
        found: list[CombinationFront] = []
        failed: InfeasibleError | None = None
        for place, ((each, problem), name) in enumerate(zip(problems, names, strict=True)):
            front, reason = None, NOT_EXPLORED
            if not interrupted:
                limit = time_limit_s
                if limit is not None:
                    left = limit - (compiling.clock() - began)
                    limit = max(left / (len(problems) - place), float(LEAST_SECONDS))
                try:
                    explored = explore(label_of(each.names), problem, part / name, limit)
                except KeyboardInterrupt:
                    interrupted = True
                except InfeasibleError as error:
                    failed, reason = failed or error, str(error).partition("\n")[0]
                else:
                    interrupted = explored.interrupted
                    front, reason = explored.front.numeric, ""
            run = "" if front is None else name
            found.append(CombinationFront(each.names, each.accuracies, run, front, reason))
        if all(one.front is None for one in found):
            raise failed or KeyboardInterrupt
        return JoinedResult(
            platform=problems[0][1].platform.name,
            command=command,
            accuracy_sources=accuracy_sources([each for each, _ in problems]),
            combinations=tuple(found),
        )

    return write_joined(output, explore_all, overwrite=overwrite), interrupted
