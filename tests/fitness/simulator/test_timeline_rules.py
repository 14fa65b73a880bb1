"""The rules of the timeline on problems small enough to be played by hand.

Every case is played by the compiled and by the plain timeline.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.problems.random_problem import RandomShape, random_design, random_problem
from paretosoc.fitness import simulate as timeline
from paretosoc.fitness.check.members import frames as plain_timeline
from paretosoc.fitness.contention import contention_table, lost_rate
from paretosoc.fitness.simulate_long_run import make_long_run_evaluator
from paretosoc.results.front.schedule import ScheduledGroup
from paretosoc.results.problem.arithmetic import WORK_PER_PS
from paretosoc.results.problem.execution import ENGINE, SHARED, Pipeline, Rates, SearchedOrder
from paretosoc.results.problem.problem import Problem
from tests.support.both_timelines import simulate, spans
from tests.support.problems.small_problems import (
    NO_LIMIT_KBPS,
    design,
    flat_loss,
    network,
    parameters,
    problem,
)

BUSY_KBPS = 100
"""A demand that slows co-runners in full under ``flat_loss``."""


def start_order(played: timeline.Timeline) -> list[tuple[int, int, int, int]]:
    """(frame, network, repeat, group) by start."""
    return [
        (group.frame, group.network, group.repeat, group.group)
        for group in sorted(played.schedule.groups, key=lambda group: group.start_ps)
    ]


def dispatched(stated: Problem, dispatch: str, sharing_permille: int = 0) -> Problem:
    units = (
        replace(unit, dispatch=dispatch, sharing_permille=sharing_permille) for unit in stated.units
    )
    return replace(stated, units=tuple(units))


class TestDispatch:
    def test_an_engine_runs_to_its_end(self) -> None:
        networks = [network("a", 0, 2), network("b", 2, 1)]
        stated = problem(networks, [[10], [10], [5]], edges={(0, 1): 0})
        assert spans(simulate(stated, [0, 0, 0])) == [(0, 10), (15, 25), (10, 15)]
        engines = dispatched(stated, ENGINE)
        assert spans(simulate(engines, [0, 0, 0])) == [(0, 10), (10, 20), (20, 25)]

    def test_another_priority_does_not_end_an_engine(self) -> None:
        networks = [network("a", 0, 2), network("b", 2, 1, arrival_ps=5)]
        stated = with_priority(problem(networks, [[10], [10], [5]], edges={(0, 1): 0}), 1, 0)
        engines = dispatched(stated, ENGINE)
        assert spans(simulate(engines, [0, 0, 0])) == [(0, 10), (10, 20), (20, 25)]

    def test_an_engine_waits_for_all_that_it_reads(self) -> None:
        edges = {(0, 2): 3, (1, 2): 0}
        stated = problem([network("a", 0, 3)], [[30, 30], [10, 10], [10, 10]], edges=edges)
        assert spans(simulate(stated, [1, 0, 0])) == [(0, 30), (0, 10), (33, 43)]
        engines = dispatched(stated, ENGINE)
        assert spans(simulate(engines, [1, 0, 0])) == [(0, 30), (33, 43), (43, 53)]

    def test_what_leaves_an_engine_does_so_at_its_end(self) -> None:
        edges = {(0, 1): 0, (0, 2): 3, (1, 3): 0, (2, 3): 0}
        stated = problem([network("a", 0, 4)], [[10, 10]] * 4, edges=edges)
        units = [0, 0, 1, 0]
        assert spans(simulate(stated, units)) == [(0, 10), (10, 20), (13, 23), (23, 33)]
        engines = dispatched(stated, ENGINE)
        assert spans(simulate(engines, units)) == [(0, 10), (10, 20), (23, 33), (33, 43)]

    def test_repeats_are_engines_of_their_own(self) -> None:
        networks = [network("a", 0, 2, repeats=2), network("b", 2, 1)]
        engines = dispatched(problem(networks, [[10], [10], [5]], edges={(0, 1): 0}), ENGINE)
        played = spans(simulate(engines, [0, 0, 0]))
        assert played == [(0, 10), (10, 20), (25, 35), (35, 45), (20, 25)]

    def test_engines_of_two_networks_share_a_unit(self) -> None:
        networks = [network("a", 0, 1), network("b", 1, 1)]
        shared = dispatched(problem(networks, [[1000], [2000]]), SHARED, 250)
        # Each gets 26214 of 65536: 0.8 / 2, rounded down.
        assert spans(simulate(shared, [0, 0])) == [(0, 2501), (0, 3501)]

    def test_one_network_shares_nothing(self) -> None:
        stated = problem([network("a", 0, 2)], [[10], [10]], edges={})
        shared = dispatched(stated, SHARED, 250)
        assert spans(simulate(shared, [0, 0])) == [(0, 10), (10, 20)]

    def test_others_see_the_largest_demand_of_a_shared_unit(self) -> None:
        networks = [network("a", 0, 1), network("b", 1, 1), network("c", 2, 1)]
        times, demands = [[4000, -1], [4000, -1], [-1, 1000]], [0, BUSY_KBPS, 0]
        stated = problem(networks, times, demands_kbps=demands, contention=flat_loss("50"))
        shared = dispatched(stated, SHARED)
        assert spans(simulate(shared, [0, 0, 1])) == [(0, 8000), (0, 8000), (0, 2000)]


class TestPhases:
    """A prompt of two groups on unit 0, then three tokens of two groups each."""

    def stated(self, handovers: dict[tuple[int, int], int]) -> Problem:
        networks = [network("prompt", 0, 2), network("answer", 2, 2, repeats=3, waits_for=(0,))]
        edges = {(0, 1): 0, (2, 3): 0}
        base = problem(networks, [[10, 10], [20, 20], [5, 5], [6, 6]], edges=edges)
        step = np.array([[0], [0], [1], [2]], dtype=np.int64)
        delays = np.zeros((len(handovers), 2, 2), dtype=np.int64)
        for table, delay in zip(delays, handovers.values(), strict=True):
            table[0, 1] = table[1, 0] = delay
        return replace(
            base,
            units=tuple(replace(unit, step_ps=step) for unit in base.units),
            handovers=tuple(handovers),
            handover_ps=delays,
        )

    def test_every_repeat_takes_a_step_longer(self) -> None:
        played = simulate(self.stated({}), [0, 0, 0, 0])
        answer = [(30, 35), (35, 41), (41, 47), (47, 55), (55, 62), (62, 72)]
        assert spans(played) == [(0, 10), (10, 30), *answer]
        assert [row.alone_ps for row in played.schedule.groups[2:]] == [5, 6, 6, 8, 7, 10]

    def test_a_hand_over_delays_the_first_repeat_of_its_target(self) -> None:
        """What group 0 leaves arrives at 110, while the first group of the answer runs from 30."""
        played = simulate(self.stated({(0, 3): 100}), [0, 0, 1, 1])
        assert spans(played)[2:] == [(30, 35), (110, 116), (116, 122), (122, 130), *END]

    def test_a_hand_over_to_a_first_group(self) -> None:
        played = simulate(self.stated({(1, 2): 4, (0, 2): 7}), [0, 0, 1, 0])
        assert spans(played)[2] == (34, 39)

    def test_there_is_none_on_one_unit(self) -> None:
        played = simulate(self.stated({(1, 2): 4, (0, 3): 100}), [0, 0, 0, 0])
        assert spans(played) == spans(simulate(self.stated({}), [0, 0, 0, 0]))


END = [(130, 137), (137, 147)]
"""The third token, where the second has ended at 130."""


class TestQueue:
    def test_one_group(self) -> None:
        played = simulate(problem([network("a", 0, 1)], [[70]]), [0])
        assert played.schedule.groups == (
            ScheduledGroup(1, 0, 1, 0, unit=0, ready_ps=0, start_ps=0, end_ps=70, alone_ps=70),
        )
        assert played.frame_end_ps == (70,)
        assert played.latency_ps == ((70,),)

    def test_a_unit_runs_one_group_at_a_time(self) -> None:
        played = simulate(problem([network("a", 0, 1), network("b", 1, 1)], [[70], [50]]), [0, 0])
        assert spans(played) == [(0, 70), (70, 120)]
        assert played.latency_ps == ((70, 120),)

    def test_two_units_run_at_the_same_time(self) -> None:
        stated = problem([network("a", 0, 1), network("b", 1, 1)], [[70, 1], [1, 50]])
        assert spans(simulate(stated, [0, 1])) == [(0, 70), (0, 50)]

    def test_first_ready_goes_first_whatever_its_number(self) -> None:
        networks = [
            network("late", 0, 1, arrival_ps=30),
            network("early", 1, 1, arrival_ps=20),
            network("running", 2, 1),
        ]
        played = simulate(problem(networks, [[5], [7], [100]]), [0, 0, 0])
        assert spans(played) == [(107, 112), (100, 107), (0, 100)]

    def test_ties_go_by_network(self) -> None:
        networks = [network(name, g, 1) for g, name in enumerate("abc")]
        played = simulate(problem(networks, [[3], [2], [1]]), [0, 0, 0])
        assert spans(played) == [(0, 3), (3, 5), (5, 6)]

    def test_ties_go_by_group(self) -> None:
        """Three groups without edges between them are all ready at once."""
        played = simulate(problem([network("a", 0, 3)], [[3], [2], [1]]), [0, 0, 0])
        assert spans(played) == [(0, 3), (3, 5), (5, 6)]

    def test_ties_go_by_frame_before_network(self) -> None:
        networks = [network("a", 0, 1), network("b", 1, 1)]
        played = simulate(problem(networks, [[10], [10]]), [0, 0], frames=2, in_flight=2)
        assert start_order(played) == [(1, 0, 1, 0), (1, 1, 1, 1), (2, 0, 1, 0), (2, 1, 1, 1)]

    def test_ties_go_by_network_before_repeat(self) -> None:
        """At 10, the second repeat of the first network and the second network become ready."""
        networks = [network("a", 0, 1, repeats=2), network("b", 1, 1, arrival_ps=10)]
        played = simulate(problem(networks, [[10], [10]]), [0, 0])
        assert start_order(played) == [(1, 0, 1, 0), (1, 0, 2, 0), (1, 1, 1, 1)]
        swapped = [network("b", 0, 1, arrival_ps=10), network("a", 1, 1, repeats=2)]
        played = simulate(problem(swapped, [[10], [10]]), [0, 0])
        assert start_order(played) == [(1, 1, 1, 1), (1, 0, 1, 0), (1, 1, 2, 1)]


class TestPriority:
    """0 is the first; what runs is not interrupted."""

    def test_a_smaller_priority_goes_first_though_ready_later(self) -> None:
        networks = [
            network("background", 0, 2),
            network("middle", 2, 1, arrival_ps=4),
            network("urgent", 3, 1, arrival_ps=5),
        ]
        stated = problem(networks, [[10], [10], [10], [10]])
        assert spans(simulate(stated, [0] * 4)) == [(0, 10), (10, 20), (20, 30), (30, 40)]
        ranked = with_priority(stated, 2, 1, 0)
        assert spans(simulate(ranked, [0] * 4)) == [(0, 10), (30, 40), (20, 30), (10, 20)]

    def test_of_one_priority_the_first_ready_goes_first_then_the_first_network(self) -> None:
        networks = [network("a", 0, 1, arrival_ps=3), *map(network, "bcd", (1, 2, 3), (1, 1, 1))]
        ranked = with_priority(problem(networks, [[5], [5], [5], [5]]), 1, 2, 1, 1)
        assert spans(simulate(ranked, [0] * 4)) == [(10, 15), (15, 20), (0, 5), (5, 10)]

    def test_a_free_unit_waits_for_nothing(self) -> None:
        """At 0 only the background is ready: it runs to its end though the urgent one is ready a
        picosecond later, in transition from the other unit."""
        networks = [network("background", 0, 1), network("urgent", 1, 2)]
        stated = problem(networks, [[50, 9], [9, 1], [5, 9]], edges={(1, 2): 3})
        ranked = with_priority(stated, 1, 0)
        assert spans(simulate(ranked, [0, 1, 0])) == [(0, 50), (0, 1), (50, 55)]

    def test_networks_take_turns_in_another_order_on_each_unit(self) -> None:
        """Unit 1 is busy until both have left unit 0, in the order of their first groups. Then the
        one that was second there goes first."""
        networks = [network("a", 0, 2), network("b", 2, 2), network("blocks", 4, 1)]
        times = [[10, 50], [50, 10], [10, 50], [50, 10], [90, 50]]
        stated = replace(
            problem(networks, times, edges={(0, 1): 0, (2, 3): 0}),
            searched_order=SearchedOrder.GROUPS,
        )
        units, ordered = [0, 1, 0, 1, 1], np.array([1, 0, 0, 1, 0], dtype=np.int64)
        chosen = replace(design(units), priorities=ordered)
        played = [each.simulate(stated, chosen) for each in (timeline, plain_timeline)]
        assert spans(played[0]) == [(10, 20), (50, 60), (0, 10), (60, 70), (0, 50)]
        assert spans(played[1]) == spans(played[0])

    def test_an_engine_has_the_priority_of_its_first_group(self) -> None:
        networks = [network("a", 0, 2), network("b", 2, 1, arrival_ps=1)]
        networks += [network("blocks", 3, 1)]
        stated = problem(networks, [[10], [10], [5], [20]], edges={(0, 1): 0})
        stated = replace(dispatched(stated, ENGINE), searched_order=SearchedOrder.GROUPS)
        for levels, first in (([2, 0, 1, 0], (20, 25)), ([0, 2, 1, 0], (40, 45))):
            chosen = replace(design([0] * 4), priorities=np.array(levels, dtype=np.int64))
            for each in (timeline, plain_timeline):
                assert spans(each.simulate(stated, chosen))[2] == first

    def test_a_later_frame_of_a_smaller_priority_goes_first(self) -> None:
        networks = [network("background", 0, 3), network("urgent", 3, 1)]
        ranked = with_priority(problem(networks, [[10]] * 4), 1, 0)
        order = [(1, 1), (2, 1), *[(1, 0)] * 3, *[(2, 0)] * 3]
        played = simulate(ranked, [0] * 4, frames=2, in_flight=2)
        assert [entry[:2] for entry in start_order(played)] == order


class TestRates:
    """Releases at 0, 10 and 20 of a period of 30, or of an arrival later."""

    def stated(self, time: int, *, arrival: int = 0, other: int = 1) -> Problem:
        fast = network("fast", 0, 1, repeats=3, arrival_ps=arrival)
        base = problem([replace(fast, paced=True), network("other", 1, 1)], [[time], [other]])
        return replace(base, execution=Rates(30))

    def test_a_repeat_waits_for_its_release(self) -> None:
        played = simulate(self.stated(4, arrival=2), [0, 0])
        assert spans(played) == [(2, 6), (12, 16), (22, 26), (0, 1)]
        assert played.latency_ps == ((4, 1),)

    def test_it_waits_for_the_one_before(self) -> None:
        played = simulate(self.stated(12), [0, 0])
        assert spans(played) == [(0, 12), (13, 25), (25, 37), (12, 13)]
        # The second release is at 10 and ends at 25, the third is at 20 and ends at 37.
        assert played.latency_ps == ((17, 13),)

    def test_the_longest_response_counts(self) -> None:
        """The other network delays the first release alone."""
        swapped = self.stated(4, other=8)
        swapped = with_priority(swapped, 1, 0)
        played = simulate(swapped, [0, 0])
        assert spans(played)[:3] == [(8, 12), (12, 16), (20, 24)]
        assert played.latency_ps == ((12, 8),)

    def test_what_lies_between_releases_draws_idle_power_alone(self) -> None:
        played = simulate(self.stated(4), [0, 0])
        assert sum(row.end_ps - row.start_ps for row in played.schedule.groups) == 13


def with_priority(stated: Problem, *priorities: int) -> Problem:
    networks = zip(stated.networks, priorities, strict=True)
    return replace(stated, networks=tuple(replace(n, priority=p) for n, p in networks))


class TestOneInstant:
    """At one instant: all ends, then everything that is ready joins, then units start."""

    def test_arrivals_join_before_a_freed_unit_starts(self) -> None:
        """At 10 the second network's first group ends and frees the unit for its second; the first
        network arrives, and goes first."""
        networks = [network("arrives", 0, 1, arrival_ps=10), network("runs", 1, 2)]
        played = simulate(problem(networks, [[5], [10], [5]], edges={(1, 2): 0}), [0, 0, 0])
        assert spans(played) == [(10, 15), (0, 10), (15, 20)]

    def test_all_ends_come_before_any_start(self) -> None:
        """At 10 both units' groups end; unit 0 must not start the second network's next group
        before the end on unit 1 has made the first network's ready."""
        networks = [network("a", 0, 2), network("b", 2, 2)]
        edges = {(0, 1): 0, (2, 3): 0}
        times = [[1, 10], [5, 1], [10, 1], [5, 1]]
        played = simulate(problem(networks, times, edges=edges), [1, 0, 0, 0])
        assert spans(played) == [(0, 10), (10, 15), (0, 10), (15, 20)]

    def test_what_ends_its_transition_joins_before_starts(self) -> None:
        """A transition that ends at 10 is in time for the unit that becomes free at 10."""
        networks = [network("a", 0, 2), network("b", 2, 2)]
        edges = {(0, 1): 4, (2, 3): 0}
        times = [[1, 6], [5, 1], [10, 1], [5, 1]]
        played = simulate(problem(networks, times, edges=edges), [1, 0, 0, 0])
        assert spans(played) == [(0, 6), (10, 15), (0, 10), (15, 20)]

    def test_a_unit_without_work_does_not_wait_for_better(self) -> None:
        """One picosecond too late is late: the unit took the second network's group."""
        networks = [network("a", 0, 2), network("b", 2, 2)]
        edges = {(0, 1): 5, (2, 3): 0}
        times = [[1, 6], [5, 1], [10, 1], [5, 1]]
        played = simulate(problem(networks, times, edges=edges), [1, 0, 0, 0])
        assert spans(played) == [(0, 6), (15, 20), (0, 10), (10, 15)]


class TestWaiting:
    def test_a_transition_delays_and_occupies_no_unit(self) -> None:
        networks = [network("a", 0, 2), network("b", 2, 1), network("c", 3, 1)]
        stated = problem(networks, [[10, 1], [1, 10], [20, 1], [1, 40]], edges={(0, 1): 30})
        played = simulate(stated, [0, 1, 0, 1])
        assert spans(played) == [(0, 10), (40, 50), (10, 30), (0, 40)]

    def test_no_transition_on_the_same_unit(self) -> None:
        stated = problem([network("a", 0, 2)], [[10, 1], [20, 1]], edges={(0, 1): 30})
        assert spans(simulate(stated, [0, 0])) == [(0, 10), (10, 30)]

    def test_a_join_is_ready_at_the_latest_of_end_plus_transition(self) -> None:
        """The input that ends first arrives last."""
        edges = {(0, 2): 100, (1, 2): 5}
        stated = problem([network("a", 0, 3)], [[10, 1, 1], [1, 60, 1], [1, 1, 7]], edges=edges)
        played = simulate(stated, [0, 1, 2])
        assert spans(played) == [(0, 10), (0, 60), (110, 117)]
        assert played.schedule.groups[2].ready_ps == 110

    def test_a_repeat_waits_for_the_whole_previous_one(self) -> None:
        """Two branches on two units: the short one waits for the long one, and passes no
        transition."""
        stated = problem([network("a", 0, 2, repeats=3)], [[10, 1], [1, 60]])
        played = simulate(stated, [0, 1])
        assert spans(played) == [(0, 10), (0, 60), (60, 70), (60, 120), (120, 130), (120, 180)]
        assert played.latency_ps == ((180,),)

    def test_a_network_waits_for_the_last_repeat_of_another(self) -> None:
        networks = [network("a", 0, 2, repeats=2), network("b", 2, 1, waits_for=(0,))]
        stated = problem(networks, [[10, 1], [20, 1], [1, 5]], edges={(0, 1): 500})
        played = simulate(stated, [0, 0, 1])
        assert spans(played)[-1] == (60, 65)
        assert played.latency_ps == ((60, 65),)

    def test_a_network_may_wait_for_several_and_for_a_later_one(self) -> None:
        networks = [
            network("a", 0, 1, waits_for=(1, 2)),
            network("b", 1, 1),
            network("c", 2, 1),
        ]
        played = simulate(problem(networks, [[5, 1], [30, 1], [1, 40]]), [0, 0, 1])
        assert spans(played) == [(40, 45), (0, 30), (0, 40)]

    def test_latency_counts_from_the_arrival_which_waiting_does_not_move(self) -> None:
        networks = [
            network("a", 0, 1),
            network("b", 1, 1, waits_for=(0,), arrival_ps=40),
            network("c", 2, 1, waits_for=(0,), arrival_ps=130),
        ]
        played = simulate(problem(networks, [[100, 1], [7, 1], [1, 9]]), [0, 0, 1])
        assert spans(played) == [(0, 100), (100, 107), (130, 139)]
        assert played.latency_ps == ((100, 67, 9),)
        assert played.frame_end_ps == (139,)

    def test_arrival_is_an_offset_from_each_frames_release(self) -> None:
        networks = [network("a", 0, 1, arrival_ps=25)]
        played = simulate(problem(networks, [[10]]), [0], frames=3)
        assert spans(played) == [(25, 35), (60, 70), (95, 105)]
        assert played.latency_ps == ((10,), (10,), (10,))

    @pytest.mark.parametrize("evaluator", [timeline.simulate, plain_timeline.simulate])
    def test_a_group_on_a_unit_that_cannot_run_it(self, evaluator: object) -> None:
        stated = problem([network("a", 0, 2)], [[1, 1], [1, -1]])
        assert callable(evaluator)
        with pytest.raises(ValueError, match="group 1 cannot run on unit unit1"):
            evaluator(stated, design([0, 1]))
        rows = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0]])
        assert timeline.make_evaluator(stated)(rows).possible.tolist() == [True, False, True]


class TestFrames:
    """A network of two stages on two units: 100 and 60 ps, and a transition."""

    @pytest.mark.parametrize(
        ("transition", "in_flight", "period"),
        [
            (0, 1, 160),
            (0, 2, 100),
            (0, 3, 100),
            (30, 1, 190),
            (30, 2, 100),
            # Two frames share the way of 240 ps round.
            (80, 2, 120),
            (80, 3, 100),
        ],
    )
    def test_throughput(self, transition: int, in_flight: int, period: int) -> None:
        stated = problem(
            [network("a", 0, 2)],
            [[100, 1], [1, 60]],
            edges={(0, 1): transition},
        )
        row = design([0, 1]).row[None]
        pipeline = replace(stated, execution=Pipeline(in_flight))
        assert make_long_run_evaluator(pipeline)(row).frame_period_ps.tolist() == [period]
        played = simulate(stated, [0, 1], frames=12, in_flight=in_flight)
        assert played.frame_end_ps[11] - played.frame_end_ps[3] == 8 * period

    def test_a_frame_is_released_when_the_one_two_before_it_ends(self) -> None:
        stated = problem([network("a", 0, 2)], [[100, 1], [1, 60]], edges={(0, 1): 80})
        played = simulate(stated, [0, 1], frames=4, in_flight=2)
        assert spans(played) == [
            *((0, 100), (180, 240)),
            *((100, 200), (280, 340)),
            *((240, 340), (420, 480)),
            *((340, 440), (520, 580)),
        ]
        assert played.frame_end_ps == (240, 340, 480, 580)
        assert played.latency_ps == ((240,), (340,), (240,), (240,))

    def test_a_frame_ends_when_all_its_networks_have(self) -> None:
        networks = [network("a", 0, 1), network("b", 1, 1)]
        played = simulate(problem(networks, [[10, 1], [1, 50]]), [0, 1], frames=2)
        assert spans(played) == [(0, 10), (0, 50), (50, 60), (50, 100)]
        assert played.frame_end_ps == (50, 100)

    def test_networks_of_different_frames_run_side_by_side(self) -> None:
        """With two frames in flight, frame 3 begins when frame 1 has ended, and its first network
        runs beside frame 2's second."""
        networks = [network("a", 0, 1), network("b", 1, 1, arrival_ps=5)]
        played = simulate(problem(networks, [[10, 1], [1, 50]]), [0, 1], frames=3, in_flight=2)
        assert spans(played) == [(0, 10), (5, 55), (10, 20), (55, 105), (55, 65), (105, 155)]
        assert played.frame_end_ps == (55, 105, 155)


class TestContention:
    def test_both_lose_half_until_one_ends(self) -> None:
        """s = 2: the short group ends at 600, the long one has 700 of its 1000 ps left."""
        stated = problem(
            [network("a", 0, 1), network("b", 1, 1)],
            [[1000, 1], [1, 300]],
            demands_kbps=[BUSY_KBPS] * 2,
            contention=flat_loss("50"),
        )
        assert spans(simulate(stated, [0, 1])) == [(0, 1300), (0, 600)]

    def test_the_end_is_rounded_up(self) -> None:
        """10 %: w = 65536 - ceil(6553.6) = 58982; 1000 ps take ceil(1111.12) = 1112."""
        stated = problem(
            [network("a", 0, 1), network("b", 1, 1)],
            [[1000, 1], [1, 5000]],
            demands_kbps=[BUSY_KBPS] * 2,
            contention=flat_loss("10"),
        )
        rate = WORK_PER_PS - 6554
        first_end = -(-1000 * WORK_PER_PS // rate)
        assert first_end == 1112
        rest = 5000 * WORK_PER_PS - rate * first_end
        second_end = first_end + -(-rest // WORK_PER_PS)
        assert second_end == 5112
        assert spans(simulate(stated, [0, 1])) == [(0, first_end), (0, second_end)]

    def test_a_co_runner_without_demand_slows_nobody(self) -> None:
        stated = problem(
            [network("a", 0, 1), network("b", 1, 1)],
            [[1000, 1], [1, 300]],
            demands_kbps=[BUSY_KBPS, 0],
            contention=flat_loss("50"),
        )
        assert spans(simulate(stated, [0, 1])) == [(0, 1000), (0, 600)]

    def test_the_demands_of_all_others_add_up(self) -> None:
        """Three units, 40 kB/s each: everybody sees 80 of 100, so loses 40 %."""
        stated = problem(
            [network(name, g, 1) for g, name in enumerate("abc")],
            [[600] * 3] * 3,
            demands_kbps=[40] * 3,
            contention=flat_loss("50"),
        )
        rate = WORK_PER_PS - -(-WORK_PER_PS * 2 // 5)
        end = -(-600 * WORK_PER_PS // rate)
        assert end == 1001
        assert spans(simulate(stated, [0, 1, 2])) == [(0, end)] * 3

    def test_a_transition_demands_nothing(self) -> None:
        stated = problem(
            [network("a", 0, 2), network("b", 2, 1)],
            [[100, 1], [1, 100], [1000, 1]],
            edges={(0, 1): 300},
            demands_kbps=[BUSY_KBPS] * 3,
            contention=flat_loss("50"),
        )
        # Group 2 runs alone from 100 to 400, then beside group 1, which takes 200.
        assert spans(simulate(stated, [0, 1, 0])) == [(0, 100), (400, 600), (100, 1200)]

    def test_the_most_that_can_be_lost(self) -> None:
        """95 %, rounded up: at the rate 3276, 1000 ps take 20005."""
        table = contention_table(
            parameters(
                normal_kbps=1, total_kbps=1, balance_kbps=100, rate_percent_per_gbps="10000000"
            ),
            [Fraction(1)],
            [NO_LIMIT_KBPS],
        )
        stated = problem(
            [network("a", 0, 1), network("b", 1, 1)],
            [[1000, 1], [1, 1000]],
            demands_kbps=[BUSY_KBPS] * 2,
            contention=table,
        )
        assert spans(simulate(stated, [0, 1])) == [(0, 20005)] * 2


@pytest.mark.parametrize("units", [(2, 2), (3, 4)])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_time_is_stand_alone_time_plus_what_overlap_costs(
    units: tuple[int, int], seed: int
) -> None:
    """D_i = t_i + sum of O (1 - 1/s) over the contention intervals of group i, O its length and s
    the slowdown by the sum of the others' demands; rounding up the end adds less than 1 ps."""
    rng = np.random.default_rng(seed)
    stated = random_problem(rng, RandomShape(networks=(2, 4), units=units))
    chosen = random_design(rng, stated)
    groups = timeline.simulate(stated, chosen, frames=2, in_flight=2).schedule.groups
    memory = stated.memory_domain
    assert memory is not None
    demand = [
        int(
            stated.units[u].demand_kbps[
                (g, *(int(chosen.operating_points[clock]) for clock in stated.units[u].clocks))
            ]
        )
        for g, u in enumerate(chosen.units.tolist())
    ]
    instants = sorted({instant for group in groups for instant in (group.start_ps, group.end_ps)})
    cost = dict.fromkeys(groups, Fraction(0))
    for start, end in pairwise(instants):
        running = [group for group in groups if group.start_ps <= start and group.end_ps >= end]
        for group in running:
            others = sum(demand[other.group] for other in running if other is not group)
            table = stated.units[group.unit].contention
            point = int(chosen.operating_points[memory])
            loss = 0 if table is None else lost_rate(table, point, demand[group.group], others)
            cost[group] += Fraction((end - start) * loss, WORK_PER_PS)
    for group in groups:
        rounding = group.end_ps - group.start_ps - group.alone_ps - cost[group]
        assert 0 <= rounding < 1, group


@given(seed=st.integers(0, 2**32 - 1), ties=st.booleans())
@settings(max_examples=100, deadline=None, derandomize=True)
def test_units_run_one_group_at_a_time_in_order_and_never_idle(seed: int, ties: bool) -> None:
    """What any schedule of this dispatch must keep, stated without playing it again."""
    rng = np.random.default_rng(seed)
    stated = random_problem(rng, RandomShape(networks=(2, 4), ties=ties, copies=True))
    chosen = random_design(rng, stated)
    groups = timeline.simulate(stated, chosen, frames=3, in_flight=2).schedule.groups
    for unit in range(len(stated.units)):
        runs = sorted(
            (group for group in groups if group.unit == unit), key=lambda group: group.start_ps
        )
        for before, after in pairwise(runs):
            assert before.end_ps <= after.start_ps
            # Started as soon as it was ready and the unit was free.
            assert after.start_ps == max(before.end_ps, after.ready_ps)
        for k, group in enumerate(runs):
            waiting = [other for other in runs[k + 1 :] if other.ready_ps <= group.start_ps]
            assert all(order(group) < order(other) for other in waiting)


def order(group: ScheduledGroup) -> tuple[int, ...]:
    return (group.ready_ps, group.frame, group.network, group.repeat, group.group)
