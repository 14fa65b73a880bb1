"""Small problems with limits, all their rows, random lemmas; and the solvers to ask."""

import importlib.metadata
import importlib.util
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from benchmarks.problems.random_problem import RandomShape, random_problem
from paretosoc.dse.certificate.cover.smtlib import confirm_cover, prove_cover
from paretosoc.results.front.certificate import NOT_NAMED, LemmaTable

MAX_ROWS = 300
needs_cvc5 = pytest.mark.skipif(
    importlib.util.find_spec("cvc5") is None, reason="cvc5 is not installed (extra 'proofs')"
)
SOLVERS = [prove_cover, pytest.param(confirm_cover, marks=needs_cvc5)]


def small_problem(seed, **shape):
    """A problem with limits of all kinds and at most ``MAX_ROWS`` design points."""
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
        if len(all_rows(problem)) <= MAX_ROWS:
            return problem


def all_rows(problem):
    """Every choice of allowed units and points, as tuples (units, points)."""
    units = product(*(np.flatnonzero(row).tolist() for row in problem.allowed))
    points = [np.flatnonzero(domain.allowed).tolist() for domain in problem.domains]
    count = int(np.prod([row.sum() for row in problem.allowed], dtype=float))
    if count * np.prod([len(some) for some in points], dtype=float) > MAX_ROWS:
        return [None] * (MAX_ROWS + 1)
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
        first = {network.first_group for network in problem.networks}
        begins = [g for g in here if g in first or units[g - 1] != u]
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
