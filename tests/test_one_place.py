"""Limits and objectives stand in one table: how many files of source name each, and a limit and an
objective of a test that work through files, search and comparison."""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.problems.random_problem import RandomShape, random_problem
from paretosoc.common.documents.marks import Count, Maybe
from paretosoc.dse.engines.diagnose_infeasible import can_be_relaxed, explain_infeasible
from paretosoc.dse.search.driver import Budget, SearchResult, search
from paretosoc.dse.search.optimizers.nsga2 import Nsga2Engine
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.space.members import evaluate_row, evaluated_document
from paretosoc.dse.tools.analysis.limits import limit_prices
from paretosoc.fitness.objectives import OBJECTIVE_VALUES, make_outcomes
from paretosoc.results.errors import ResultError
from paretosoc.results.front.front import Front
from paretosoc.results.problem import problem_file
from paretosoc.results.problem.limits import LIMITS, LimitSpec, Of, constraints_of
from paretosoc.results.problem.objectives import (
    OBJECTIVES,
    Objective,
    ObjectiveKind,
    ObjectiveSpec,
)
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_file import PROBLEM, problem_bytes, problem_from_bytes
from paretosoc.results.text.compare_fronts import problem_differences
from paretosoc.results.text.space_description import describe_space

ROOT = Path(__file__).parents[1]
OPTIONS = (
    *("dse/api", "dse/cli", "dse/inputs", "dse/problem", "dse/server", "dse/workload"),
    *("dse/papers", "dse/tools"),
)
"""Options of users, and programs with inputs of their own: not the table of limits."""
NAMED = {
    "max_transitions": 16,
    "max_segments": 19,
    "max_loss_ppm": 7,
    "memory_cap_bytes": 11,
    "cap_bytes": 9,
    "deadline_ps": 13,
    "deadline_95_ps": 5,
    "max_jitter_ps": 3,
    "max_misses": 6,
    "min_rate_uhz": 9,
    "power_cap_mw": 16,
    "energy_budget_fj": 13,
}
"""Files of source, but for ``OPTIONS``, that name the field of a limit or its spec: the field, the
spec, the checkers of members, trees and bounds, each by itself, and the searches and bounds that
use a limit before a design point is simulated."""
MOST_OBJECTIVES = 20
"""The same for any objective."""


def names_in(path: Path) -> set[str]:
    """Return the names and strings of a module, without its prose."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Attribute(value=ast.Name(id="ObjectiveKind"), attr=name):
                found.add(f"ObjectiveKind.{name}")
            case ast.Name(id=str(name)) | ast.Attribute(attr=str(name)):
                found.add(name)
            case ast.keyword(arg=str(name)) | ast.Constant(value=str(name)):
                found.add(name)
            case ast.ImportFrom(module="paretosoc.results.problem.limits", names=names):
                found |= {f"limits.{alias.name}" for alias in names}
    return found


def files_by_name() -> dict[str, set[str]]:
    """Return the files of source that have each name."""
    files = defaultdict(set)
    for room in ("common", "dse", "fitness", "platforms", "results", "sdf"):
        for path in (ROOT / room).rglob("*.py"):
            place = path.relative_to(ROOT).as_posix()
            if not place.startswith(OPTIONS):
                for name in names_in(path):
                    files[name].add(place)
    return files


def test_few_files_name_a_limit_or_an_objective() -> None:
    from paretosoc.results.problem import limits

    files = files_by_name()
    specs = {id(kind): name for name, kind in vars(limits).items() if isinstance(kind, LimitSpec)}
    found: dict[str, set[str]] = defaultdict(set)
    for kind in LIMITS:
        if kind.field is not None:
            found[kind.field] |= files[kind.field] | files[f"limits.{specs[id(kind)]}"]
    more = {field: sorted(found[field]) for field in found if len(found[field]) > NAMED[field]}
    assert not more
    assert found.keys() == NAMED.keys()
    for objective in ObjectiveKind:
        named = files[f"ObjectiveKind.{objective.name}"]
        assert len(named) <= MOST_OBJECTIVES, sorted(named)


@dataclass(frozen=True, eq=False)
class ProblemWithStretch(Problem):
    """A problem with one more limit."""

    max_stretch_ppm: Maybe[Count] = None


@pytest.fixture
def stretch(monkeypatch: pytest.MonkeyPatch) -> LimitSpec:
    """A limit on the time that contention adds."""
    kind = LimitSpec(
        words="stretch",
        unit="ppm",
        of=Of.ALL,
        field="max_stretch_ppm",
        figure=ObjectiveKind.STRETCH,
        compared="most stretch",
        is_optional=True,
    )
    monkeypatch.setattr("paretosoc.results.problem.limits.LIMITS", [*LIMITS, kind])
    for user in ("dse.engines.diagnose_infeasible", "dse.search.surrogate.lower_bounds"):
        monkeypatch.setattr(f"paretosoc.{user}.LIMITS", [*LIMITS, kind])
    monkeypatch.setattr(problem_file, "PROBLEM", replace(PROBLEM, kind=ProblemWithStretch))
    # The published schema has the published limits.
    monkeypatch.setattr("paretosoc.results.io.document.check_against_schema", lambda *_: None)
    return kind


@pytest.fixture
def changes(monkeypatch: pytest.MonkeyPatch) -> ObjectiveKind:
    """An objective: how often networks change the unit."""
    kind = object.__new__(ObjectiveKind)
    kind._name_, kind._value_ = "CHANGES", "changes"
    monkeypatch.setattr(ObjectiveKind, "_member_names_", [*ObjectiveKind._member_names_, "CHANGES"])
    monkeypatch.setitem(ObjectiveKind._member_map_, "CHANGES", kind)
    spec = ObjectiveSpec("changes", "changes of unit", "", "fewest changes", float)
    monkeypatch.setitem(OBJECTIVES, kind, spec)
    monkeypatch.setitem(OBJECTIVE_VALUES, kind, lambda found, _: found.counts[0].sum(axis=1))
    return kind


def drawn() -> Problem:
    """Two networks on two units with contention."""
    shape = RandomShape(networks=(2, 2), groups=(3, 3), units=(2, 2), points=(2, 2))
    problem = random_problem(np.random.default_rng(4), shape)
    objectives = (Objective(ObjectiveKind.LATENCY), Objective(ObjectiveKind.ENERGY))
    return ProblemWithStretch(**(vars(replace(problem, objectives=objectives))))


def searched(problem: Problem) -> SearchResult:
    space = DesignSpace(problem)
    return search(Nsga2Engine(space, seed=1), make_outcomes(problem), Budget(400))


def front(problem: Problem) -> Front:
    provenance: Any = SimpleNamespace(platform="board", precision="fp16", inputs=())
    return Front(problem, provenance, ())


def test_a_new_limit_works_everywhere(stretch: LimitSpec) -> None:
    free = drawn()
    stretches = make_outcomes(replace(free, objectives=(Objective(ObjectiveKind.STRETCH),)))
    most = sorted(stretches(searched(free).rows).objectives[:, 0].tolist())[0]
    limited = replace(free, max_stretch_ppm=most)
    # Files: as they were without it, and read as written.
    assert b"max_stretch_ppm" not in problem_bytes(free)
    again = problem_from_bytes(problem_bytes(limited))
    assert constraints_of(again) == constraints_of(limited)
    assert constraints_of(again)[-1].limit == most
    with pytest.raises(ResultError, match=r"\$\.max_stretch_ppm: must be null or >= 0, got -1"):
        problem_bytes(replace(free, max_stretch_ppm=-1))
    # Search and evaluation.
    found = searched(limited)
    assert len(found.rows)
    assert (stretches(found.rows).objectives[:, 0] <= most).all()
    state = evaluated_document(evaluate_row(limited, found.rows[0]))["constraints"]
    assert "stretch" in str(state)
    # Texts.
    assert f"stretch at most {most / 10**4:g} %" in describe_space(limited)
    (difference,) = problem_differences(front(free), front(limited))
    assert difference == f"most stretch: none and {most / 10**4:g} %"
    # Its price, and why nothing is feasible.
    assert can_be_relaxed(constraints_of(limited)[-1])
    prices = limit_prices(limited, found.rows)
    assert stretch in {limit.kind for limit in prices.free} | {
        price.constraint.kind for price in prices.prices
    }
    tight = replace(limited, networks=limited.networks, max_stretch_ppm=0, power_cap_mw=1)
    assert "power: at most 0.001 W" in explain_infeasible(tight, searched(tight), seed=1)


def test_a_new_objective_works_everywhere(changes: ObjectiveKind) -> None:
    problem = replace(drawn(), objectives=(Objective(ObjectiveKind.LATENCY), Objective(changes)))
    found = searched(problem)
    assert found.objectives[:, 1].min() == 0
    assert problem_from_bytes(problem_bytes(problem)).objectives == problem.objectives
    display = evaluated_document(evaluate_row(problem, found.rows[0]))["display"]
    assert "changes of unit" in str(display)
