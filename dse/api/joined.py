"""All combinations of variants on a platform, explored into one folder with their joined front."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from paretosoc.common import compiling
from paretosoc.dse.api.pipeline import Explored, ProgressBar, ProofBar, explore_to_folder
from paretosoc.dse.api.problem import Problem
from paretosoc.dse.engines.explore import SearchSettings
from paretosoc.dse.engines.optimizers import Optimizer
from paretosoc.dse.errors import InfeasibleError
from paretosoc.dse.inputs.arguments import LEAST_SECONDS
from paretosoc.dse.tools.choose.joined import label_of
from paretosoc.dse.tools.choose.joined_folder import folder_names, write_joined
from paretosoc.dse.tools.choose.joined_result import Combined, JoinedResult
from paretosoc.dse.workload.variants import Combination, accuracy_sources
from paretosoc.results.problem.problem_file import problem_sha256

NOT_EXPLORED = "not explored: interrupted"


def explore_combinations(
    problems: Sequence[tuple[Combination, Problem]],
    output: Path,
    optimizer: Optimizer,
    settings: SearchSettings,
    *,
    prove: bool,
    overwrite: bool,
    command: tuple[str, ...],
    search_bar: Callable[[str], ProgressBar],
    proof_bar: Callable[[], ProofBar],
    on_explored: Callable[[str, Explored], None],
    spent_s: float = 0.0,
) -> tuple[JoinedResult, bool]:
    """Explore a problem for each combination of variants, and write their fronts and the joined
    one. Return this, and whether it was interrupted.

    A time limit is shared: each combination has an equal part of what is left.
    ``search_bar``: takes the combination's name. ``on_explored``: called after each combination.

    Raises:
        DseError: on a folder that cannot be written.
        InfeasibleError: if no design point of any combination meets all constraints.
    """
    began = compiling.clock() - spent_s
    names = folder_names([label_of(each.names) for each, _ in problems])
    interrupted = False

    def explore(part: Path) -> JoinedResult:
        nonlocal interrupted
        found: list[Combined] = []
        failed: InfeasibleError | None = None
        for place, ((each, problem), name) in enumerate(zip(problems, names, strict=True)):
            label, front, reason = label_of(each.names), None, NOT_EXPLORED
            if not interrupted:
                limit = settings.time_limit_s
                if limit is not None:
                    left = limit - (compiling.clock() - began)
                    limit = max(left / (len(problems) - place), float(LEAST_SECONDS))
                try:
                    explored = explore_to_folder(
                        problem,
                        part / name,
                        optimizer,
                        replace(settings, time_limit_s=limit),
                        prove=prove,
                        command=command,
                        search_bar=search_bar(label),
                        proof_bar=proof_bar,
                    )
                except KeyboardInterrupt:
                    interrupted = True
                except InfeasibleError as error:
                    failed, reason = failed or error, str(error).partition("\n")[0]
                else:
                    interrupted = explored.interrupted
                    front, reason = explored.front.numeric, ""
                    on_explored(label, explored)
            found.append(
                Combined(
                    variants=each.names,
                    accuracies=each.accuracies,
                    folder="" if front is None else name,
                    problem_sha256=problem_sha256(problem.numeric),
                    front=front,
                    reason=reason,
                )
            )
        if all(one.front is None for one in found):
            raise failed or KeyboardInterrupt
        return JoinedResult(
            platform=problems[0][1].platform.name,
            command=command,
            accuracy_sources=accuracy_sources([each for each, _ in problems]),
            combinations=tuple(found),
        )

    return write_joined(output, explore, overwrite=overwrite), interrupted
