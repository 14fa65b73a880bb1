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
    assert f"at {domain.name} {at[0][1] / 1000:g} MHz, half within" not in told(exact)
    assert f"at {domain.name} {at[0][1] / 1000:g} MHz, half within" in told(measured)


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
        return max(float(found) for found in re.findall(r"half within ([0-9.]+) %, nine", text))

    estimate, there = CostError(network=20, clock=300), CostError(20, clock=300, at_khz=at)
    assert half_within(mode, estimate) > half_within(front, estimate) == half_within(mode, there)


def test_idle_power_has_its_own_words_if_other_powers_are_given(tmp_path) -> None:
    (tmp_path / "w.yaml").write_text(
        "tasks: [{name: a, rate_hz: 100, times: [{unit: cpu, ms: 2, power_mw: 1000}]}]"
    )
    front = dse_library.explore(tmp_path / "w.yaml", "jetson-orin-nano-8gb", max_evaluations=20)
    (words, *_) = describe_costs(front.numeric, front.costs)
    assert words.endswith("Powers above idle: half within 4 %, idle power within 17 %.")


def test_words_say_that_co_runs_are_known_less_well(pair_folder):
    """Intervals of pairs are far wider than the errors of times alone."""
    front = dse_library.load(pair_folder)
    lines = describe_costs(front.numeric, front.costs)
    beside = "Contention between networks is known less well: bandwidth demand"
    off = percent_off(front.costs.demand_error)
    assert off > 100
    assert any(line.startswith(f"{beside} half within {off} %") for line in lines)
    exact = replace(front.costs, demand_error=0, sharing_error=0)
    assert not any("Contention" in line for line in describe_costs(front.numeric, exact))


def test_words_claim_no_error_of_powers_that_nobody_knows(pair_folder):
    """This machine's power is not measured."""
    front = dse_library.load(pair_folder)
    members = tuple(replace(member, energy_fj=0) for member in front.numeric.members)
    (words, *_) = describe_costs(replace(front.numeric, members=members), front.costs)
    assert words.endswith("No power is known.")
