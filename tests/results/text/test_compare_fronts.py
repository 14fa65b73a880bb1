"""What a comparison of two fronts says, for figures and problems made by hand."""

from dataclasses import replace

import pytest

from paretosoc.results.front.front import Robust
from paretosoc.results.problem.execution import Rates
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.text.compare_fronts import compare_fronts, problem_differences

RESPONSE = (Objective(ObjectiveKind.RESPONSE),)


def with_objectives(front, rows):
    """A front with other figures: what the comparison sees of it."""
    base = front.members[0]
    return replace(front, members=tuple(replace(base, objectives=row) for row in rows))


@pytest.mark.parametrize(("least", "factor"), [(2, 2.0), (1, 1.0), (0, None), (-2, None)])
def test_a_factor_between_fronts_needs_objectives_above_0(front, least, factor):
    """No factor turns 0 into anything else, so an objective of 0 leaves none to name."""
    first, second = with_objectives(front, [(least, 5)]), with_objectives(front, [(1, 5)])
    found = compare_fronts(first, second)
    assert found.first.multiplicative_epsilon == factor
    assert (found.second.multiplicative_epsilon is None) is (factor is None)


def test_releases_are_told_of_networks_that_have_them(front):
    """A network that is not paced has none, however often it runs."""
    one, other = front.problem.networks
    paced = replace(one, paced=True, repeats=3)
    twice = replace(one, repeats=2)

    def releases(mine, theirs):
        given = replace(front.problem, execution=Rates(10**9), objectives=RESPONSE)
        problems = [replace(given, networks=(network, other)) for network in (mine, theirs)]
        fronts = [replace(front, problem=problem) for problem in problems]
        lines = problem_differences(*fronts)
        return [line for line in lines if line.startswith("releases of")]

    assert releases(paced, replace(paced, repeats=4)) == [f"releases of {one.name}: 3 and 4"]
    assert releases(paced, twice) == [f"releases of {one.name}: 3 and none"]
    assert releases(one, twice) == []


def test_a_front_by_a_measure_is_not_taken_for_one_by_nominal_costs(front):
    """Its members may be behind in the nominal figures that are compared."""
    robust = replace(front, robust=Robust("p90", 40, 0))
    (difference,) = compare_fronts(front, robust).differences
    assert difference == (
        "what was searched by: nominal costs and percentile 90 over 40 draws with the seed 0; "
        "nominal figures are compared"
    )
    other_draws = replace(front, robust=Robust("p90", 40, 1))
    assert "seed 0 and percentile 90" in compare_fronts(robust, other_draws).differences[0]


def test_fronts_by_one_measure_are_compared_by_it(front):
    """The first is better by nominal figures, the second by the measure."""
    one, other = (
        replace(
            with_objectives(front, [nominal]),
            robust=Robust("p90", 40, 0),
        )
        for nominal in ((1, 5), (2, 6))
    )
    first, second = (
        replace(each, members=(replace(each.members[0], robust=measured),))
        for each, measured in ((one, (9, 9)), (other, (8, 7)))
    )
    found = compare_fronts(first, second)
    assert (found.measure, found.differences) == ("p90", ())
    assert (found.first.dominated, found.second.dominated) == ((0,), ())
    assert (found.first.best, found.second.best) == ((9, 9), (8, 7))
    nominal = compare_fronts(first, replace(second, robust=Robust("p90", 40, 1)))
    assert (nominal.measure, nominal.second.dominated) == (None, (0,))
