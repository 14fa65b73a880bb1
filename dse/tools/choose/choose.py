"""From a workload and boards to a table: plan, explore what is missing, judge."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from paretosoc.common.options import as_written
from paretosoc.dse.errors import DseError, WorkloadError
from paretosoc.dse.problem.build import BuiltProblem, cost_origins
from paretosoc.dse.problem.constraint_status import limit_and_value
from paretosoc.dse.space.members import rows_of
from paretosoc.dse.tools.analysis.cost_draws import stated_errors
from paretosoc.dse.tools.campaign.execute.exploration import built_problem, explore_run
from paretosoc.dse.tools.campaign.execute.runner import CampaignProgress, do_missing
from paretosoc.dse.tools.campaign.execute.workers import LocalWorkers, SameProcess, Workers
from paretosoc.dse.tools.campaign.plan.campaign_file import check_size, named_workload, setting
from paretosoc.dse.tools.campaign.plan.plan import Plan, PlannedRun, PlanSize
from paretosoc.dse.tools.campaign.plan.run_inputs import RunInputs, inputs_of, program_identity
from paretosoc.dse.tools.campaign.plan.settings import Choice, RunSettings
from paretosoc.dse.tools.campaign.store.run import RunRecord, RunStatus
from paretosoc.dse.tools.campaign.store.store import Store
from paretosoc.dse.tools.choose.boards import (
    Board,
    BoardChoice,
    BoardFormat,
    Standing,
    choose_formats,
    in_order,
    standing_of,
)
from paretosoc.dse.tools.choose.joined import CombinationFront, JoinedFront, join, label_of
from paretosoc.dse.tools.choose.judge import (
    ENERGY,
    assumed_figures,
    figure_limits,
    judge,
    nearest_row,
    times_off_percent,
)
from paretosoc.dse.workload.objectives import OF_FREE_RUNNING
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.variants import Combination, accuracy_sources, combinations
from paretosoc.dse.workload.workload import Workload
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.platforms.io.platform_file import load_platform, platform_names
from paretosoc.platforms.platform import Platform
from paretosoc.platforms.power_mode import board_and_mode
from paretosoc.results.front.choices import choose as choices_of
from paretosoc.results.problem.limits import MEMORY, POOL, LimitSpec, constraints_of
from paretosoc.results.problem.problem import Problem
from paretosoc.results.text.space_description import names_of_kinds

ALL = "all"
EVALUATIONS = 5_000
DRAWS = 300


@dataclass(frozen=True)
class Effort:
    """The effort for each board and combination of variants."""

    max_evaluations: int = EVALUATIONS
    draws: int = DRAWS
    seed: int = 0
    jobs: int = 1
    prove: bool = False


def choose_boards(
    networks: Sequence[str],
    names: Sequence[str],
    folder: Path,
    *,
    precision: Sequence[str],
    options: Mapping[str, object],
    variants: Options,
    prices: tuple[str, Mapping[str, float]],
    effort: Effort,
    on_progress: Callable[[CampaignProgress], None] | None,
) -> BoardChoice:
    """Judge each board for a workload.

    Args:
        names: names or files of platforms, or ``all``.
        folder: of the campaign, which is resumed if there is one.
        precision: number formats, ``FORMAT`` or ``BOARD=FORMAT``.
        options: texts of campaign fields, such as ``power_cap_w``.
        variants: options that say which variants of networks are considered.
        prices: currency, and price by board.

    Raises:
        DseError: on input that cannot be used, whatever the board.
    """
    workload = workload_from(networks)
    platforms, left_out = boards_named(names)
    formats = choose_formats(platforms, precision, workload.runtime)
    explored = [chip for chip in platforms if not formats[chip.name].left_out]
    if not explored:
        reasons = "; ".join(f"{name}: {each.left_out}" for name, each in formats.items())
        raise WorkloadError(f"{as_written('boards')}: no board is left ({reasons})")
    combined = combinations(workload, variants)
    pairs = [(chip, each) for chip in explored for each in combined]
    plan = _plan(networks, workload, names, pairs, formats, options, effort)
    # Input that cannot be used leaves no folder behind.
    inputs = inputs_of(plan, program_identity())
    _check_some_board(plan, inputs)
    with Store(folder, create=True) as store:
        store.set_plan(plan.runs, inputs, plan.title)
        store.retry_failed()
        workers: Workers = SameProcess(explore_run)
        if effort.jobs > 1:
            workers = LocalWorkers(explore_run, effort.jobs)
        try:
            do_missing(store, workers, max_attempts=1, on_progress=on_progress)
        finally:
            workers.close()
        records = list(store.records())
        boards = [
            replace(
                _board(store, record, chip, effort),
                price=prices[1].get(chip.name, prices[1].get(board_and_mode(chip.name)[0])),
                number_format=formats[chip.name].name,
                remark=formats[chip.name].remark,
                variants=each.names,
                accuracies=each.accuracies,
            )
            for record, (chip, each) in zip(records, pairs, strict=True)
        ]
        fronts = _fronts(store, records, pairs) if combined[0].names else ()
        requirements, limits, energy_per = _asked(records, counts_memory="memory_cap_mb" in options)
    boards += [
        Board(chip.name, chip.title, Standing.LEFT_OUT, formats[chip.name].left_out)
        for chip in platforms
        if formats[chip.name].left_out
    ]
    boards += [Board(chip.name, chip.title, Standing.LEFT_OUT, why) for chip, why in left_out]
    return BoardChoice(
        workload=plan.title,
        requirements=requirements,
        draws=effort.draws,
        seed=effort.seed,
        boards=in_order(boards, ENERGY),
        currency=prices[0],
        energy_per=energy_per,
        limits=limits,
        fronts=fronts,
        accuracy_sources=accuracy_sources(combined),
        format_reason=formats[explored[0].name].reason,
    )


def _fronts(
    store: Store, records: Sequence[RunRecord], pairs: Sequence[tuple[Platform, Combination]]
) -> tuple[JoinedFront, ...]:
    """Return the front of all combinations, of each board that has one."""
    found: dict[str, list[CombinationFront]] = {}
    proved: dict[str, bool] = {}
    for record, (chip, each) in zip(records, pairs, strict=True):
        complete = record.status is RunStatus.FINISHED
        if complete:
            front, _ = store.front(record)
            of = CombinationFront(each.names, each.accuracies, record.name, front)
            found.setdefault(chip.name, []).append(of)
            complete = front.is_complete
        proved[chip.name] = proved.get(chip.name, True) and complete
    return tuple(join(name, each, is_complete=proved[name]) for name, each in found.items())


def boards_named(names: Sequence[str]) -> tuple[list[Platform], list[tuple[Platform, str]]]:
    """Return the platforms of these names or files, and those of ``all`` that are no boards.

    Raises:
        WorkloadError: on no name, or the same platform twice.
        PlatformError: on an unknown one.
    """
    if list(names) == [ALL]:
        found = [load_platform(name) for name in platform_names()]
        # Engines in a memory cube, which nobody sells.
        return (
            [chip for chip in found if chip.pe_array is None],
            [(chip, "is no board") for chip in found if chip.pe_array is not None],
        )
    chips = [load_platform(name) for name in names]
    if not chips:
        raise WorkloadError(
            f"{as_written('boards')}: at least one platform is required, or {ALL!r}"
        )
    for index, chip in enumerate(chips):
        if chip.name in [other.name for other in chips[:index]]:
            raise WorkloadError(f"{as_written('boards')}: {chip.name!r} is there twice")
    return chips, []


def _plan(
    networks: Sequence[str],
    workload: Workload,
    names: Sequence[str],
    pairs: Sequence[tuple[Platform, Combination]],
    formats: Mapping[str, BoardFormat],
    options: Mapping[str, object],
    effort: Effort,
) -> Plan:
    here = os.getcwd()
    title = named_workload({"networks": list(networks)}, "networks", here)
    given = {name: setting(name, value, here) for name, value in options.items()}
    memory_mb = given.pop("memory_cap_mb", None)
    files = {load_platform(name).name: name for name in names} if list(names) != [ALL] else {}
    given.setdefault(
        "objectives", ", ".join(OF_FREE_RUNNING) if title.free_running else title.objectives
    )
    runs = tuple(
        PlannedRun(
            RunSettings(
                networks=title.networks,
                platform=str(setting("platform", files.get(chip.name, chip.name), here)),
                precision=formats[chip.name].name,
                memory_cap_mb=_memory_mb(chip, workload, memory_mb),
                max_evaluations=effort.max_evaluations,
                seed=effort.seed,
                engine="auto" if effort.prove else "nsga2",
                prove=effort.prove,
                variants=label_of(each.names) or None,
                **given,  # type: ignore[arg-type]
            ),
            " / ".join(filter(None, [chip.name, formats[chip.name].name, label_of(each.names)])),
            title,
        )
        for chip, each in pairs
    )
    check_size(PlanSize(Plan(title.name, runs, ("costs", "front")), {}))
    return Plan(title.name, runs, ("costs", "front"))


def _check_some_board(plan: Plan, inputs: Sequence[RunInputs]) -> None:
    """Check that some board can run the workload. Its problem is remembered.

    Raises:
        WorkloadError: if none can. The message has the reason for the first.
    """
    reasons: list[str] = []
    for given in inputs:
        try:
            built_problem(given)
            return
        except DseError as error:
            reasons.append(f"{load_platform(given.settings.platform).name}: {error}")
    raise WorkloadError(f"{plan.title}: no board can run it; {reasons[0]}")


def _memory_mb(chip: Platform, workload: Workload, asked: Choice) -> str | None:
    """Return the board's memory as a limit beside those asked for, so that members have their
    memory counted. Phases of a language model share weights, which are counted twice."""
    phases = any(network.continues is not None for network in workload.networks)
    own = None if phases or chip.memory_pools else chip.memory.capacity_bytes
    return ", ".join(str(each) for each in (own and own // 10**6, asked) if each) or None


def _board(store: Store, record: RunRecord, chip: Platform, effort: Effort) -> Board:
    """Return the judgement of a board from its run."""
    board = Board(chip.name, chip.title, Standing.REFUSED, run=record.name)
    if record.status is RunStatus.FAILED:
        lines = (record.error or "").strip().splitlines()
        return replace(board, reason=lines[-1] if lines else "")
    built = built_problem(record.inputs)
    problem, costs = built.problem, cost_origins(built)
    reason = ""
    if record.status is RunStatus.INFEASIBLE:
        rows = nearest_row(problem, effort.seed)
        reason = _reason(record.error or "")
        if not len(rows):
            return replace(board, reason=reason)
    else:
        front, _ = store.front(record)
        rows = rows_of(front.members)[choices_of(front).members]
    errors = stated_errors(problem, costs)
    judged = judge(problem, rows, errors, effort.draws, effort.seed)
    units = sorted(set(problem.design_of(rows[judged.design]).units.tolist()))
    kinds = names_of_kinds(problem)
    used = {problem.units[unit].unit_name: kinds[unit] for unit in units}
    memory, left = judged.memory_bytes, judged.memory_left_bytes
    return replace(
        board,
        standing=standing_of(judged.probability),
        reason=reason,
        probability=judged.probability,
        figures=judged.figures,
        probability_of_design=judged.probability_of_design,
        memory_mb=None if memory is None else memory / 10**6,
        memory_left_mb=None if left is None else left / 10**6,
        times_off_percent=times_off_percent(costs, units),
        assumed=assumed_figures(chip, used, built.precision),
    )


def _reason(error: str) -> str:
    """Return the limits that nothing keeps, from the message of an infeasible run. How to relax
    them, and what is on which unit, is left out."""
    lines = [line for line in error.partition(":")[2].split("\n") if line.strip()]
    parts = [line.split("; ")[: 2 if line.startswith("overloaded") else 1] for line in lines]
    return "; ".join("; ".join(part).strip() for part in parts).replace(" asked for", "")


def _asked(
    records: Sequence[RunRecord], *, counts_memory: bool
) -> tuple[tuple[str, ...], Mapping[str, float], str]:
    """Return the rates and limits of the workload in words, limits by figure, and what energy is
    per: of the last board whose problem can be built, which is remembered."""
    for record in reversed(records):
        if record.status is not RunStatus.FAILED:
            built = built_problem(record.inputs)
            problem = built.problem
            texts = (*_rates(built), *_limits(problem, () if counts_memory else (MEMORY, POOL)))
            return texts, figure_limits(problem), _frame(problem)
    return (), {}, ""


def _rates(built: BuiltProblem) -> list[str]:
    rates = [
        f"{network.name} {float(network.rate_hz):g} per second"
        for network in built.workload.networks
        if network.rate_hz is not None
    ]
    period = built.problem.execution.period_ps
    if not rates and period is not None:
        rates = [f"{10**12 / period:g} frames per second"]
    return rates


def _limits(problem: Problem, left_out: Sequence[LimitSpec]) -> list[str]:
    return [
        f"{limit.name} {limit_and_value(limit, limit.limit)[0]}".removesuffix(
            f" {limit.kind.source}"
        )
        for limit in constraints_of(problem)
        if limit.kind.is_asked
        and limit.kind.field is not None
        and limit.kind.counts is None
        and limit.kind not in left_out
    ]


def _frame(problem: Problem) -> str:
    if not problem.has_rates:
        return "frame of all networks" if problem.execution.has_frame else "image"
    return f"image of {problem.networks[int(np.argmax(problem.images))].name}"
