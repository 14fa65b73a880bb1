"""How sure times are, in words."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

import paretosoc as dse_library
from paretosoc.common.units import percent_off
from paretosoc.results.costs.cost_origins import CostError
from paretosoc.results.front.front import Front
from paretosoc.results.text.confidence import describe_costs


def with_error(costs, error):
    networks = tuple(
        replace(
            network,
            groups=tuple(
                replace(g, by_unit=tuple(replace(x, error=error) for x in g.by_unit))
                for g in network.groups
            ),
        )
        for network in costs.networks
    )
    return replace(costs, networks=networks)


def test_words_say_at_which_clocks_a_time_was_measured(pair_folder):
    front = dse_library.load(pair_folder)
    unit = next(unit for unit in front.problem.units if unit.clocks)
    domain = front.problem.domains[unit.clocks[0]]
    at = ((domain.name, int(domain.frequencies_khz[0])),)

    def told(error: CostError) -> str:
        return describe_costs(front.numeric, with_error(front.costs, error))[0]

    exact, measured = CostError(network=20, clock=70), CostError(20, clock=70, at_khz=at)
    assert f"at {domain.name} {at[0][1] / 1000:g} MHz: " not in told(exact)
    assert f"at {domain.name} {at[0][1] / 1000:g} MHz: " in told(measured)


def test_the_error_of_clocks_counts_from_the_boards_fastest_as_in_draws(pair_folder):
    """A power mode that offers slower clocks only is further from what is known."""
    front = dse_library.load(pair_folder).numeric
    slower = tuple(
        replace(domain, allowed=np.arange(len(domain.frequencies_khz)) == 0)
        for domain in front.problem.domains
    )
    mode = replace(front, problem=replace(front.problem, domains=slower))
    at = tuple((domain.name, int(domain.frequencies_khz[0])) for domain in slower)
    costs = dse_library.load(pair_folder).costs

    def half_within(of: Front, error: CostError) -> float:
        text = describe_costs(of, with_error(costs, error))[0]
        return max(float(found) for found in re.findall(r"(\d+) and [\d to]+ %", text))

    estimate, there = CostError(network=20, clock=300), CostError(20, clock=300, at_khz=at)
    assert half_within(mode, estimate) > half_within(front, estimate) == half_within(mode, there)


def test_idle_power_has_its_own_words_if_other_powers_are_given(tmp_path) -> None:
    (tmp_path / "w.yaml").write_text(
        "tasks: [{name: a, rate_hz: 100, times: [{unit: cpu, ms: 2, power_mw: 1000}]}]"
    )
    front = dse_library.explore(tmp_path / "w.yaml", "jetson-orin-nano-8gb", max_evaluations=20)
    lines = describe_costs(front.numeric, front.costs)
    assert lines[1] == "Other errors, median: powers above idle 4 %, idle power 17 %."


def test_words_say_that_co_runs_are_known_less_well(pair_folder):
    """Intervals of pairs are far wider than the errors of times alone."""
    front = dse_library.load(pair_folder)
    off = percent_off(front.costs.demand_error)
    assert off > 100
    beside = f"contention between networks: bandwidth demand {off} %"
    assert beside in describe_costs(front.numeric, front.costs)[1]
    exact = replace(front.costs, demand_error=0, sharing_error=0)
    assert "contention" not in describe_costs(front.numeric, exact)[1]


def test_words_speak_of_contention_only_if_a_member_has_some(pair_folder):
    """Networks on one unit that runs them one after the other do not contend."""
    front = dse_library.load(pair_folder)

    def told(rows: list[list[int]]) -> str:
        units = (np.array(row, dtype=member.design.units.dtype) for row in rows)
        members = tuple(replace(member, design=replace(member.design, units=row)) for row in units)
        return describe_costs(replace(front.numeric, members=members), front.costs)[1]

    member, problem = front.numeric.members[0], front.problem
    gpu, dla = ([u] * len(problem.network_of) for u in (0, 1))
    apart = list(problem.network_of)
    assert "contention" not in told([gpu])
    assert "contention" not in told([gpu, dla])
    assert "bandwidth demand" in told([gpu, apart])
    assert "shared unit" not in told([gpu, apart])


def test_words_are_two_lines_with_the_least_and_the_largest_error(pair_folder):
    front = dse_library.load(pair_folder)
    errors = iter(range(20, 400, 20))
    networks = tuple(
        replace(
            network,
            groups=tuple(
                replace(
                    group,
                    by_unit=tuple(replace(x, error=error) for x in group.by_unit),
                )
                for group in network.groups
            ),
        )
        for network in front.costs.networks
        for error in [CostError(network=next(errors))]
    )
    lines = describe_costs(front.numeric, replace(front.costs, networks=networks))
    assert len(lines) == 2
    assert re.search(r"percentile: \d+ to \d+ and \d+ to \d+ % \(", lines[0])


def test_words_claim_no_error_of_powers_that_nobody_knows(pair_folder):
    """This machine's power is not measured."""
    front = dse_library.load(pair_folder)
    members = tuple(replace(member, energy_fj=0) for member in front.numeric.members)
    lines = describe_costs(replace(front.numeric, members=members), front.costs)
    assert "No power is known." in lines
    assert not any("powers" in line for line in lines)
