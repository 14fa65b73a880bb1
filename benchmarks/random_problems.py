"""Claims about random small problems of every model, against all their design points.

Each problem is drawn with a front of some of its design points. Of that front the exact search,
ended after 1, 40 or any number of nodes, and bounds over boxes are computed. A deviation is an
error or a warning, a claim that enumeration refutes, or a corner that the check of bounds refuses
to the search.

With ``--applications``, tasks beside networks with variants and batches are drawn instead. Each
combination of variants is explored and proved, or proved to add nothing, and the fronts are joined
as ``dse explore`` does. A front that is proved complete must be the one of all design points, and a
joined front that of all design points of all combinations, with accuracies as objectives.

Usage: ``python -m benchmarks.random_problems [--applications] [--count N] [--first N] [--seed S]
[--jobs N]``. The exit status is 1 on any deviation. ``--first`` begins at a later problem of the
seed. Every 50 problems stderr has a line.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import paretosoc as dse
from benchmarks.problems.enumerated.applications import Application, enumerated_application
from benchmarks.problems.enumerated.formats import enumerated_formats, enumerated_losses
from benchmarks.problems.enumerated.frames import enumerated
from benchmarks.problems.enumerated.models import enumerated_model
from benchmarks.problems.enumerated.rates import enumerated_rates
from benchmarks.problems.enumerated.space import Enumerated, front_of, holds_a_point, is_within
from paretosoc.common.unfinished import temporary_folder
from paretosoc.dse.api.joined import explore_combinations
from paretosoc.dse.api.pipeline import Explored
from paretosoc.dse.certificate.boxes.prove import bound_front
from paretosoc.dse.certificate.certify import Limits, prove
from paretosoc.dse.certificate.preconditions import Goal, Provable, provable
from paretosoc.dse.certificate.strategy import prove_front
from paretosoc.dse.certificate.verify.solvers import wrong_bounds
from paretosoc.dse.errors import InfeasibleError
from paretosoc.results.errors import ResultError
from paretosoc.results.front.bounds import BoundProof
from paretosoc.results.front.certificate import CertificateStatus
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.front import BoundSummary, Front
from paretosoc.results.problem.execution import SearchedOrder
from paretosoc.results.problem.problem import Problem

DRAWS: tuple[Callable[[int], Enumerated | None], ...] = (
    enumerated,
    enumerated_model,
    enumerated_rates,
    enumerated_formats,
    enumerated_losses,
)
NODES = (1, 40, 3_000_000)
MOST_BOXES, MOST_MEMBERS = 3, 4
CLAIMS = (
    *("complete", "in part", "ended", "bounds", "no bounds", "nothing to prove"),
    *("infeasible", "infeasible, proved", "not better", "joined complete", "joined in part"),
)
SEEDS = 1_000_000
"""Numbers of problems of one seed."""
AT_ONCE, EACH_LINE = 20, 50


@dataclass(frozen=True)
class Judged:
    """The claims about one problem."""

    number: int
    model: str
    features: tuple[str, ...]
    said: tuple[str, ...]
    deviation: str | None
    cpu_s: float


def judge(number: int, seed: int = 0) -> Judged:
    """Draw the problem of a number, and compare the claims about it with all its design points."""
    began = time.process_time()
    found, front, rng = _drawn(number, seed)
    said: list[str] = []
    deviation = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for claim in _claims(found, front, rng):
                said.append(claim)
    except Exception:
        deviation = traceback.format_exc()
    problem = found.problem
    return Judged(
        number=number,
        model=model_of(problem),
        features=tuple(name for name, has in FEATURES.items() if has(problem)),
        said=tuple(said),
        deviation=deviation,
        cpu_s=time.process_time() - began,
    )


def judge_application(number: int, seed: int = 0) -> Judged:
    """Draw the application of a number, and compare its fronts with all its design points."""
    began = time.process_time()
    drawn = (enumerated_application((seed * SEEDS + number) * 1000 + k) for k in count())
    application = next(one for one in drawn if one is not None)
    problems = [problem.numeric for problem in application.problems]
    features = {
        "variants": len(problems) > 1,
        "batches": any(n.batch > 1 for p in problems for n in p.networks),
        "waiting": any(n.waits_for for n in problems[0].networks),
        "results that move": bool(problems[0].handovers),
        "power cap": problems[0].power_cap_mw is not None,
    }
    said: list[str] = []
    deviation = None
    try:
        for claim in _joined_claims(application):
            said.append(claim)
    except Exception:
        deviation = traceback.format_exc()
    return Judged(
        number=number,
        model=problems[0].execution.words,
        features=tuple(name for name, has in features.items() if has),
        said=tuple(said),
        deviation=deviation,
        cpu_s=time.process_time() - began,
    )


def _joined_claims(application: Application) -> Iterator[str]:
    """Yield how far the front of each combination, and then the joined one, is proved, once
    enumeration confirms it."""
    combined, enumerated_spaces = application.combined, application.found
    problems = list(zip(combined, application.problems, strict=True))
    try:
        with temporary_folder() as folder:
            result, _ = explore_combinations(
                problems, folder / "joined", _explored, time_limit_s=None, overwrite=False,
                command=(), jobs=1,
            )  # fmt: skip
    except InfeasibleError:
        if any(len(found.feasible) for found in enumerated_spaces):
            raise
        yield "infeasible"
        return
    fronts = {one.run: one.front for one in result.combinations if one.front is not None}
    for one, found in zip(result.combinations, enumerated_spaces, strict=True):
        if one.front is not None:
            complete = one.front.is_complete
            yield _compared(one.front.objective_array, found.feasible, complete=complete)
        elif one.closed is not None and not one.closed.is_infeasible:
            yield "not better"
        elif len(found.feasible):
            raise AssertionError(f"{one.label}: {one.reason}")
        else:
            yield "infeasible" if one.closed is None else "infeasible, proved"
    values = np.concatenate(
        [
            _with_accuracies(fronts[one.run].objective_array[[one.member]], one.accuracies)
            for one in result.joined.members
        ]
    )
    points = np.concatenate(
        [
            _with_accuracies(found.feasible, each.accuracies)
            for each, found in zip(combined, enumerated_spaces, strict=True)
        ]
    )
    if result.proved_ppm is not None and not is_within(values, points, result.proved_ppm):
        raise AssertionError(f"the joined front is not within {result.proved_ppm} ppm")
    yield f"joined {_compared(values, points, complete=result.joined.is_complete)}"


def _explored(_label: str, problem: dse.Problem, _folder: Path, _limit: float | None) -> Explored:
    front = dse.certify(dse.explore(problem, max_evaluations=1000, jobs=1), jobs=1)
    return Explored(front, interrupted=False, not_certified=None, not_proved=None)


def _with_accuracies(objectives: np.ndarray, accuracies: Mapping[str, float]) -> np.ndarray:
    """Return objectives [n, m] with a column for each accuracy, which is to be large."""
    columns = [np.full(len(objectives), -round(1000 * percent)) for percent in accuracies.values()]
    return np.column_stack([objectives, *columns])


def _compared(members: np.ndarray, feasible: np.ndarray, *, complete: bool) -> str:
    """Check that members are among all feasible points, and the best of them if they claim it."""
    points = {tuple(row) for row in feasible.tolist()}
    if not {tuple(row) for row in members.tolist()} <= points:
        raise AssertionError("a member is no feasible design point")
    if not complete:
        return "in part"
    best = feasible[non_dominated(feasible)]
    if not np.array_equal(np.unique(members, axis=0), np.unique(best, axis=0)):
        raise AssertionError("the front is not the one of all design points")
    return "complete"


def _drawn(number: int, seed: int) -> tuple[Enumerated, Front, np.random.Generator]:
    """Return the first problem of a number that has feasible design points and can be
    enumerated."""
    draw = DRAWS[number % len(DRAWS)]
    for attempt in count():
        own = (seed * SEEDS + number) * 1000 + attempt
        found, rng = draw(own), np.random.default_rng((31, own))
        front = None if found is None else front_of(found, rng, int(rng.integers(1, MOST_MEMBERS)))
        if found is not None and front is not None:
            return found, front, rng
    raise AssertionError


def _claims(found: Enumerated, front: Front, rng: np.random.Generator) -> Iterator[str]:
    """Yield each proved claim, once enumeration confirms it."""
    can: Provable | None = None
    with suppress(ResultError):
        can = provable(found.problem, Goal.WHOLE_FRONT)
    if can is None:
        yield "nothing to prove"
        return
    if can.front is not None:
        yield _exact(found, front, int(rng.choice(NODES)))
    if can.bounded:
        yield _bounded(found, front, can.bounded, int(rng.integers(1, MOST_BOXES + 1)))


def _exact(found: Enumerated, front: Front, nodes: int) -> str:
    """Check a search of the whole front: all claims of one that ends, or the findings of one that
    does not."""
    columns = tuple(range(len(found.problem.objectives)))
    if nodes < max(NODES):
        proved = prove(front, columns, limits=Limits(nodes), jobs=1)
        front, claims = proved.front, [proved.claim]
    else:
        outcome = prove_front(front, limits=Limits(nodes), jobs=1)
        front = outcome.front
        claims = [claim for claim in (front.certificate, front.epsilon) if claim is not None]
        _check_bounds(found, front, front.bounds, outcome.bounds)
    reached = [claim for claim in claims if claim.status is not CertificateStatus.GAP]
    for claim in reached:
        _check_epsilon(found, front, claim.objectives, claim.members, claim.epsilon_ppm)
    if front.is_complete:
        best = found.feasible[non_dominated(found.feasible)]
        if not np.array_equal(np.unique(front.objective_array, axis=0), np.unique(best, axis=0)):
            raise AssertionError("the front is not the one of all design points")
        return "complete"
    return "in part" if reached else "ended"


def _bounded(found: Enumerated, front: Front, columns: tuple[int, ...], boxes: int) -> str:
    bounded = bound_front(front, columns, max_boxes=boxes)
    if bounded is None:
        return "no bounds"
    _check_bounds(found, replace(front, bounds=bounded.claim), bounded.claim, bounded.proof)
    if bounded.refused:
        raise AssertionError(f"the check refuses {bounded.refused} corners of the search")
    return "bounds"


def _check_bounds(
    found: Enumerated, front: Front, claim: BoundSummary | None, proof: BoundProof | None
) -> None:
    if claim is None and proof is None:
        return
    wrong = wrong_bounds(front, claim, proof)
    if wrong is not None or claim is None or proof is None:
        raise AssertionError(f"bounds: {wrong}")
    for corner in proof.region:
        if holds_a_point(found.feasible[:, _columns(front, claim.objectives)], corner):
            raise AssertionError(f"bounds: {corner} holds a design point")
    _check_epsilon(found, front, claim.objectives, claim.members, claim.epsilon_ppm)


def _check_epsilon(
    found: Enumerated,
    front: Front,
    objectives: Sequence[str],
    members: Sequence[int],
    epsilon_ppm: int | None,
) -> None:
    columns = _columns(front, objectives)
    values = front.objective_array[list(members)][:, columns]
    if epsilon_ppm is None or not is_within(values, found.feasible[:, columns], epsilon_ppm):
        raise AssertionError(f"{', '.join(objectives)} not within {epsilon_ppm} ppm")


def _columns(front: Front, objectives: Sequence[str]) -> list[int]:
    names = front.problem.objective_names
    return [names.index(name) for name in objectives]


def model_of(problem: Problem) -> str:
    """Return the execution model, and whether networks with rates wait for each other."""
    waits = problem.has_rates and any(network.waits_for for network in problem.networks)
    return problem.execution.words + " that wait for others" * waits


FEATURES: dict[str, Callable[[Problem], bool]] = {
    "number formats": lambda p: any(unit.number_format is not None for unit in p.units),
    "limited losses": lambda p: any(n.max_loss_ppm is not None for n in p.networks),
    "memory": lambda p: any(unit.weight_bytes is not None for unit in p.units),
    "memory cap": lambda p: p.memory_cap_bytes is not None,
    "memory pools": lambda p: bool(p.memory_pools),
    "priorities": lambda p: any(n.priority for n in p.networks),
    "transitions as work": lambda p: any(unit.moves_tensors for unit in p.units),
    "searched order of networks": lambda p: p.searched_order is SearchedOrder.NETWORKS,
    "searched order of groups": lambda p: p.searched_order is SearchedOrder.GROUPS,
    "phases": lambda p: bool(p.handovers) or any(u.step_ps is not None for u in p.units),
    "batches": lambda p: any(n.batch > 1 for n in p.networks),
    "segments": lambda p: any(unit.max_segments is not None for unit in p.units),
    "transitions": lambda p: any(n.max_transitions is not None for n in p.networks),
    "power cap": lambda p: p.power_cap_mw is not None,
    "energy budget": lambda p: p.energy_budget_fj is not None,
    "deadlines": lambda p: any(n.deadline_ps is not None for n in p.networks),
    "least rates": lambda p: any(n.min_rate_uhz is not None for n in p.networks),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge the problems. Return the exit status."""
    parser = argparse.ArgumentParser(description="claims about random problems, by enumeration")
    parser.add_argument(
        "--applications", action="store_true", help="with tasks, variants and batches"
    )
    parser.add_argument("--count", type=int, default=1000, help="problems to draw")
    parser.add_argument("--first", type=int, default=0, help="number of the first problem")
    parser.add_argument("--seed", type=int, default=0, help="another seed draws other problems")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    options = parser.parse_args(arguments)
    numbers = range(options.first, options.first + options.count)
    judging = partial(judge_application if options.applications else judge, seed=options.seed)
    if options.jobs == 1:
        return show(map(judging, numbers))
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as processes:
        return show(processes.map(judging, numbers, chunksize=AT_ONCE))


def show(judged: Iterable[Judged]) -> int:
    """Print deviations as they come, then counts. Return 1 if there are any deviations, else 0."""
    models: Counter[str] = Counter()
    said: Counter[tuple[str, str]] = Counter()
    features: Counter[str] = Counter()
    seconds: defaultdict[str, float] = defaultdict(float)
    deviations = 0
    for place, one in enumerate(judged, 1):
        models[one.model] += 1
        features.update(one.features)
        said.update((one.model, claim) for claim in one.said)
        seconds[one.model] += one.cpu_s
        if one.deviation is not None:
            deviations += 1
            print(f"problem {one.number}: {one.model}, {', '.join(one.features)}", flush=True)
            print(one.deviation, flush=True)
        if place % EACH_LINE == 0:
            cpu_s = sum(seconds.values())
            text = f"{place} problems, {deviations} deviations, {cpu_s:.0f} CPU seconds"
            print(text, file=sys.stderr, flush=True)
    columns = tuple(claim for claim in CLAIMS if any(claim == found for _, found in said))
    print("model: problems; " + ", ".join(columns) + "; CPU seconds")
    for model, number in sorted(models.items()):
        counts = ", ".join(str(said[model, claim]) for claim in columns)
        print(f"{model}: {number}; {counts}; {seconds[model]:.0f}")
    print("with " + ", ".join(f"{name} {number}" for name, number in sorted(features.items())))
    cpu_s = sum(seconds.values())
    print(f"{models.total()} problems, {deviations} deviations, {cpu_s:.0f} CPU seconds")
    return int(deviations > 0)


if __name__ == "__main__":
    sys.exit(main())
