"""Limits on sums over the choices of all groups as clauses of SMT-LIB 2 (QF_LIA) over the variables
of :mod:`dse.certificate.cover.smtlib`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from paretosoc.common.arrays import IntArray
from paretosoc.results.problem.limits import additive_figures, additive_limit
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem


def sum_rules(problem: Problem) -> list[str]:
    """Return the rules that the sum over groups of a limited figure is within the limit."""
    rules = []
    figures = additive_figures(problem)
    if Objective(ObjectiveKind.MEMORY) not in figures:
        # Pools may be limited all the same.
        figures = (*figures, Objective(ObjectiveKind.MEMORY))
    for figure in figures:
        if figure.kind is ObjectiveKind.MEMORY:
            rules += _memory_rules(problem)
            continue
        limit = additive_limit(problem, figure)
        if limit is None:
            continue
        groups = range(problem.group_count)
        if figure.network is not None:
            groups = problem.networks[figure.network].groups
        tables = [unit.loss_ppm for unit in problem.units]
        rules.append(_at_most_in_all(_terms(problem, groups, tables), limit))
    return rules


def _memory_rules(problem: Problem) -> list[str]:
    """Return the rules of memory: a network holds at a place no less than any of its groups there
    asks for, ``h_n_p`` of activations in pool p, ``w_n_u`` of weights on unit u, which loads whole
    networks."""
    everywhere = range(len(problem.units))
    pools = [
        [u for u in everywhere if problem.units[u].memory_pool == p]
        for p in range(max(1, len(problem.memory_pools)))
    ]
    caps = [(problem.memory_cap_bytes, range(len(pools)))]
    caps += [(pool.cap_bytes, range(p, p + 1)) for p, pool in enumerate(problem.memory_pools)]
    whole = [u for u in everywhere if problem.units[u].loads_whole_networks]
    declared: dict[str, list[str]] = {}

    def place(name: str, groups: range, units: Sequence[int], asked: Sequence[int]) -> str:
        declared[name] = [f"(declare-const {name} Int)", f"(assert (<= 0 {name}))"] + [
            f"(assert (or (not x_{g}_{u}) (<= {least} {name})))"
            for g, least in zip(groups, asked, strict=True)
            for u in units
            if problem.allowed[g, u]
        ]
        return name

    sums = []
    for cap, counted in caps:
        if cap is None:
            continue
        here = [u for p in counted for u in pools[p]]
        tables = [problem.units[u].weight_bytes if u in here else None for u in everywhere]
        added = [None if u in whole else table for u, table in enumerate(tables)]
        terms = _terms(problem, range(problem.group_count), added)
        for n, network in enumerate(problem.networks):
            groups = network.groups
            for p in counted:
                if len(pools[p]) == len(everywhere):
                    # Wherever its groups are.
                    cap -= network.activation_bytes
                else:
                    terms.append(place(f"h_{n}_{p}", groups, pools[p], network.held_bytes))
            for u in whole:
                table = tables[u]
                if table is not None:
                    total = int(table[groups.start : groups.stop].sum())
                    terms.append(place(f"w_{n}_{u}", groups, [u], [total] * len(groups)))
        sums.append(_at_most_in_all(terms, cap))
    return [rule for rules in declared.values() for rule in rules] + sums


def _terms(problem: Problem, groups: Iterable[int], tables: Sequence[IntArray | None]) -> list[str]:
    """Return a term for the contribution of each group on each of its units."""
    return [
        f"(ite x_{g}_{u} {table[g]} 0)"
        for g in groups
        for u, table in enumerate(tables)
        if table is not None and table[g] and problem.allowed[g, u]
    ]


def _at_most_in_all(terms: Sequence[str], limit: int) -> str:
    # ``+`` takes at least two arguments, and SMT-LIB has no negative numerals.
    most = str(limit) if limit >= 0 else f"(- {-limit})"
    return f"(assert (<= (+ {' '.join((*terms, '0', '0'))}) {most}))"
