"""One formula for any SMT solver: mapping rules and lemmas together leave no design point.

A model of the formula is a design point that obeys the mapping rules and that no lemma catches. So
if solvers say ``unsat``, the lemmas cover the space. The text is plain clauses in SMT-LIB 2
(QF_UF): every solver reads it, and nothing else that a solver prints has to be trusted. The leaves
of a search exclude each other, so no lemma makes another one needless. If the loss of accuracy or
memory is limited, a sum over the choices of all groups is at most the limit (QF_LIA).

Variables:

* ``x_g_u``: group g is on unit u;
* ``o_d_k``: domain d has operating point k;
* ``t_e``: the ends of edge e are on different units (Eq. 3 of HaX-CoNN, of which only that
  direction is needed);
* ``s_g_u``: a segment of unit u begins with group g;
* ``m_d_i``: domain d is outside the i-th set of points that lemmas name;
* registers of sequential counters (Sinz 2005), and integers of
  :mod:`dse.certificate.cover.sum_rules`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from paretosoc.dse.certificate.cover.sum_rules import sum_rules
from paretosoc.results.errors import ResultError
from paretosoc.results.front.certificate import NOT_NAMED, LemmaTable
from paretosoc.results.problem.problem import DesignPoint, Problem


@dataclass(frozen=True)
class CoverResult:
    """A solver's verdict: ``unsat`` (the lemmas cover the space), ``sat`` or ``unknown``."""

    verdict: str
    solver: str
    """Name and version."""
    seconds: float
    left_over: DesignPoint | None = None
    """With ``sat``: a design point within the mapping rules that no lemma catches."""


def cover_smtlib(problem: Problem, lemmas: LemmaTable) -> str:
    """Return the formula as SMT-LIB 2 text in ASCII, the same bytes for the same problem and
    lemmas.

    Raises:
        ResultError: if the lemmas do not fit the problem, or one names a unit that its group may
            not use, or no allowed operating point of a domain.
    """
    _require_fitting(problem, lemmas)
    lines = [
        "; Is there a design point that obeys the mapping rules and that no lemma catches?",
        "; x_g_u: group g is on unit u; o_d_k: domain d has operating point k.",
        "; t_e: edge e changes the unit; s_g_u: a segment of u begins with g;",
        "; m_d_i: domain d is outside the i-th set; c, d: registers of counters.",
        *(f"; unit {u}: {_plain(unit.name)}" for u, unit in enumerate(problem.units)),
        *(f"; domain {d}: {_plain(domain.name)}" for d, domain in enumerate(problem.domains)),
        *(
            f"; groups {network.groups.start} to {network.groups.stop - 1}: {_plain(network.name)}"
            for network in problem.networks
        ),
        f"(set-logic {'QF_LIA' if (sums := sum_rules(problem)) else 'QF_UF'})",
    ]
    units = _units(problem)
    points = [np.flatnonzero(domain.allowed).tolist() for domain in problem.domains]
    variables: list[str] = []
    clauses: list[str] = []
    _unit_rules(units, variables, clauses)
    for d, choices in enumerate(points):
        _exactly_one([f"o_{d}_{k}" for k in choices], variables, clauses)
    _transition_rules(problem, units, variables, clauses)
    _segment_rules(problem, units, variables, clauses)
    lemma_clauses = _lemma_clauses(lemmas, units, points, variables, clauses)
    lines += _declared(variables) + clauses + sums
    lines.append(f"; {len(lemmas)} lemmas: not all of their choices")
    lines += lemma_clauses
    lines.append("(check-sat)")
    return "\n".join(lines) + "\n"


def mapping_smtlib(problem: Problem) -> str:
    """Return the rules of mappings alone: one unit for each group, and the limits on transitions,
    segments, losses of accuracy and memory."""
    units, variables, clauses = _units(problem), list[str](), list[str]()
    _unit_rules(units, variables, clauses)
    _transition_rules(problem, units, variables, clauses)
    _segment_rules(problem, units, variables, clauses)
    return "\n".join(_declared(variables) + clauses + sum_rules(problem))


def _units(problem: Problem) -> list[list[int]]:
    return [np.flatnonzero(row).tolist() for row in problem.allowed]


def _declared(variables: Iterable[str]) -> list[str]:
    return [f"(declare-const {name} Bool)" for name in variables]


def _plain(name: str) -> str:
    """Return a name that cannot end a comment."""
    return name.encode("unicode_escape").decode("ascii")


def _require_fitting(problem: Problem, lemmas: LemmaTable) -> None:
    groups, domains, unit_count = problem.group_count, len(problem.domains), len(problem.units)
    for name, table, width in (("units", lemmas.units, groups), ("points", lemmas.points, domains)):
        if table.shape != (len(lemmas), width):
            raise ResultError(
                f"lemmas: {name} must be [{len(lemmas)}, {width}], got {list(table.shape)}"
            )
    # The column at the end is that of NOT_NAMED (-1): always allowed.
    may = np.append(problem.allowed, np.ones((groups, 1), dtype=np.bool_), axis=1)
    known = (lemmas.units >= NOT_NAMED) & (lemmas.units < unit_count)
    sound = known & may[np.arange(groups), np.where(known, lemmas.units, NOT_NAMED)]
    for index, group in np.argwhere(~sound)[:1].tolist():
        raise ResultError(
            f"lemma {index}: group {group} may not be on unit {lemmas.units[index, group]}"
        )
    for d, ladder in enumerate(problem.allowed_points):
        column = lemmas.points[:, d] & np.uint64(ladder & ~(-1 << 64))
        for index in np.flatnonzero(column == 0)[:1].tolist():
            raise ResultError(
                f"lemma {index}: must name an allowed operating point of "
                f"{problem.domains[d].name}, got the set {lemmas.points[index, d]:#x}"
            )


def _clause(literals: Iterable[str]) -> str:
    """Return a clause. ``false`` is added because ``or`` takes at least two arguments."""
    text = " ".join(literals)
    return f"(assert (or {text} false))" if text else "(assert false)"


def _exactly_one(names: Sequence[str], variables: list[str], clauses: list[str]) -> None:
    variables += names
    clauses.append(_clause(names))
    for index, first in enumerate(names):
        clauses += [_clause((f"(not {first})", f"(not {other})")) for other in names[index + 1 :]]


def _unit_rules(units: Sequence[list[int]], variables: list[str], clauses: list[str]) -> None:
    for g, choices in enumerate(units):
        _exactly_one([f"x_{g}_{u}" for u in choices], variables, clauses)


def _transition_rules(
    problem: Problem, units: Sequence[list[int]], variables: list[str], clauses: list[str]
) -> None:
    """Add the rules of transitions: edges between units, formats aside, at most K of a network."""
    for n, network in enumerate(problem.networks):
        if network.max_transitions is None:
            continue
        changes = []
        for e, (source, target) in enumerate(problem.edges):
            if source not in network.groups:
                continue
            changes.append(f"t_{e}")
            variables.append(f"t_{e}")
            for u in units[source]:
                for v in units[target]:
                    if problem.unit_of[u] != problem.unit_of[v]:
                        ends = (f"(not x_{source}_{u})", f"(not x_{target}_{v})")
                        clauses.append(_clause((*ends, f"t_{e}")))
        _at_most(changes, network.max_transitions, f"c_{n}", variables, clauses)


def _segment_rules(
    problem: Problem, units: Sequence[list[int]], variables: list[str], clauses: list[str]
) -> None:
    """Add the rules of segments: one begins with its network, on another unit or in another
    format."""
    first = {network.first_group for network in problem.networks}
    for u, unit in enumerate(problem.units):
        if unit.max_segments is None:
            continue
        entries = [v for v, first_entry in enumerate(problem.unit_of) if first_entry == u]
        begins = []
        for g, choices in enumerate(units):
            here = [v for v in entries if v in choices]
            if not here:
                continue
            begins.append(f"s_{g}_{u}")
            variables.append(f"s_{g}_{u}")
            for v in here:
                before = [f"x_{g - 1}_{v}"] if g not in first and v in units[g - 1] else []
                clauses.append(_clause((f"(not x_{g}_{v})", *before, f"s_{g}_{u}")))
        _at_most(begins, unit.max_segments, f"d_{u}", variables, clauses)


def _at_most(
    names: Sequence[str], limit: int, prefix: str, variables: list[str], clauses: list[str]
) -> None:
    """Let at most ``limit`` names be true. Register (i, j): at least j + 1 of the first i + 1
    are."""
    if limit >= len(names):
        return
    if limit == 0:
        clauses += [_clause((f"(not {name})",)) for name in names]
        return
    variables += [f"{prefix}_{i}_{j}" for i in range(len(names)) for j in range(limit)]
    for i, name in enumerate(names):
        clauses.append(_clause((f"(not {name})", f"{prefix}_{i}_0")))
        if i == 0:
            continue
        for j in range(limit):
            clauses.append(_clause((f"(not {prefix}_{i - 1}_{j})", f"{prefix}_{i}_{j}")))
            if j + 1 < limit:
                known = (f"(not {name})", f"(not {prefix}_{i - 1}_{j})")
                clauses.append(_clause((*known, f"{prefix}_{i}_{j + 1}")))
        clauses.append(_clause((f"(not {name})", f"(not {prefix}_{i - 1}_{limit - 1})")))


def _lemma_clauses(
    lemmas: LemmaTable,
    units: Sequence[list[int]],
    points: Sequence[list[int]],
    variables: list[str],
    clauses: list[str],
) -> list[str]:
    """Return the clauses that a lemma's choices are not all made. Many lemmas have the same sets,
    so each set is a variable ``m_d_i``, which can only be true if the point of domain d is outside
    it."""
    unit_count = 1 + max((u for choices in units for u in choices), default=0)
    literals = np.full((len(units), unit_count), "", dtype=object)
    for g, choices in enumerate(units):
        for u in choices:
            literals[g, u] = f"(not x_{g}_{u})"
    rows, groups = np.nonzero(lemmas.units != NOT_NAMED)
    elsewhere: list[str] = literals[groups, lemmas.units[rows, groups]].tolist()
    ends = np.cumsum(np.bincount(rows, minlength=len(lemmas))).tolist()
    names: list[dict[int, str]] = [{} for _ in points]
    others: dict[tuple[int, ...], list[str]] = {}
    lemma_clauses = []
    begin = 0
    for end, masks in zip(ends, map(tuple, lemmas.points.tolist()), strict=True):
        if masks not in others:
            for d, mask in enumerate(masks):
                if mask not in names[d]:
                    names[d][mask] = _outside(d, len(names[d]), mask, points[d], variables, clauses)
            others[masks] = [names[d][mask] for d, mask in enumerate(masks) if names[d][mask]]
        lemma_clauses.append(_clause(elsewhere[begin:end] + others[masks]))
        begin = end
    return lemma_clauses


def _outside(
    d: int,
    index: int,
    mask: int,
    points: Sequence[int],
    variables: list[str],
    clauses: list[str],
) -> str:
    """Return a literal that needs domain d at a point outside the mask, or "" if there is none."""
    outside = [f"o_{d}_{k}" for k in points if not (mask >> k) & 1]
    if len(outside) < 2:
        return "".join(outside)
    name = f"m_{d}_{index}"
    variables.append(name)
    clauses.append(_clause((f"(not {name})", *outside)))
    return name


def prove_cover(text: str, *, timeout_s: float | None = None) -> CoverResult:
    """Return Z3's verdict on the formula, from a separate process, so that the time limit always
    holds.

    Raises:
        ResultError: if the program that comes with ``z3-solver`` is missing.
    """
    from importlib.metadata import version

    return _ask(f"z3 {version('z3-solver')}", [_z3_program(), "-in", "-smt2"], text, timeout_s)


def confirm_cover(text: str, *, timeout_s: float | None = None) -> CoverResult | None:
    """Return cvc5's verdict on the same text, or None if it is not installed (extra ``proofs``)."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        name = f"cvc5 {version('cvc5')}"
    except PackageNotFoundError:
        return None
    return _ask(
        name, [sys.executable, "-m", "paretosoc.dse.certificate.cover.cvc5"], text, timeout_s
    )


def _ask(name: str, command: Sequence[str], text: str, timeout_s: float | None) -> CoverResult:
    began = time.monotonic()
    verdict = _answer(command, text, timeout_s).strip()
    left_over = None
    if verdict == "sat":
        # Run again to get the model, so that the proved text is the file's, unchanged.
        left = None if timeout_s is None else max(0.0, timeout_s - (time.monotonic() - began))
        left_over = _model(command, text, left)
    elif verdict != "unsat":
        verdict = "unknown"
    return CoverResult(verdict, name, time.monotonic() - began, left_over)


def _answer(command: Sequence[str], text: str, timeout_s: float | None) -> str:
    try:
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout


def _model(command: Sequence[str], text: str, timeout_s: float | None) -> DesignPoint | None:
    """Return the design point of a model of the formula, or None if the time does not suffice."""
    names = re.findall(r"^\(declare-const ([xo]_\d+_\d+) Bool\)$", text, re.MULTILINE)
    answer = _answer(
        command,
        f"(set-option :produce-models true)\n{text}(get-value ({' '.join(names)}))\n",
        timeout_s,
    )
    chosen: dict[str, dict[int, int]] = {"x": {}, "o": {}}
    for kind, subject, choice in re.findall(r"\(([xo])_(\d+)_(\d+) true\)", answer):
        chosen[kind][int(subject)] = int(choice)
    if not chosen["x"]:
        return None
    return DesignPoint(
        *(np.array([values[i] for i in sorted(values)], np.int64) for values in chosen.values())
    )


def _z3_program() -> str:
    """Return the path of the program of the installed package ``z3-solver``, of its version."""
    from importlib.metadata import files

    for path in files("z3-solver") or ():
        if path.name in ("z3", "z3.exe"):
            return str(path.locate())
    raise ResultError("z3: the package z3-solver is installed without its program; reinstall it")
