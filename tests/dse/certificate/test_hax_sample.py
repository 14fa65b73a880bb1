"""HaX-CoNN's sample: its optima certified, and the schedule that its own solver prints."""

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from benchmarks.problems.hax_sample import DATA, KNOWN_BEST_MAKESPAN_PS, hax_sample
from paretosoc.dse.certificate.cover.smtlib import confirm_cover, cover_smtlib, prove_cover
from paretosoc.dse.certificate.improve import find_fastest
from paretosoc.fitness.check.members import frames as plain_timeline
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.results.front.certificate import LemmaTable
from paretosoc.results.problem.problem import DesignPoint
from tests.support.proofs.lemmas import faults, leaves_of

PRINTED = DATA.with_name("hax_printed_schedule.json")


def printed_schedule(path: Path = PRINTED):
    return json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)


def printed_design(problem) -> DesignPoint:
    names = [unit.name for unit in problem.units]
    units = [names.index(u) for entry in printed_schedule()["networks"] for u in entry["units"]]
    return DesignPoint(np.array(units, dtype=np.int64), np.zeros(2, dtype=np.int64))


@pytest.mark.parametrize(("contention", "limit"), sorted(KNOWN_BEST_MAKESPAN_PS, key=str))
def test_the_optimum_is_certified(contention, limit):
    """The tree by both checkers, and once more that it leaves nothing out by Z3."""
    problem = hax_sample(contention=contention, max_transitions=limit)
    best_ps = KNOWN_BEST_MAKESPAN_PS[contention, limit]
    found = find_fastest(problem)
    assert found.complete
    assert found.best_value == best_ps
    assert plain_timeline.simulate(problem, found.best).frame_end_ps == (best_ps,)
    assert faults(problem, found.tree, LemmaTarget((0,), ((best_ps,),), prices=found.prices)) == (
        None,
        None,
    )
    lemmas = leaves_of(problem, found.tree, (0,))
    text = cover_smtlib(problem, lemmas)
    assert prove_cover(text).verdict == "unsat"
    second = confirm_cover(text)
    assert second is not None
    assert second.verdict == "unsat"
    # Without its lemmas the formula has a model: a design point that nothing rules out.
    none = LemmaTable(lemmas.units[:0], lemmas.points[:0])
    assert prove_cover(cover_smtlib(problem, none)).verdict == "sat"
    # One picosecond less is not proved: the best design point itself is in the way.
    less = LemmaTarget((0,), ((best_ps + 1,),), prices=found.prices)
    assert None not in faults(problem, found.tree, less)


def test_the_printed_schedule_is_infeasible():
    """AlexNet's second group starts on the GPU 60 us before the first has ended on the DLA, alone
    and without a transition: its solver waits for the time that the first would take on the GPU."""
    problem = hax_sample(contention=False)
    printed = printed_schedule()
    starts = [_ps(value) for entry in printed["networks"] for value in entry["start_ms"]]
    units = printed_design(problem).units.tolist()
    ends = [
        start + int(problem.units[unit].time_ps[group, 0])
        for group, (start, unit) in enumerate(zip(starts, units, strict=True))
    ]
    early = {
        (source, target): ends[source] - starts[target]
        for source, target in problem.edges
        if starts[target] < ends[source]
    }
    assert early == {(10, 11): 60_000_000}
    assert max(ends) == _ps(printed["objective_ms"])


def test_the_printed_mapping_is_slower_than_the_certified_optimum():
    """15 % below what that mapping takes by the dispatch rule, which is below what was printed."""
    problem = hax_sample(max_transitions=1)
    (played,) = plain_timeline.simulate(problem, printed_design(problem)).frame_end_ps
    assert played == 3_931_283_378
    assert KNOWN_BEST_MAKESPAN_PS[True, 1] < played < _ps(printed_schedule()["objective_ms"])


def _ps(milliseconds: Decimal) -> int:
    return round(Fraction(milliseconds) * 10**9)
