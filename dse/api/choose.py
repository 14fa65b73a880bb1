"""Which board serves a workload, and all combinations of variants and power modes on one platform,
explored into one folder with their joined front."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from paretosoc.common import compiling
from paretosoc.common.deadline import NEVER, Deadline
from paretosoc.common.files import replace_file
from paretosoc.common.options import as_written
from paretosoc.common.unfinished import temporary_folder
from paretosoc.dse.api.pipeline import Explored
from paretosoc.dse.api.problem import Problem
from paretosoc.dse.certificate.certify import Limits
from paretosoc.dse.certificate.close import close
from paretosoc.dse.certificate.strategy import SMALL_NODES, SMALL_SHARE
from paretosoc.dse.errors import InfeasibleError, WorkloadError
from paretosoc.dse.inputs.arguments import (
    LEAST_SECONDS,
    check_arguments,
    check_keywords,
    check_type,
)
from paretosoc.dse.inputs.exact_numbers import exact
from paretosoc.dse.inputs.kinds import wrong_argument
from paretosoc.dse.tools.campaign.execute.runner import CampaignProgress
from paretosoc.dse.tools.choose.boards import BoardChoice, load_prices
from paretosoc.dse.tools.choose.choose import ALL, DRAWS, EVALUATIONS, Effort, choose_boards
from paretosoc.dse.tools.choose.joined import CombinationFront, joined_csv, label_of, points_for
from paretosoc.dse.tools.choose.joined_folder import DOMINATED, folder_names, write_joined
from paretosoc.dse.tools.choose.joined_result import JoinedResult
from paretosoc.dse.tools.choose.page import boards_page, boards_svg
from paretosoc.dse.workload.options import read_options
from paretosoc.dse.workload.variants import Combination, accuracy_sources
from paretosoc.platforms.io.platform_file import platform_names
from paretosoc.platforms.power_mode import board_and_mode
from paretosoc.results.export.result_folder import write_closed

OPTIONS = (
    *("variants", "min_accuracy_percent"),
    *("groups", "max_transitions", "batch", "deadline_ms", "frames_per_second", "power_cap_w"),
    "objectives",
)
"""Options of a problem that hold for every board."""
PAGE, PICTURE, DOCUMENT, FRONTS = "boards.html", "boards.svg", "boards.json", "front.csv"
_OF_VARIANTS = OPTIONS[:2]


def choose(
    networks: str | Path | Sequence[str | Path],
    boards: str | Sequence[str | Path] = ALL,
    *,
    folder: str | Path | None = None,
    prices: str | Path | Mapping[str, float] | None = None,
    precision: str | Sequence[str] = (),
    max_evaluations: int = EVALUATIONS,
    draws: int = DRAWS,
    seed: int = 0,
    jobs: int = 1,
    prove: bool = False,
    on_progress: Callable[[CampaignProgress], None] | None = None,
    **options: Any,
) -> BoardChoice:
    """Return which boards keep all rates and limits of a workload, and how sure that is, as ``dse
    choose``.

    Every board is explored once, in one number format. Its design points are then simulated with
    costs that are drawn from their errors. A workload whose networks have variants is explored once
    for each combination of them, and the fronts are joined, with accuracies as objectives.

    Args:
        networks: names, ``.onnx`` files, or one workload file.
        boards: names or files of platforms. Default: all that come with the program.
        folder: keeps the explorations, so that a later call only makes those that are missing, and
            ``boards.html``, ``boards.svg`` and ``boards.json``; with variants also ``front.csv``.
        prices: a file, or prices by board.
        precision: number formats, ``fp16`` for all boards or ``rk3588=int8`` for one. Default: one
            that all boards have.
        max_evaluations: number of design points to evaluate for each board.
        draws: how often costs are drawn.
        seed: of search and draws.
        jobs: number of worker processes.
        prove: whether fronts are proved complete, as far as that is possible.
        on_progress: called as boards are done.
        options: ``variants`` and ``min_accuracy_percent``, which leave variants out, and
            ``groups``, ``max_transitions``, ``batch``, ``deadline_ms``, ``frames_per_second`` and
            ``power_cap_w`` of :class:`dse.Problem`, beside those of the workload file; and
            ``objectives``, of the explorations and of the joined front.

    Raises:
        DseError: on input that cannot be used, whatever the board.

    Examples:
        >>> found = dse.choose("examples/workloads/camera.yaml",
        ...                    ["jetson-orin-nano-8gb", "rk3588"])
        >>> found.boards[0].name, found.boards[0].probability
    """
    check_arguments(max_evaluations=max_evaluations, draws=draws, seed=seed, jobs=jobs)
    unknown = {name: value for name, value in options.items() if name not in OPTIONS}
    check_keywords("choose", unknown, OPTIONS)
    chosen = read_options(options)
    names, asked = _listed("boards", boards), _listed("precision", precision)
    with ExitStack() as stack:
        place = stack.enter_context(temporary_folder()) / "c" if folder is None else Path(folder)
        found = choose_boards(
            _listed("networks", networks),
            names,
            place,
            precision=asked,
            options={
                name: _text(value)
                for name, value in options.items()
                if value is not None and name not in _OF_VARIANTS
            },
            variants=chosen,
            prices=_prices(prices, names),
            effort=Effort(max_evaluations, draws, seed, jobs, prove),
            on_progress=on_progress,
        )
        if folder is not None:
            for name, text in (
                (PAGE, boards_page(found)),
                (PICTURE, boards_svg(found)),
                (DOCUMENT, json.dumps(found.to_document(), indent=1) + "\n"),
                *(((FRONTS, joined_csv(found.fronts)),) if found.fronts else ()),
            ):
                replace_file(place / name, text.encode())
    return found


def _listed(name: str, given: str | Path | Sequence[str | Path]) -> list[str]:
    words = "a name or a file, or several of them"
    check_type(name, given, str | Path | Sequence, words)
    values = [given] if isinstance(given, str | Path) else list(given)
    for value in values:
        check_type(name, value, str | Path, words)
    return [str(value) for value in values]


def _text(value: object) -> object:
    """Return a value as campaign files have it."""
    if isinstance(value, Mapping):
        return ", ".join(
            f"{one}" if name is None else f"{name}={one}"
            for name, each in value.items()
            for one in (each if isinstance(each, list | tuple) else [each])
        )
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(str, value))
    return value if isinstance(value, int) else str(value)


def _prices(
    given: str | Path | Mapping[str, float] | None, names: Sequence[str]
) -> tuple[str, Mapping[str, float]]:
    known = dict.fromkeys((*platform_names(), *names))
    if given is None:
        return "", {}
    if not isinstance(given, Mapping):
        return load_prices(given, known)
    for name, price in given.items():
        number = exact(price)
        if number is None or number < 0:
            raise wrong_argument("prices", "a number of at least 0 for each board", price)
        if name not in known:
            raise WorkloadError(f"{as_written('prices')}: there is no board {name!r}")
    return "", given


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
