"""A certified result folder whose contents can be changed, and what is then false, by enumeration
with the compiled timeline, of which verify uses nothing."""

from __future__ import annotations

import copy
import json
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dse.certificate.cover import cover_smtlib
from dse.certificate.strategy import prove_front
from dse.certificate.verify import verify as verifying
from dse.space.members import make_members
from dse.workload.options import Options
from fitness.objectives import make_outcomes
from fitness.simulate import play, row_of
from results.errors import ResultError
from results.export.result_folder import write_results
from results.front.certificate import LemmaTable
from results.front.certificate_file import certificate_from_document
from results.front.dominance import non_dominated
from results.front.front import Front
from results.front.front_document import front_from_document
from results.problem.objectives import objective_names
from results.problem.problem import IntArray, Problem
from results.problem.problem_file import problem_from_document
from tests.support.explored import explore
from tests.support.random_spaces import Space, space_of

OPTIONS = Options(
    units=("gpu", "dla0"), groups=5, max_transitions=1, fixed=(("emc", "max"), ("gpu", "max"))
)


@dataclass(frozen=True)
class Files:
    """The contents of a result folder's files; changed copies are written and verified."""

    folder: Path
    front: Any
    problem: Any
    certificate: Any

    def copy(self) -> Files:
        contents = copy.deepcopy((self.front, self.problem, self.certificate))
        return Files(self.folder, *contents)

    def verdict(self) -> verifying.Check:
        """The last check of verify, which is the one that fails, of these contents; the formula is
        written anew, as somebody would who wants a false claim to pass."""
        for name in ("front", "problem", "certificate"):
            content = getattr(self, name)
            (self.folder / f"{name}.json").write_text(json.dumps(content))
        try:
            text = cover_smtlib(self.read_problem, self.lemmas)
        except (ResultError, OverflowError):
            text = "(check-sat)\n"
        (self.folder / "certificate.smt2").write_text(text)
        return list(verifying.verify(self.folder, ignore_hashes=True))[-1]

    @cached_property
    def read_problem(self) -> Problem:
        return problem_from_document(self.problem)

    @cached_property
    def read_front(self) -> Front:
        return front_from_document(self.front, self.read_problem, check_hashes=False)

    @cached_property
    def lemmas(self) -> LemmaTable:
        return certificate_from_document(
            self.certificate, self.read_problem, check_hashes=False
        ).lemmas

    @cached_property
    def falsehood(self) -> str | None:
        """What is not true of a certified folder, by enumeration; None where all is."""
        try:
            problem, front, lemmas = self.read_problem, self.read_front, self.lemmas
        except ResultError as error:
            return f"cannot be read: {error}"
        claim = self.front["certificate"]
        if claim is None:
            return "nothing is claimed"
        for key in ("status", "objectives", "epsilon_ppm", "solvers"):
            if claim[key] != self.certificate[key]:
                return f"two values of {key}"
        if self.certificate["status"] != "certified" or not self.certificate["solvers"]:
            return "not certified, or by nobody"
        outcomes = make_outcomes(problem)(np.stack([row_of(m.design) for m in front.members]))
        if not outcomes.feasible.all():
            return "a member is not feasible"
        for member, objectives in zip(front.members, outcomes.objectives.tolist(), strict=True):
            if list(member.objectives) != objectives:
                return "a member's objective is another one"
            if play(problem, member.design).schedule != member.schedule:
                return "a member's schedule is another one"
        names = list(objective_names(problem))
        if not set(self.certificate["objectives"]) <= set(names):
            return "no such objective"
        columns = [names.index(name) for name in self.certificate["objectives"]]
        if len(set(columns)) != len(columns):
            return "an objective twice"
        best = outcomes.objectives[:, columns]
        if claim["members"] != non_dominated(best).tolist():
            return "the members are other ones"
        if self.certificate["members"] != best[claim["members"]].tolist():
            return "the members' values are other ones"
        if self.certificate["epsilon_ppm"] != 0:
            return "not exact"
        space = space_of(problem)
        better = better_cells(space, columns, best[claim["members"]])
        if better.any():
            return "a design point is better"
        return false_lemma(space, lemmas, better) or left_over(space, lemmas)


def better_cells(space: Space, columns: list[int], members: IntArray) -> np.ndarray:
    """Feasible design points that every member is above in some objective."""
    outcomes = make_outcomes(space.problem)(space.rows)
    values = outcomes.objectives[:, columns]
    better = outcomes.feasible.copy()
    for member in members:
        better &= (values < member).any(axis=1)
    return better.reshape(space.obeys_mapping_rules.shape)


def false_lemma(space: Space, lemmas: LemmaTable, better: np.ndarray) -> str | None:
    for index in range(len(lemmas)):
        if better[space.cells(lemmas, index)].any():
            return f"lemma {index} is false"
    return None


def left_over(space: Space, lemmas: LemmaTable) -> str | None:
    left = space.obeys_mapping_rules.copy()
    for index in range(len(lemmas)):
        left[space.cells(lemmas, index)] = False
    return "a design point is left" if left.any() else None


def without_points_not_allowed(problem: Problem) -> Problem:
    """The same space in small tables, which are read and checked hundreds of times here."""
    points = [np.flatnonzero(domain.allowed) for domain in problem.domains]
    assert problem.memory_domain is not None
    memory = points[problem.memory_domain]

    def at(table: np.ndarray, clocks: tuple[int, ...], first: int) -> np.ndarray:
        for axis, clock in enumerate(clocks, start=first):
            table = table.take(points[clock], axis=axis)
        return table

    domains = tuple(
        replace(
            domain,
            frequencies_khz=tuple(domain.frequencies_khz[k] for k in kept),
            voltages_mv=tuple(domain.voltages_mv[k] for k in kept),
            static_mw=domain.static_mw[kept],
            allowed=domain.allowed[kept],
        )
        for domain, kept in zip(problem.domains, points, strict=True)
    )
    units = tuple(
        replace(
            unit,
            time_ps=at(unit.time_ps, unit.clocks, 1),
            demand_kbps=at(unit.demand_kbps, unit.clocks, 1),
            dynamic_mw=at(unit.dynamic_mw, unit.clocks, 1),
            idle_mw=at(unit.idle_mw, unit.clocks, 0),
            contention=None
            if unit.contention is None
            else replace(
                unit.contention, **{k: v[memory] for k, v in vars(unit.contention).items()}
            ),
        )
        for unit in problem.units
    )
    return replace(problem, domains=domains, units=units)


def judge(seen: Counter[str], files: Files) -> None:
    """Whatever is false is refused."""
    verdict = files.verdict()
    if files.falsehood is not None:
        assert not verdict.holds, (files.falsehood, verdict)
    seen["false" if files.falsehood is not None else "true"] += 1
    seen[verdict.name if not verdict.holds else "holds"] += 1


def small_exact_front() -> Front:
    """The exact front; small, so that it is verified fast."""
    front = explore(
        ["squeezenet", "bvlc_alexnet"], "jetson-agx-xavier", options=OPTIONS, max_evaluations=500
    )
    problem = without_points_not_allowed(front.problem)
    rows = space_of(problem).rows
    outcomes = make_outcomes(problem)(rows)
    rows, objectives = rows[outcomes.feasible], outcomes.objectives[outcomes.feasible]
    kept = non_dominated(objectives)
    members = make_members(problem, rows[kept], objectives[kept])
    return replace(front, problem=problem, members=members, baselines=())


def certified_folder(front: Front, folder: Path) -> Path:
    """The folder with the front, proved."""
    done = prove_front(front)
    assert done.front.is_complete
    write_results(folder, done.front, certificate=done.certificate, pictures=False)
    checks = list(verifying.verify(folder))
    assert all(check.holds for check in checks), checks
    return folder


def files_of(certified: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    """The contents of a certified folder, to be written to another one."""
    # One solver is enough here, and halves the time.
    monkeypatch.setattr(verifying, "confirm_cover", lambda *_, **__: None)
    contents = (
        json.loads((certified / f"{name}.json").read_text())
        for name in ("front", "problem", "certificate")
    )
    files = Files(folder, *contents)
    assert files.falsehood is None
    assert files.verdict().holds
    return files.copy()
