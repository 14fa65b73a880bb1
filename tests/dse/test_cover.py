"""The formula that lemmas cover the space: against enumeration, by Z3 and cvc5."""

import hashlib
import importlib.metadata
import importlib.util
import re
import subprocess
import sys
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import z3

from benchmarks.random_problem import RandomShape, random_problem
from dse.smt_cover import confirm_cover, cover_smtlib, prove_cover
from results.certificate import NOT_NAMED, LemmaTable
from results.errors import ResultError

MOST_ROWS = 300
needs_cvc5 = pytest.mark.skipif(
    importlib.util.find_spec("cvc5") is None, reason="cvc5 is not installed (extra 'proofs')"
)
SOLVERS = [prove_cover, pytest.param(confirm_cover, marks=needs_cvc5)]


def small_problem(seed, **shape):
    """A problem with limits of all kinds and at most ``MOST_ROWS`` design points."""
    rng = np.random.default_rng(seed)
    size = {"networks": (1, 3), "groups": (1, 5), "units": (1, 3), "points": (1, 4)} | shape
    while True:
        problem = random_problem(rng, RandomShape(**size))
        allowed = problem.allowed.copy()
        for row in allowed:
            if row.sum() > 1 and rng.integers(5) == 0:
                row[rng.choice(np.flatnonzero(row))] = False
        domains = []
        for domain in problem.domains:
            points = domain.allowed.copy()
            if len(points) > 1 and rng.integers(3) == 0:
                points[rng.integers(len(points))] = False
            domains.append(replace(domain, allowed=points))
        problem = replace(
            problem,
            allowed=allowed,
            domains=tuple(domains),
            networks=tuple(
                replace(network, max_transitions=int(rng.integers(0, 4)))
                if rng.integers(2)
                else network
                for network in problem.networks
            ),
            units=tuple(
                replace(unit, max_segments=int(rng.integers(0, 4)))
                if rng.integers(3) == 0
                else unit
                for unit in problem.units
            ),
        )
        if len(all_rows(problem)) <= MOST_ROWS:
            return problem


def all_rows(problem):
    """Every choice of allowed units and points, as tuples (units, points)."""
    units = product(*(np.flatnonzero(row).tolist() for row in problem.allowed))
    points = [np.flatnonzero(domain.allowed).tolist() for domain in problem.domains]
    count = int(np.prod([row.sum() for row in problem.allowed], dtype=float))
    if count * np.prod([len(some) for some in points], dtype=float) > MOST_ROWS:
        return [None] * (MOST_ROWS + 1)
    return list(product(units, product(*points)))


def obeys_rules(problem, units):
    """The mapping rules, as the words have them."""
    for network in problem.networks:
        crossings = [
            edge
            for edge in problem.edges
            if edge[0] in network.groups and units[edge[0]] != units[edge[1]]
        ]
        if network.max_transitions is not None and len(crossings) > network.max_transitions:
            return False
    for u, unit in enumerate(problem.units):
        here = [g for g in range(problem.group_count) if units[g] == u]
        fed = {target for source, target in problem.edges if source in here}
        begins = [g for g in here if g not in fed]
        if unit.max_segments is not None and len(begins) > unit.max_segments:
            return False
    return True


def is_caught(row, units, masks):
    on, points = row
    return all(u in (NOT_NAMED, v) for u, v in zip(units, on, strict=True)) and all(
        (mask >> point) & 1 for mask, point in zip(masks, points, strict=True)
    )


def left_over(problem, lemmas):
    """All rows within the rules that no lemma catches."""
    pairs = list(zip(lemmas.units.tolist(), lemmas.points.tolist(), strict=True))
    return [
        row
        for row in all_rows(problem)
        if obeys_rules(problem, row[0]) and not any(is_caught(row, *pair) for pair in pairs)
    ]


def table(problem, pairs):
    units = np.array([units for units, _ in pairs], dtype=np.int64)
    points = np.array([masks for _, masks in pairs], dtype=np.uint64)
    return LemmaTable(
        units.reshape(len(pairs), problem.group_count),
        points.reshape(len(pairs), len(problem.domains)),
    )


def random_lemmas(rng, problem, count, share=0.3):
    pairs = []
    for _ in range(count):
        units = [
            int(rng.choice(np.flatnonzero(row))) if rng.random() < share else NOT_NAMED
            for row in problem.allowed
        ]
        masks = []
        for domain in problem.domains:
            points = np.flatnonzero(domain.allowed).tolist()
            chosen = [k for k in points if rng.random() < 0.8] or [points[0]]
            # A bit of a point that is not allowed, or does not exist, changes nothing.
            chosen += [k for k in range(64) if k not in points and rng.integers(40) == 0]
            masks.append(sum(1 << k for k in chosen))
        pairs.append((units, masks))
    return table(problem, pairs)


def lemma_leaves(rng, problem, most_leaves=25):
    """Lemmas that cover all and exclude each other: leaves of a random tree of choices."""
    masks = [sum(1 << k for k in np.flatnonzero(d.allowed).tolist()) for d in problem.domains]
    leaves = [([NOT_NAMED] * problem.group_count, masks)]
    for _ in range(40):
        units, masks = leaves.pop(int(rng.integers(len(leaves))))
        groups = [g for g, u in enumerate(units) if u == NOT_NAMED]
        domains = [d for d, mask in enumerate(masks) if mask.bit_count() > 1]
        if groups and (not domains or rng.integers(2)):
            g = int(rng.choice(groups))
            leaves += [
                ([*units[:g], u, *units[g + 1 :]], masks)
                for u in np.flatnonzero(problem.allowed[g]).tolist()
            ]
        elif domains:
            d = int(rng.choice(domains))
            part = masks[d] & int(rng.integers(1, 16))
            leaves += [
                (units, [*masks[:d], some, *masks[d + 1 :]])
                for some in (part, masks[d] & ~part)
                if some
            ]
        else:
            leaves.append((units, masks))
        if len(leaves) >= most_leaves:
            break
    return table(problem, leaves)


def without(lemmas, index):
    return LemmaTable(np.delete(lemmas.units, index, 0), np.delete(lemmas.points, index, 0))


class Formula:
    """The text in Z3, to be asked of single design points."""

    def __init__(self, text):
        self.solver = z3.Solver()
        self.solver.from_string(text)

    def holds_for(self, row):
        units, points = row
        names = [f"x_{g}_{u}" for g, u in enumerate(units)]
        names += [f"o_{d}_{k}" for d, k in enumerate(points)]
        return self.solver.check([z3.Bool(name) for name in names]) == z3.sat


@pytest.mark.parametrize("seed", range(60))
def test_models_are_exactly_the_rows_left_over(seed):
    rng = np.random.default_rng(seed)
    problem = small_problem(seed)
    lemmas = random_lemmas(rng, problem, int(rng.integers(0, 12)), share=rng.random())
    left = set(left_over(problem, lemmas))
    formula = Formula(cover_smtlib(problem, lemmas))
    for row in all_rows(problem):
        assert formula.holds_for(row) == (row in left), row


def test_the_small_problems_have_rows_of_all_kinds():
    """Limits that bind and limits that do not, lemmas that catch all and that leave some."""
    kinds = set()
    for seed in range(60):
        problem = small_problem(seed)
        rows = all_rows(problem)
        kinds |= {("rules", obeys_rules(problem, units)) for units, _ in rows}
        rng = np.random.default_rng(seed)
        lemmas = random_lemmas(rng, problem, int(rng.integers(0, 12)), share=rng.random())
        kinds.add(("left", bool(left_over(problem, lemmas))))
    assert kinds == {(kind, value) for kind in ("rules", "left") for value in (True, False)}


@pytest.mark.parametrize("seed", range(8))
def test_limits_are_exact_for_all_their_values(seed):
    problem = small_problem(seed, networks=(1, 2), groups=(2, 5), units=(2, 3), points=(1, 1))
    rows = all_rows(problem)
    nothing = table(problem, [])
    for limit in range(len(problem.edges) + 2):
        networks = tuple(replace(n, max_transitions=limit) for n in problem.networks)
        free = tuple(replace(unit, max_segments=None) for unit in problem.units)
        limited = replace(problem, networks=networks, units=free)
        formula = Formula(cover_smtlib(limited, nothing))
        assert [formula.holds_for(r) for r in rows] == [obeys_rules(limited, r[0]) for r in rows]
    for limit in range(problem.group_count + 2):
        networks = tuple(replace(n, max_transitions=None) for n in problem.networks)
        units = (replace(problem.units[0], max_segments=limit), *problem.units[1:])
        limited = replace(problem, networks=networks, units=units)
        formula = Formula(cover_smtlib(limited, nothing))
        assert [formula.holds_for(r) for r in rows] == [obeys_rules(limited, r[0]) for r in rows]


@pytest.mark.parametrize("seed", range(24))
def test_a_whole_tree_covers_and_a_needed_leaf_is_missed(seed):
    rng = np.random.default_rng(1000 + seed)
    problem = small_problem(1000 + seed)
    lemmas = lemma_leaves(rng, problem)
    whole = prove_cover(cover_smtlib(problem, lemmas))
    assert (whole.verdict, whole.left_over) == ("unsat", None)
    assert re.fullmatch(r"z3 \d+\.\d+\.\d+.*", whole.solver)
    for index in rng.permutation(len(lemmas))[:3].tolist():
        fewer = without(lemmas, index)
        left = left_over(problem, fewer)
        result = prove_cover(cover_smtlib(problem, fewer))
        assert result.verdict == ("sat" if left else "unsat")
        assert (result.left_over is None) == (not left)
        if result.left_over is not None:
            point = result.left_over
            row = tuple(point.units.tolist()), tuple(point.operating_points.tolist())
            assert row in left
            assert is_caught(row, lemmas.units[index].tolist(), lemmas.points[index].tolist())


@needs_cvc5
@pytest.mark.parametrize("seed", range(12))
def test_cvc5_says_the_same_of_the_same_text(seed):
    rng = np.random.default_rng(2000 + seed)
    problem = small_problem(2000 + seed)
    lemmas = lemma_leaves(rng, problem)
    if seed % 3:
        lemmas = without(lemmas, int(rng.integers(len(lemmas))))
    left = left_over(problem, lemmas)
    result = confirm_cover(cover_smtlib(problem, lemmas))
    assert result is not None
    assert result.verdict == ("sat" if left else "unsat")
    assert re.fullmatch(r"cvc5 \d+\.\d+\.\d+.*", result.solver)
    if result.left_over is not None:
        point = result.left_over
        assert (tuple(point.units.tolist()), tuple(point.operating_points.tolist())) in left
    assert (result.left_over is None) == (not left)


@pytest.mark.parametrize("solver", SOLVERS)
def test_lemmas_at_the_edge(solver):
    problem = small_problem(3)
    problem = replace(
        problem,
        networks=tuple(replace(network, max_transitions=None) for network in problem.networks),
        units=tuple(replace(unit, max_segments=None) for unit in problem.units),
    )
    full = [(1 << len(domain.allowed)) - 1 for domain in problem.domains]
    everything = table(problem, [([NOT_NAMED] * problem.group_count, full)])
    text = cover_smtlib(problem, everything)
    assert "(assert false)" in text
    assert solver(text).verdict == "unsat"
    assert solver(cover_smtlib(problem, table(problem, []))).verdict == "sat"
    # No unit has room for a segment, but all groups must be somewhere.
    units = tuple(replace(unit, max_segments=0) for unit in problem.units)
    crowded = replace(problem, units=units)
    assert solver(cover_smtlib(crowded, table(problem, []))).verdict == "unsat"


LITERAL = r"(?:[a-z]\w*|\(not [a-z]\w*\))"
LINES = re.compile(
    r"; [\x20-\x7e]*|\(set-logic QF_UF\)|\(declare-const [a-z](?:_\d+)+ Bool\)"
    rf"|\(assert \(or {LITERAL}(?: {LITERAL})* false\)\)|\(assert false\)|\(check-sat\)"
)


@pytest.mark.parametrize("seed", range(20))
def test_the_text_is_plain_clauses_of_declared_variables(seed):
    rng = np.random.default_rng(seed)
    problem = small_problem(seed)
    lines = cover_smtlib(problem, random_lemmas(rng, problem, 9)).splitlines()
    assert [line for line in lines if not LINES.fullmatch(line)] == []
    assert lines.count("(check-sat)") == 1
    assert lines[-1] == "(check-sat)"
    declared = [line.split()[1] for line in lines if line.startswith("(declare")]
    assert len(declared) == len(set(declared))
    used = {
        name
        for line in lines
        if line.startswith("(assert")
        for name in re.findall(r"\b[a-z](?:_\d+)+\b", line)
    }
    assert used <= set(declared)
    for name in [*problem.units, *problem.networks, *problem.domains]:
        assert any(line.startswith("; ") and line.endswith(name.name) for line in lines)


@pytest.mark.parametrize("solver", SOLVERS)
def test_names_cannot_leave_their_comment(solver):
    problem = small_problem(3)
    evil = "a\n(assert false)\r(assert false)\x0b\x0c\x00\x1a\x85\u2028é|\\"
    problem = replace(
        problem,
        networks=tuple(replace(n, name=evil, max_transitions=None) for n in problem.networks),
        units=tuple(replace(u, name=evil, max_segments=None) for u in problem.units),
        domains=tuple(replace(d, name=evil) for d in problem.domains),
    )
    text = cover_smtlib(problem, table(problem, []))
    assert text.isascii()
    assert all(LINES.fullmatch(line) for line in text.splitlines())
    assert solver(text).verdict == "sat"


HASH_OF_TEXT = """
import hashlib, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from test_cover import cover_smtlib, random_lemmas, small_problem
problem = small_problem(7)
text = cover_smtlib(problem, random_lemmas(np.random.default_rng(7), problem, 9))
print(hashlib.sha256(text.encode()).hexdigest())
"""


def test_same_bytes_in_every_process(request):
    problem = small_problem(7)
    text = cover_smtlib(problem, random_lemmas(np.random.default_rng(7), problem, 9))
    done = subprocess.run(
        [sys.executable, "-c", HASH_OF_TEXT, str(request.path.parent)],
        capture_output=True,
        text=True,
        check=True,
        cwd=request.config.rootpath,
    )
    assert done.stdout.strip() == hashlib.sha256(text.encode()).hexdigest()


def replaced(array, index, value):
    copy = array.copy()
    copy[index] = value
    return copy


def test_lemmas_that_do_not_fit_are_refused():
    problem = small_problem(5, groups=(3, 4), units=(2, 2), points=(3, 3), unsupported=0.5)
    g, u = np.argwhere(~problem.allowed)[0].tolist()
    d = next(d for d, domain in enumerate(problem.domains) if not domain.allowed.all())
    k = int(np.flatnonzero(~problem.domains[d].allowed)[0])
    good = random_lemmas(np.random.default_rng(5), problem, 4)
    units, points = good.units, good.points
    name = re.escape(problem.domains[d].name)
    bad = {
        rf"lemma 2: group {g} may not be on unit {u}": (replaced(units, (2, g), u), points),
        r"lemma 0: group 1 may not be on unit 9": (replaced(units, (0, 1), 9), points),
        r"lemma 3: group 0 may not be on unit -2": (replaced(units, (3, 0), -2), points),
        rf"lemma 1: .* point of {name}, got the set 0x0": (units, replaced(points, (1, d), 0)),
        rf"lemma 3: .* point of {name}, got the set {1 << k:#x}": (
            units,
            replaced(points, (3, d), 1 << k),
        ),
        r"units must be \[4, \d+\], got \[4, \d+\]": (units[:, 1:], points),
        r"points must be \[4, \d+\], got \[3, \d+\]": (units, points[1:]),
    }
    for complaint, (wrong_units, wrong_points) in bad.items():
        with pytest.raises(ResultError, match=complaint):
            cover_smtlib(problem, LemmaTable(wrong_units, wrong_points))


def pigeonholes(holes):
    """One pigeon more than holes: too hard for solvers without counting, beyond a dozen."""
    lines = ["(set-logic QF_UF)"]
    for p in range(holes + 1):
        lines += [f"(declare-const x_{p}_{h} Bool)" for h in range(holes)]
        lines.append(f"(assert (or {' '.join(f'x_{p}_{h}' for h in range(holes))}))")
        for q in range(p):
            lines += [f"(assert (or (not x_{p}_{h}) (not x_{q}_{h})))" for h in range(holes)]
    return "\n".join([*lines, "(check-sat)\n"])


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_time_limit_gives_unknown(solver):
    assert solver(pigeonholes(4)).verdict == "unsat"
    result = solver(pigeonholes(30), timeout_s=0.3)
    assert (result.verdict, result.left_over) == ("unknown", None)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "(set-logic QF_UF)\n",
        "(set-logic QF_UF)\n(assert x_0_0)\n(assert false)\n(check-sat)\n",
        "(set-logic QF_UF)\n(assert (or false\n(check-sat)\n",
        '(echo "unsat")\n(echo "unsat")\n',
    ],
)
def test_a_text_with_an_error_proves_nothing(solver, text):
    assert solver(text).verdict == "unknown"


def test_without_cvc5_there_is_no_second_opinion(monkeypatch):
    def version(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert confirm_cover("(check-sat)\n") is None


def test_without_its_program_z3_is_named(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "files", lambda name: [])
    with pytest.raises(ResultError, match="z3-solver is installed without its program"):
        prove_cover("(check-sat)\n")
