"""Z3 shows that Eq. 1 to 11 have no faster solution where enumeration says so, and only there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import z3

from benchmarks.problems.memory import with_memory
from benchmarks.problems.number_formats import with_formats, with_twin
from paretosoc.dse.certificate.formulation import prove
from paretosoc.dse.certificate.formulation.parts import Hints
from paretosoc.dse.certificate.formulation.prove import (
    FormulationProgress,
    _only,
    prove_formulation,
)
from paretosoc.dse.certificate.formulation.refute import Ended, NotShown, Refutation
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from tests.dse.certificate.test_interchangeable_units import with_twins
from tests.support.formulation.whole_equations import Setting, WholeEquations
from tests.support.problems.random_spaces import (
    NOTHING,
    Space,
    random_limited_problem,
    size_of,
    space_of,
)

MAX_DESIGNS = 3_000
FAR = 1 << 60
"""No makespan is larger."""


def random_spaces(
    seed: int, count: int, *, twins: bool = False, formats: bool = False
) -> list[Space]:
    """Random problems with graphs, copies, clocks, limits and deadlines; with number formats also
    with limits on losses and memory."""
    rng = np.random.default_rng([22, seed])
    spaces: list[Space] = []
    while len(spaces) < count:
        problem = random_limited_problem(rng, engines=False)
        problem = replace(problem, objectives=(Objective(ObjectiveKind.LATENCY),))
        if formats:
            problem = with_formats(rng, problem, most=2)
            problem = with_memory(rng, with_twin(rng, problem) if twins else problem)
        elif twins and len(problem.units) > 1:
            u, v = sorted(rng.choice(len(problem.units), 2, replace=False).tolist())
            problem = with_twins(problem, u, v)
        if not problem.has_phases and 0 < size_of(problem) <= MAX_DESIGNS:
            spaces.append(space_of(problem))
    return spaces


def is_refuted(problem: Problem, makespan_ps: int) -> bool:
    """Whether Z3 shows that nothing is faster."""
    try:
        Refutation(problem, 0, makespan_ps).refute(())
    except Ended:
        raise
    except NotShown:
        return False
    return True


@pytest.mark.parametrize(
    ("twins", "formats"), [(False, False), (True, False), (False, True), (True, True)]
)
@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_is_shown_and_nothing_above_it(
    seed: int, *, twins: bool, formats: bool
) -> None:
    for space in random_spaces(seed, 3, twins=twins, formats=formats):
        best = space.best
        if best is None:
            assert is_refuted(space.problem, FAR)
            continue
        row = space.rows[int(space.value.argmin())]
        fastest = space.problem.design_of(row)
        shown = prove_formulation(space.problem, fastest, best)
        assert shown.optimum_ps == best
        assert not is_refuted(space.problem, best + 1)
        for wrong in (best - 1, best + 1):
            with pytest.raises(NotShown):
                prove_formulation(space.problem, fastest, wrong)


@pytest.mark.parametrize("formats", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_each_design_point_has_its_makespan(seed: int, *, formats: bool) -> None:
    rng = np.random.default_rng([23, seed])
    (space,) = random_spaces(100 + seed, 1, formats=formats)
    feasible = np.flatnonzero(space.value.reshape(-1) != NOTHING)
    for cell in rng.permutation(feasible)[:20].tolist():
        makespan = int(space.value.reshape(-1)[cell])
        alone = _only(space.problem, space.problem.design_of(space.rows[cell]))
        assert Refutation(alone, 0, makespan + 1).has_solution()
        assert not Refutation(alone, 0, makespan).has_solution()
        assert is_refuted(alone, makespan)


@pytest.mark.parametrize("formats", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_all_that_is_added_follows_from_the_whole_equations(seed: int, *, formats: bool) -> None:
    """Eq. 1 to 11 at once, of one design point: Z3 shows each constraint of its refutation."""
    small = [
        space
        for space in random_spaces(200 + seed, 12, formats=formats)
        if space.best is not None and int(space.problem.repeats.sum()) <= 4
    ]
    assert small
    for space in small[:2]:
        row = space.rows[int(space.value.argmin())]
        alone = _only(space.problem, space.problem.design_of(row))
        refutation = Refutation(alone, 0, FAR)
        assert refutation.has_solution()
        whole = z3.Solver()
        whole.add(WholeEquations(alone, Setting.DISPATCH).constraints)
        for added in refutation._solver.assertions():
            assert whole.check(z3.Not(added)) == z3.unsat or "makespan <=" in str(added)


@pytest.fixture(scope="module")
def space() -> Space:
    """One with several parts."""
    for candidate in random_spaces(300, 40):
        if candidate.best is not None:
            refutation = Refutation(candidate.problem, 0, candidate.best)
            refutation.refute(())
            if refutation.parts > 8:
                return candidate
    raise AssertionError("no problem has several parts")


def test_hints_are_not_trusted(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    best = space.best
    assert best is not None
    with monkeypatch.context() as wrong:
        wrong.setattr(Hints, "is_closed", lambda *_: True)
        assert not is_refuted(space.problem, best)
    refutation = Refutation(space.problem, 0, best)
    lemmas = refutation._lemmas
    children = lemmas.children
    monkeypatch.setattr(lemmas, "children", lambda lemma: children(lemma)[1:])
    with pytest.raises(NotShown):
        refutation.refute(())


def test_parts_are_shared_out(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    best = space.best
    assert best is not None
    fastest = space.problem.design_of(space.rows[int(space.value.argmin())])
    one = prove_formulation(space.problem, fastest, best)
    monkeypatch.setattr(prove, "FEW_PARTS", 4)
    monkeypatch.setattr(prove, "UPPER_PARTS", 4)
    seen: list[FormulationProgress] = []
    shared = [
        prove_formulation(space.problem, fastest, best, jobs=jobs, on_progress=seen.append)
        for jobs in (1, 2)
    ]
    assert shared[0].parts == shared[1].parts == one.parts
    assert seen[-1].done == seen[-1].shared > 3
    assert (seen[-1].parts, seen[-1].questions) == (shared[1].parts, shared[1].questions)
    # The way down to a part is asked in each task.
    assert shared[0].questions == shared[1].questions > one.questions
    with pytest.raises(Ended):
        prove_formulation(space.problem, fastest, best, stopped=lambda: True)
    with pytest.raises(Ended, match="there are 8 parts and more"):
        prove_formulation(space.problem, fastest, best, max_parts=8)


def test_progress_counts_questions(space: Space) -> None:
    assert space.best is not None
    fastest = space.problem.design_of(space.rows[int(space.value.argmin())])
    seen: list[FormulationProgress] = []
    shown = prove_formulation(space.problem, fastest, space.best, on_progress=seen.append)
    # Before every question.
    assert [event.questions for event in seen] == list(range(shown.questions))
    assert seen[-1].parts == shown.parts - 1


def test_limits_end_it(space: Space) -> None:
    assert space.best is not None
    for most in (0, 5):
        left = iter([False] * most + [True])
        with pytest.raises(Ended, match=f"ended after {most} questions"):
            Refutation(space.problem, 0, space.best, stopped=lambda left=left: next(left)).refute(
                ()
            )


def test_what_the_equations_do_not_have_is_refused(space: Space) -> None:
    fastest = space.problem.design_of(space.rows[0])
    capped = replace(space.problem, power_cap_mw=1000)
    with pytest.raises(ResultError, match=r"\$\.power_cap_mw: must be null"):
        prove_formulation(capped, fastest, 1)
    rates = replace(space.problem, objectives=(Objective(ObjectiveKind.INVERSE_LATENCY),))
    with pytest.raises(ResultError, match="no objective: negative_rate_sum_uhz"):
        prove_formulation(rates, fastest, 1)
