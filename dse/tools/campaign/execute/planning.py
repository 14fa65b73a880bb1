"""Planning: from a campaign file to a store with its runs, and an estimate of their time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from paretosoc.dse.tools.campaign.execute.workers import attempt
from paretosoc.dse.tools.campaign.plan.campaign_file import load_plan
from paretosoc.dse.tools.campaign.plan.plan import PlanSize
from paretosoc.dse.tools.campaign.plan.run_inputs import RunInputs, inputs_of, program_identity
from paretosoc.dse.tools.campaign.store.run import RunTask
from paretosoc.dse.tools.campaign.store.store import Store

PROBED_RUNS = 3
PROBED_EVALUATIONS = 1_000, 3_000


@dataclass(frozen=True)
class Probe:
    """Estimated time of the runs of a plan, from short ones of a few of them.

    ``core_seconds``: of all runs, one after the other, or None if no short one ended well.
    """

    runs: int
    seconds: float
    core_seconds: float | None
    errors: tuple[str, ...]


def plan_store(path: Path, folder: Path) -> Store:
    """Return the store in ``folder``, made if there is none, with the runs of a campaign file.

    Raises:
        WorkloadError, PlatformError, ResultError, OSError: as :func:`load_plan` and the store.
    """
    plan = load_plan(path)
    inputs = inputs_of(plan, program_identity())
    store = Store(folder, create=True)
    store.set_plan(plan.runs, inputs, plan.title)
    return store


def probe(size: PlanSize, inputs: Sequence[RunInputs]) -> Probe:
    """Run a few of the plan's runs short, twice each. The difference of the two gives the pace of
    the search. The rest is spent once per run, and once per problem on building it.

    One run is repeated with its proof, if it has one: all others are taken to take as long.
    """
    from paretosoc.dse.tools.campaign.execute.exploration import explore_run

    every = max(1, len(inputs) // PROBED_RUNS)
    samples = inputs[every // 2 :: every][:PROBED_RUNS]
    first: list[float] = []
    again: list[float] = []
    pace: list[float] = []
    proofs: list[float] = []
    spent = 0.0
    errors = []
    # Once for nothing: the first run of a process loads libraries and machine code.
    attempt(explore_run, _short(inputs[0], PROBED_EVALUATIONS[0]))
    for entry in samples:
        seconds = []
        tasks = [_short(entry, most) for most in (PROBED_EVALUATIONS[0], *PROBED_EVALUATIONS)]
        if entry.settings.prove and not proofs:
            tasks.append(_short(entry, PROBED_EVALUATIONS[0], prove=True))
        for task in tasks:
            ended = attempt(explore_run, task)
            if ended.outcome is None:
                errors.append(ended.error)
                break
            seconds.append((ended.outcome.seconds, ended.outcome.evaluations))
            spent += ended.outcome.seconds
        else:
            (build, _), short, longer, *proved = seconds
            first.append(max(0.0, build - short[0]))
            once, each = once_and_each(short, longer)
            again.append(once)
            pace.append(each)
            proofs += [max(0.0, whole - short[0]) for whole, _ in proved]
    if not pace:
        return Probe(len(samples), spent, None, tuple(errors))
    mean = [sum(values) / len(values) for values in (first, again, pace)]
    total = mean[0] * size.problems + mean[1] * size.runs + mean[2] * size.evaluations
    total += sum(proofs) * size.times(sum(run.settings.prove for run in size.plan.runs))
    return Probe(len(samples), spent, total, tuple(errors))


def once_and_each(short: tuple[float, int], longer: tuple[float, int]) -> tuple[float, float]:
    """Return the seconds that a run takes once, and for each evaluation, from two runs of one
    problem, in seconds and evaluations.

    If the longer one made no more evaluations, because none were left or allowed, the two differ by
    chance alone. Their time then counts once, with no pace.
    """
    more = longer[1] - short[1]
    if more <= 0:
        return min(short[0], longer[0]), 0.0
    each = max(0.0, longer[0] - short[0]) / more
    return max(0.0, short[0] - short[1] * each), each


def _short(inputs: RunInputs, evaluations: int, *, prove: bool = False) -> RunTask:
    settings = replace(
        inputs.settings,
        max_evaluations=min(evaluations, inputs.settings.max_evaluations),
        prove=prove,
    )
    entry = replace(inputs, settings=settings, starts_from=None)
    return RunTask(entry.hash, entry)
