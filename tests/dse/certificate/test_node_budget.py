"""How many nodes a search has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.problems.random_problem import RandomShape, random_problem
from paretosoc.common.deadline import Deadline
from paretosoc.dse.certificate.certify import Limits, usual_nodes


def test_a_search_of_repeated_networks_has_fewer_nodes_in_the_same_time() -> None:
    drawn = random_problem(np.random.default_rng(3), RandomShape())
    once, often = (
        replace(drawn, networks=tuple(replace(one, repeats=count) for one in drawn.networks))
        for count in (1, 100)
    )
    groups = sum(len(network.groups) for network in once.networks)
    assert usual_nodes(once, 4_000_000) == Limits(4_000_000).most_nodes(often) == 4_000_000
    assert usual_nodes(often, 4_000_000) == 4_000_000 * 300 // (300 + 99 * groups)
    assert Limits().most_nodes(often) == usual_nodes(often) < usual_nodes(once)
    assert Limits(until=Deadline.after(1.0)).most_nodes(often) is None
