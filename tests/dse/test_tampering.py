"""Result folders that somebody changed: verify refuses every false claim, and never raises.

What is false is decided by enumeration with the compiled timeline, of which verify uses nothing.
"""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_spaces import Space, space_of

from dse import exact_search
from dse import verify as verifying
from dse.certify import Limits, prove, space_in_words
from dse.explore import explore
from dse.front_proof import prove_front
from dse.members import make_members
from dse.options import Options
from dse.smt_cover import cover_smtlib
from fitness.outcomes import make_outcomes
from fitness.timeline import play, row_of
from results.canonical_json import canonical_bytes, parse
from results.certificate import CertificateStatus, LemmaTable
from results.certificate_file import certificate_from_document
from results.dominance import non_dominated
from results.errors import ResultError
from results.front import Front
from results.front_document import front_from_document, front_to_document
from results.front_file import write_results
from results.objectives import objective_names
from results.problem import IntArray, Problem
from results.problem_file import problem_from_document

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


@pytest.fixture(scope="module")
def explored() -> Front:
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


@pytest.fixture(scope="module")
def certified(explored: Front, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certified result folder: never written to."""
    folder = tmp_path_factory.mktemp("certified") / "result"
    done = prove_front(explored)
    assert done.front.is_complete
    write_results(folder, done.front, certificate=done.certificate, pictures=False)
    checks = list(verifying.verify(folder))
    assert all(check.holds for check in checks), checks
    return folder


@pytest.fixture
def files(certified: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Files:
    # One solver is enough here, and halves the time.
    monkeypatch.setattr(verifying, "confirm_cover", lambda *_, **__: None)
    contents = (
        json.loads((certified / f"{name}.json").read_text())
        for name in ("front", "problem", "certificate")
    )
    files = Files(tmp_path, *contents)
    assert files.falsehood is None
    assert files.verdict().holds
    return files.copy()


def judge(seen: Counter[str], files: Files) -> None:
    """Whatever is false is refused."""
    verdict = files.verdict()
    if files.falsehood is not None:
        assert not verdict.holds, (files.falsehood, verdict)
    seen["false" if files.falsehood is not None else "true"] += 1
    seen[verdict.name if not verdict.holds else "holds"] += 1


def edits(random_: random.Random, data: bytes) -> bytes:
    """Something else in the text: a byte, a digit, a line less, two lines swapped, a key less."""
    lines = data.splitlines(keepends=True)
    place = random_.randrange(len(data))
    match random_.randrange(6):
        case 0:
            return (
                data[:place]
                + bytes([data[place] ^ (1 << random_.randrange(8))])
                + data[place + 1 :]
            )
        case 1:
            digits = [i for i, byte in enumerate(data) if chr(byte).isdigit()]
            place = random_.choice(digits)
            return data[:place] + str(random_.randrange(10)).encode() + data[place + 1 :]
        case 2:
            del lines[random_.randrange(len(lines))]
            return b"".join(lines)
        case 3:
            a, b = random_.randrange(len(lines)), random_.randrange(len(lines))
            lines[a], lines[b] = lines[b], lines[a]
            return b"".join(lines)
        case 4:
            return data[:place]
    return data[:place] + data[place + random_.randrange(1, 40) :]


def content_of(path: Path, data: bytes) -> object:
    """What the hashes are of: JSON content, whatever its layout; else the bytes."""
    try:
        return parse(data) if path.suffix == ".json" else data
    except ResultError:
        return data


@pytest.mark.parametrize(
    "name", ["front.json", "problem.json", "certificate.json", "certificate.smt2"]
)
def test_with_hashes_every_edit_is_refused(certified: Path, tmp_path: Path, name: str) -> None:
    random_ = random.Random(name)
    for source in certified.iterdir():
        (tmp_path / source.name).write_bytes(source.read_bytes())
    path = tmp_path / name
    original = path.read_bytes()
    done = 0
    while done < 60:
        changed = edits(random_, original)
        if content_of(path, changed) == content_of(path, original):
            continue
        path.write_bytes(changed)
        assert not list(verifying.verify(tmp_path))[-1].holds
        done += 1
    path.unlink()
    assert not list(verifying.verify(tmp_path))[-1].holds


def test_a_lemma_less_is_refused_where_it_is_needed(files: Files) -> None:
    seen: Counter[str] = Counter()
    for index in range(0, len(files.lemmas), 3):
        changed = files.copy()
        del changed.certificate["lemmas"][index]
        changed.front["certificate"]["lemmas"] -= 1
        verdict = changed.verdict()
        assert verdict.holds == (changed.falsehood is None), (index, verdict, changed.falsehood)
        assert verdict.name == "cover"
        seen["needed" if changed.falsehood else "not needed"] += 1
    assert seen["needed"] > 10


def test_changed_lemmas(files: Files) -> None:
    random_ = random.Random(1)
    seen: Counter[str] = Counter()
    for _ in range(100):
        changed = files.copy()
        lemmas = changed.certificate["lemmas"]
        index = random_.randrange(len(lemmas))
        names, _, sets = lemmas[index].partition("|")
        units, masks = list(names), sets.split(",")
        match random_.randrange(4):
            case 0:
                units[random_.randrange(len(units))] = random_.choice("01.2z")
            case 1:
                a, b = random_.sample(range(len(units)), 2)
                units[a], units[b] = units[b], units[a]
            case 2:
                d = random_.randrange(len(masks))
                masks[d] = f"{int(masks[d], 16) ^ 1 << random_.randrange(6):x}"
            case 3:
                d = random_.randrange(len(masks))
                masks[d] = random_.choice(["0", "f", "1f", "ffff", "f" * 16])
        lemmas[index] = f"{''.join(units)}|{','.join(masks)}"
        judge(seen, changed)
    assert seen["false"] > 15, seen
    assert seen["lemmas"] > 10, seen
    assert seen["cover"] > 10, seen
    assert seen["holds"] > 10, seen


@pytest.mark.parametrize("names", [("front",), ("certificate",), ("front", "certificate")])
def test_another_claim_is_refused(files: Files, names: tuple[str, ...]) -> None:
    """Members, epsilon and objectives, in one file or in both."""
    random_ = random.Random(4)
    seen: Counter[str] = Counter()
    for _ in range(40):
        changed = files.copy()
        index = random_.randrange(len(changed.certificate["members"]))
        change = random_.choice([-1, 1, -1000, 10**6, -(10**9), 10**18])
        how = random_.randrange(5)
        for name in names:
            is_proof = name == "certificate"
            claim = changed.certificate if is_proof else changed.front["certificate"]
            if how == 0:
                claim["epsilon_ppm"] = abs(change)
            elif how == 1:
                claim["objectives"] = claim["objectives"][::-1]
            elif how == 2:
                claim["objectives"] = claim["objectives"][:1]
            elif how == 3:
                del claim["members"][index]
            elif is_proof:
                claim["members"][index][random_.randrange(2)] += change
            else:
                claim["members"][index] += 1
        judge(seen, changed)
    assert seen["true"] == 0, seen


def test_changed_members(files: Files) -> None:
    random_ = random.Random(2)
    seen: Counter[str] = Counter()
    for _ in range(100):
        changed = files.copy()
        member = random_.choice(changed.front["members"])
        change = random_.choice([-1, 1, 10**6, -(10**6)])
        match random_.randrange(6):
            case 0:
                name = random_.choice(list(member["objectives"]))
                member["objectives"][name] += change
            case 1:
                member["objectives"]["latency_ps"] += change
                member["makespan_ps"] += change
                last = max(member["schedule"], key=lambda row: row["end_ps"])
                last["end_ps"] += change
                member["latencies_ps"][last["network"]] += change
            case 2:
                member["objectives"]["energy_fj"] += change
                member["energy_fj"] += change
            case 3:
                network = random_.choice(list(member["mapping"]))
                units = member["mapping"][network]
                g = random_.randrange(len(units))
                units[g] = "gpu" if units[g] == "dla0" else "dla0"
                if random_.randrange(2):
                    rows = [row for row in member["schedule"] if row["network"] == network]
                    rows[g]["unit"] = units[g]
            case 4:
                row = random_.choice(member["schedule"])
                row[random_.choice(["ready_ps", "start_ps", "end_ps", "alone_ps"])] += change
            case 5:
                row = random_.choice(member["schedule"])
                row["unit"] = "gpu" if row["unit"] == "dla0" else "dla0"
        judge(seen, changed)
        assert changed.falsehood is not None
    assert seen["members"] > 10, seen
    assert seen["files"] > 10, seen


def test_members_taken_away_or_another_one_named(files: Files) -> None:
    for index in range(len(files.front["members"])):
        changed = files.copy()
        del changed.front["members"][index]
        judge(Counter(), changed)
    for index in range(len(files.front["members"])):
        # The proof follows: its lemmas need the member, or the cover would be another one.
        changed = files.copy()
        del changed.front["members"][index]
        del changed.certificate["members"][index]
        changed.front["certificate"]["members"].pop()
        assert changed.falsehood == "a design point is better"
        verdict = changed.verdict()
        assert (verdict.name, verdict.holds) == ("lemmas", False)
    changed = files.copy()
    changed.front["members"] = []
    assert not changed.verdict().holds
    changed = files.copy()
    changed.certificate["solvers"] = changed.front["certificate"]["solvers"] = []
    assert changed.verdict().name == "claim"
    assert not changed.verdict().holds
    changed = files.copy()
    changed.front["certificate"]["space"] += " and more"
    assert not changed.verdict().holds
    changed = files.copy()
    changed.front["certificate"]["lemmas"] += 1
    assert not changed.verdict().holds


def test_costs_lowered_and_everything_else_made_to_fit(files: Files) -> None:
    """Members, claim and formula follow the new costs; the lemmas are the old ones."""
    random_ = random.Random(3)
    seen: Counter[str] = Counter()
    for _ in range(80):
        changed = files.copy()
        for unit in changed.problem["units"]:
            table = np.array(unit["time_ps"])
            for group in range(len(table)):
                if random_.randrange(3) == 0:
                    table[group] = np.where(
                        table[group] > 0, table[group] * random_.randint(5, 99) // 100, -1
                    )
            unit["time_ps"] = table.tolist()
        problem = problem_from_document(changed.problem)
        rows = np.stack([row_of(member.design) for member in files.read_front.members])
        objectives = make_outcomes(problem)(rows).objectives
        kept = non_dominated(objectives)
        front = replace(
            files.read_front,
            problem=problem,
            members=make_members(problem, rows[kept], objectives[kept]),
        )
        changed.front.clear()
        changed.front.update(json.loads(canonical_bytes(front_to_document(front))))
        claim = changed.front["certificate"]
        claim["members"] = list(range(len(front.members)))
        values = [list(member.objectives) for member in front.members]
        changed.certificate["members"] = values
        judge(seen, changed)
    assert seen["false"] >= 10, seen
    assert seen["lemmas"] >= 10, seen


def test_limits_lifted(files: Files) -> None:
    """A wider space than the lemmas are of."""
    seen: Counter[str] = Counter()
    for change in (None, 3, 5):
        changed = files.copy()
        for network in changed.problem["networks"]:
            network["max_transitions"] = change
        space = space_in_words(problem_from_document(changed.problem))
        changed.front["certificate"]["space"] = space
        judge(seen, changed)
    assert seen["false"] > 0, seen


@pytest.mark.parametrize("how", ["gap", "searched"])
def test_a_status_is_not_raised(
    explored: Front, files: Files, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact_search, "SLICE_NODES", 10)
    monkeypatch.setattr(exact_search, "BUFFER_LEMMAS", 5)
    done = prove(explored, (0, 1), limits=Limits(10) if how == "gap" else Limits(lemmas=10))
    folder = files.folder / "lesser"
    write_results(
        folder,
        replace(done.front, certificate=done.claim),
        certificate=done.files,
        pictures=False,
    )
    assert list(verifying.verify(folder))[-1].holds
    contents = [
        json.loads((folder / f"{name}.json").read_text())
        for name in ("front", "problem", "certificate")
    ]
    lesser = Files(folder, *contents)
    assert lesser.certificate["status"] == how
    lesser.certificate["bounds"] = []
    for claim in (lesser.front["certificate"], lesser.certificate):
        claim["status"] = "certified"
        claim["epsilon_ppm"] = 0
        claim["solvers"] = ["z3 5.4.0.0"]
    lesser.front["certificate"]["lemmas"] = len(lesser.certificate["lemmas"])
    assert lesser.falsehood == "a design point is left"
    verdict = lesser.verdict()
    assert (verdict.name, verdict.holds) == ("cover", False)


def test_a_smaller_epsilon_is_refused(explored: Front, tmp_path: Path) -> None:
    """Of a proof within a tolerance, and of a gap."""
    few = replace(explored, members=explored.members[::3])
    near = prove(few, (0, 1), tolerance_ppm=150_000)
    assert near.status is CertificateStatus.CERTIFIED
    gap = prove(few, (0, 1), limits=Limits(40))
    assert gap.claim.epsilon_ppm is not None
    assert gap.claim.epsilon_ppm > 0
    for number, done in enumerate((near, gap)):
        folder = tmp_path / str(number)
        for epsilon in (done.claim.epsilon_ppm, 20_000, 0):
            certificate = replace(done.files.certificate, epsilon_ppm=epsilon)
            front = replace(done.front, epsilon=replace(done.claim, epsilon_ppm=epsilon))
            proof = replace(done.files, certificate=certificate)
            write_results(folder, front, epsilon=proof, pictures=False, overwrite=True)
            verdict = list(verifying.verify(folder))[-1]
            assert verdict.holds == (epsilon == done.claim.epsilon_ppm), verdict
    # What is within a tolerance is no certificate of the whole front.
    front = replace(near.front, certificate=near.claim)
    write_results(folder, front, certificate=near.files, pictures=False, overwrite=True)
    assert list(verifying.verify(folder))[-1].name == "claim"


def places(content: Any) -> Iterator[tuple[Any, Any]]:
    """(container, key) of everything within."""
    keys = content if isinstance(content, dict) else range(len(content))
    for key in keys:
        yield content, key
        if isinstance(content[key], dict | list):
            yield from places(content[key])


CHANGES: tuple[Callable[[random.Random, Any], Any], ...] = (
    lambda _, __: None,
    lambda _, __: [],
    lambda _, __: {},
    lambda _, __: "",
    lambda random_, __: random_.choice([0, -1, 1, 2**31, 2**47 - 1, 2**62, 2**63 - 1, 10**30]),
    lambda random_, __: random_.choice([True, False, 0.5, 1e300]),
    lambda random_, old: old + random_.choice([-1, 1]) if type(old) is int else old,
    lambda random_, old: old * random_.choice([2, 1000]) if type(old) is int else old,
    lambda _, old: not old if type(old) is bool else old,
    lambda _, old: old[1:] if isinstance(old, list | str) else old,
    lambda _, old: [*old, old[-1]] if isinstance(old, list) and old else old,
)


@pytest.mark.parametrize("name", ["front", "problem", "certificate"])
def test_no_edit_whatever_makes_verify_raise(files: Files, name: str) -> None:
    random_ = random.Random(name)
    seen: Counter[str] = Counter()
    by_key: dict[str, list[int]] = {}
    for index, (_, key) in enumerate(places(getattr(files, name))):
        by_key.setdefault(str(key), []).append(index)
    for _ in range(150):
        changed = files.copy()
        # A key first: else nearly all edits are in the tables.
        index = random_.choice(by_key[random_.choice(list(by_key))])
        container, key = list(places(getattr(changed, name)))[index]
        old = container[key]
        if random_.randrange(6) == 0:
            del container[key]
        else:
            container[key] = random_.choice(CHANGES)(random_, old)
        verdict = changed.verdict()
        if verdict.holds:
            assert changed.falsehood is None
        seen["holds" if verdict.holds else verdict.name] += 1
    assert seen["files"] > 50, seen
