"""Workloads however they are made: circles, limits, names."""

from fractions import Fraction

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.workload.workload import Pin, Workload, WorkloadNetwork, with_unique_names
from paretosoc.dse.workload.workload_check import check_workload


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("frames_in_flight", 9, "an integer from 1 to 8 is required, got 9"),
        ("frames_per_second", Fraction(0), r"a number from .* is required, got Fraction\(0, 1\)"),
        ("power_cap_w", Fraction(-1), r"a number from .* is required, got Fraction\(-1, 1\)"),
    ],
)
def test_a_workload_has_no_figure_out_of_its_range(field, value, words):
    with pytest.raises(WorkloadError, match=f"^{field}: {words}"):
        Workload((WorkloadNetwork("a", "a"),), **{field: value})


@settings(derandomize=True, deadline=None, max_examples=100)
@given(
    st.integers(1, 6).flatmap(
        lambda n: st.tuples(
            st.just(n), st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)))
        )
    )
)
def test_circles_are_refused_and_named(case):
    count, waits = case
    workload = Workload(
        tuple(
            WorkloadNetwork(
                f"n{n}", "vgg19", waits_for=tuple(f"n{b}" for a, b in sorted(waits) if a == n)
            )
            for n in range(count)
        )
    )
    graph = nx.DiGraph(sorted(waits))
    if nx.is_directed_acyclic_graph(graph):
        check_workload(workload)
        return
    with pytest.raises(WorkloadError, match="in a circle") as caught:
        check_workload(workload)
    links = str(caught.value).split(": ")[2].split(", ")
    pairs = [tuple(int(name.strip("'n")) for name in link.split(" for ")) for link in links]
    assert set(pairs) <= waits
    assert all(pairs[i][1] == pairs[(i + 1) % len(pairs)][0] for i in range(len(pairs)))


@pytest.mark.parametrize(
    ("workload", "part"),
    [
        (Workload(()), "at least one"),
        (Workload((WorkloadNetwork("a", "a"), WorkloadNetwork("a", "b"))), "'a'.*twice"),
        (Workload((WorkloadNetwork("a", "a", waits_for=("b",)),)), "'b', which is not in"),
        (Workload((WorkloadNetwork("a", "a", repeats=0),)), "repeats.*at least 1, got 0"),
        (Workload((WorkloadNetwork("a", "a", arrival_ms=Fraction(-1)),)), "arrival_ms.*-1"),
        (Workload((WorkloadNetwork("a", "a", max_transitions=-1),)), "max_transitions.*-1"),
        (Workload((WorkloadNetwork("a", "a", rate_hz=Fraction(0)),)), "rate_hz must be above 0"),
        (
            Workload((WorkloadNetwork("a", "a", 2, rate_hz=Fraction(1)),)),
            "rate_hz excludes repeats",
        ),
        (Workload((WorkloadNetwork("a", "a", priority=-1),)), "priority.*at least 0, got -1"),
        (Workload((WorkloadNetwork("a", "a", priority=100),)), "priority.*at most 99, got 100"),
        (Workload((WorkloadNetwork("a", "a", deadline_ms=Fraction(0)),)), "deadline_ms.*above 0"),
        (Workload((WorkloadNetwork("a", "a", min_rate_hz=Fraction(0)),)), "min_rate_hz.*above 0"),
        (Workload((WorkloadNetwork("a", "a", pins=(Pin(2, 1, "gpu"),)),)), "2 to 1"),
    ],
)
def test_workloads_made_by_programs_are_checked_too(workload, part):
    with pytest.raises(WorkloadError, match=part):
        check_workload(workload)


def test_copies_get_names_that_nobody_has():
    names = ["a", "a#2", "a", "a", "b", "a#2"]
    unique = with_unique_names([WorkloadNetwork(name, "x") for name in names])
    assert [network.name for network in unique] == ["a", "a#2", "a#3", "a#4", "b", "a#2#2"]
