"""A certified result folder whose contents can be changed, and what is then false, by enumeration
with the compiled timeline, of which verify uses nothing."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paretosoc.common.arrays import IntArray
from paretosoc.dse.baselines.evaluate_all import baseline_points
from paretosoc.dse.certificate import strategy
from paretosoc.dse.certificate.cover.smtlib import cover_smtlib
from paretosoc.dse.certificate.strategy import prove_front
from paretosoc.dse.certificate.verify import solvers
from paretosoc.dse.certificate.verify import verify as verifying
from paretosoc.dse.certificate.verify.checks import Check, Verdict
from paretosoc.dse.engines.explore import SearchSettings, explore_problem
from paretosoc.dse.problem.build import build_problem, cost_origins
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.space.members import make_members
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload import workload_of
from paretosoc.fitness.check.tree import TreeFault
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.costs.cost_origins import CostOrigins
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import write_results
from paretosoc.results.front.certificate import LemmaTable, certificate_from_bytes
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.front.front import Front, Member
from paretosoc.results.front.front_document import front_from_document, member_to_document
from paretosoc.results.front.proof_tree import ProofTree, tree_bytes, tree_from_bytes
from paretosoc.results.io.canonical_json import canonical_bytes, content_sha256, sha256_of
from paretosoc.results.problem.limits import constraints_of
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_file import problem_from_document
from tests.support.problems.random_spaces import Space, space_of
from tests.support.proofs.lemmas import leaves_of

NAMES = ("front", "problem", "certificate", "costs")
OPTIONS = Options(
    units=("gpu", "dla0"),
    groups=5,
    max_transitions=((None, 1),),
    fixed=(("emc", "max"), ("gpu", "max")),
)


@dataclass(frozen=True)
class Files:
    """The contents of a result folder's files; changed copies are written and verified."""

    folder: Path
    front: Any
    problem: Any
    certificate: Any
    costs: Any
    tree: list[list[int]]
    """Kinds of nodes of every part."""

    def copy(self) -> Files:
        contents = [getattr(self, name) for name in (*NAMES, "tree")]
        # A quarter of the time of copy.deepcopy.
        return Files(self.folder, *pickle.loads(pickle.dumps(contents)))

    def checks(self) -> list[Check]:
        """What verify says of these contents. Hashes and formula are made anew, as somebody would
        who wants a false claim to pass."""
        tree = tree_bytes(self.read_tree)
        (self.folder / "certificate.tree").write_bytes(tree)
        if isinstance(self.certificate, dict) and "tree_sha256" in self.certificate:
            self.certificate["tree_sha256"] = sha256_of(tree)
        data = canonical_bytes(self.problem)
        (self.folder / "problem.json").write_bytes(data)
        for name in ("front", "certificate", "costs"):
            content = getattr(self, name)
            if "problem_sha256" in content:
                content["problem_sha256"] = sha256_of(data)
            if "content_sha256" in content:
                del content["content_sha256"]
                content["content_sha256"] = content_sha256(content)
            (self.folder / f"{name}.json").write_bytes(canonical_bytes(content))
        try:
            text = cover_smtlib(self.read_problem, self.lemmas)
        except (ResultError, OverflowError, TreeFault):
            text = "(check-sat)\n"
        (self.folder / "certificate.smt2").write_text(text)
        return list(verifying.verify(self.folder))

    def failing(self) -> Check | None:
        """The check that fails; None where all that is claimed holds."""
        checks = self.checks()
        assert {check.verdict for check in checks[:-1]} <= {Verdict.HOLDS}
        return None if checks[-1].verdict is Verdict.HOLDS else checks[-1]

    @cached_property
    def read_problem(self) -> Problem:
        return problem_from_document(self.problem)

    @cached_property
    def read_front(self) -> Front:
        return front_from_document(self.front, self.read_problem, check_hashes=False)

    @cached_property
    def read_tree(self) -> ProofTree:
        return ProofTree(tuple(np.array(part, dtype=np.uint8) for part in self.tree))

    @cached_property
    def lemmas(self) -> LemmaTable:
        certificate_from_bytes(
            canonical_bytes(self.certificate), self.read_problem, check_hashes=False
        )
        return leaves_of(self.read_problem, self.read_tree)

    @cached_property
    def falsehood(self) -> str | None:
        """What is not true of a certified folder, by enumeration; None where all is."""
        try:
            problem, front, lemmas = self.read_problem, self.read_front, self.lemmas
        except (ResultError, TreeFault) as error:
            return f"cannot be read: {error}"
        claim = self.front["certificate"]
        if claim is None:
            return "nothing is claimed"
        for key in ("status", "objectives", "epsilon_ppm", "solvers", "formulation", "lemmas"):
            if claim[key] != self.certificate[key]:
                return f"two values of {key}"
        if self.certificate["lemmas"] != len(lemmas):
            return "another number of lemmas"
        outcomes = make_outcomes(problem)(np.stack([m.design.row for m in front.members]))
        if not outcomes.feasible.all():
            return "a member is not feasible"
        points = [point.member for point in front.baselines]
        if not are_as_simulated(problem, [*front.members, *points]):
            return "a figure of a member or baseline is another one"
        if [list(point.breaks) for point in front.baselines] != broken_limits(problem, points):
            return "a baseline breaks other limits"
        names = list(problem.objective_names)
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


def are_as_simulated(problem: Problem, members: Sequence[Member]) -> bool:
    """Whether all that is said of design points is what the compiled timeline gives."""
    rows = np.stack([member.design.row for member in members])
    objectives = make_outcomes(problem)(rows).objectives
    # In the order in which make_members returns them.
    said = [members[k] for k in np.lexsort(objectives.T[::-1])]
    return all(
        member_to_document(problem, member) == member_to_document(problem, played)
        for member, played in zip(said, make_members(problem, rows, objectives), strict=True)
    )


def broken_limits(problem: Problem, members: Sequence[Member]) -> list[list[str]]:
    """Names of the limits that each design point breaks, by the compiled timeline."""
    if not members:
        return []
    outcomes = make_outcomes(problem)(np.stack([member.design.row for member in members]))
    assert outcomes.possible.all()
    limits = constraints_of(problem)
    return [
        [limit.name for limit, figure in zip(limits, figures, strict=True) if figure > limit.limit]
        for figures in outcomes.constraint_values.tolist()
    ]


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
                unit.contention, **{k: v[memory] for k, v in unit.contention.columns.items()}
            ),
        )
        for unit in problem.units
    )
    return replace(problem, domains=domains, units=units)


def files_in(read_from: Path, folder: Path) -> Files:
    """The contents of one folder, to be written to another one."""
    tree = tree_from_bytes((read_from / "certificate.tree").read_bytes())
    contents = [json.loads((read_from / f"{name}.json").read_text()) for name in NAMES]
    return Files(folder, *contents, tree=[part.tolist() for part in tree.parts])


def judge(seen: Counter[str], files: Files) -> None:
    """Whatever is false is refused."""
    failing = files.failing()
    if files.falsehood is not None:
        assert failing is not None, files.falsehood
    seen["false" if files.falsehood is not None else "true"] += 1
    seen["holds" if failing is None else failing.name] += 1


def small_exact_front() -> tuple[Front, CostOrigins]:
    """The exact front, small, so that it is verified fast, with other methods beside it, some of
    which break limits; where its costs are from."""
    built = build_problem(
        workload_of(["squeezenet", "bvlc_alexnet"]), load_platform("jetson-agx-xavier"), OPTIONS
    )
    front = explore_problem(
        built, SearchSettings(max_evaluations=500), platform="jetson-agx-xavier"
    )
    problem = without_points_not_allowed(front.problem)
    rows = space_of(problem).rows
    outcomes = make_outcomes(problem)(rows)
    rows, objectives = rows[outcomes.feasible], outcomes.objectives[outcomes.feasible]
    kept = non_dominated(objectives)
    members = make_members(problem, rows[kept], objectives[kept])
    baselines = baseline_points(DesignSpace(problem))
    front = replace(front, problem=problem, members=members, baselines=baselines)
    return front, cost_origins(built)


def certified_folder(front: Front, costs: CostOrigins, folder: Path) -> Path:
    """The folder with the front, proved; what the formulation shows has tests of its own, and
    would be asked again in each check."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strategy, "FEW_PARTS", 2)
        done = prove_front(front)
    assert done.front.is_complete
    write_results(folder, done.front, costs=costs, certificate=done.certificate, pictures=False)
    checks = list(verifying.verify(folder))
    assert {check.verdict for check in checks} == {Verdict.HOLDS}, checks
    return folder


def files_of(certified: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    """The contents of a certified folder, to be written to another one."""
    # One solver is enough here, and halves the time.
    monkeypatch.setattr(solvers, "confirm_cover", lambda *_, **__: None)
    files = files_in(certified, folder)
    assert files.falsehood is None
    assert files.failing() is None
    return files.copy()
