"""The share of the space that an exact search has done."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from math import prod

import numpy as np
import pytest

from benchmarks.problems.random_problem import RandomShape, random_problem
from paretosoc.dse.certificate.subtree import whole_space
from paretosoc.dse.certificate.work_left import design_points, likely_nodes
from paretosoc.results.problem.problem import Problem


def drawn(seed: int, most: int | None) -> Problem:
    shape = RandomShape(networks=(2, 2), groups=(3, 3), units=(3, 3), points=(2, 2))
    problem = random_problem(np.random.default_rng(seed), shape)
    networks = tuple(replace(network, max_transitions=most) for network in problem.networks)
    return replace(problem, networks=networks)


@pytest.mark.parametrize("seed", [4, 5])
@pytest.mark.parametrize("most", [0, 1, None])
def test_design_points_of_a_part_are_those_of_an_enumeration(seed: int, most: int | None) -> None:
    problem = drawn(seed, most)
    root = whole_space(problem, 2)
    first = int(np.flatnonzero(problem.allowed[0])[0])
    units = root.units.copy()
    units[0] = first
    wanted = []
    for chosen in ([*range(len(problem.units))], [first]):
        count = prod(int(domain.allowed.sum()) for domain in problem.domains)
        for network in problem.networks:
            groups = list(network.groups)
            choices = [
                [u for u in np.flatnonzero(problem.allowed[g]) if g or u in chosen] for g in groups
            ]
            count *= sum(
                most is None or sum(a != b for a, b in pairwise(way)) <= most
                for way in product(*choices)
            )
        wanted.append(count)
    assert design_points(problem, [root, replace(root, units=units)]).tolist() == wanted


def test_nothing_is_said_of_a_search_that_has_done_nothing() -> None:
    problem = drawn(4, None)
    assert likely_nodes(problem, whole_space(problem, 2), 1_000) is None
