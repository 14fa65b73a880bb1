"""Traces, held against the documented rules of the format, and against the schedules."""

import dataclasses
import json
from collections import defaultdict
from fractions import Fraction
from itertools import pairwise

import pytest

from paretosoc.results.export.trace import trace_bytes
from paretosoc.results.front.front import FreeRun

UNITS = ("cpu", "gpu", "dla")


def check_trace(document):
    """The rules of the Trace Event Format that apply to what we write.

    Times are microseconds, numbers; pid and tid integers; complete events of one thread do not
    overlap; a flow has one start and one later end, each inside a complete event of its thread;
    counters have numbers only. Readers cut the microseconds to whole nanoseconds, as doubles, and
    no event may overlap then either.
    """
    slices, flows = defaultdict(list), defaultdict(dict)
    assert document["displayTimeUnit"] in ("ms", "ns")
    for event in document["traceEvents"]:
        assert type(event["pid"]) is int
        assert isinstance(event["name"], str)
        if event["ph"] == "M":
            assert event["name"] in {
                *("process_name", "process_sort_index", "thread_name", "thread_sort_index"),
            }
            continue
        assert type(event["ts"]) in (int, float)
        assert event["ts"] >= 0
        if event["ph"] == "C":
            assert all(type(value) in (int, float) for value in event["args"].values())
            continue
        assert type(event["tid"]) is int
        assert isinstance(event["cat"], str)
        thread = event["pid"], event["tid"]
        if event["ph"] == "X":
            assert event["dur"] >= 0
            slices[thread].append((event["ts"], event["dur"]))
        elif event["ph"] in "sf":
            key = event["cat"], event["name"], event["id"]
            assert event["ph"] not in flows[key]
            flows[key][event["ph"]] = (thread, event["ts"])
            assert event["ph"] == "s" or event["bp"] == "e"
        else:
            pytest.fail(f"unknown phase {event['ph']}")
    for events in slices.values():
        for (ts, dur), (after, _) in pairwise(sorted(events)):
            assert Fraction(ts) + Fraction(dur) <= Fraction(after)
            assert int(ts * 1000.0) + int(dur * 1000.0) <= int(after * 1000.0)
    for ends in flows.values():
        assert set(ends) == {"s", "f"}
        assert ends["s"][1] <= ends["f"][1]
        for thread, instant in ends.values():
            assert any(ts <= instant <= ts + dur for ts, dur in slices[thread])
    return slices, flows


@pytest.fixture(scope="module")
def trace_of(scheduled):
    def trace(front, members):
        titled = [(f"member {i}", scheduled(front.problem, front.members[i])) for i in members]
        return json.loads(trace_bytes(titled))

    return trace


def test_every_member_follows_the_rules(front, trace_of):
    check_trace(trace_of(front, range(len(front.members))))


def test_groups_that_touch_by_picoseconds_do_not_overlap(make_problem, make_members, scheduled):
    # Times of a few thousand picoseconds: every rounding matters.
    problem = make_problem(groups=(30, 30))
    units = tuple(
        dataclasses.replace(u, time_ps=u.time_ps // 10**6 + (u.time_ps > 0)) for u in problem.units
    )
    transitions = problem.transition_ps // 10**6
    problem = dataclasses.replace(problem, units=units, transition_ps=transitions)
    for member in make_members(problem, 20):
        assert member.makespan_ps < 10**9
        slices, _ = check_trace(json.loads(trace_bytes([("one", scheduled(problem, member))])))
        assert sum(map(len, slices.values())) == 60


def test_the_events_are_the_schedule(front, trace_of, schedule_of):
    problem = front.problem
    for index, member in enumerate(front.members):
        document = trace_of(front, [index])
        found = [
            (e["tid"] - 1, e["cat"], e["args"]["start_ps"], e["args"]["end_ps"])
            for e in document["traceEvents"]
            if e["ph"] == "X"
        ]
        assert found == [
            (row.unit, problem.networks[row.network].name, row.start_ps, row.end_ps)
            for row in schedule_of(problem, member.design).groups
        ]
        for event in document["traceEvents"]:
            if event["ph"] == "X":
                assert abs(event["ts"] - event["args"]["start_ps"] / 1e6) < 0.001
                exact = (event["args"]["end_ps"] - event["args"]["start_ps"]) / 1e6
                assert abs(event["dur"] - exact) < 0.001
        _, flows = check_trace(document)
        units = member.design.units
        assert len(flows) == sum(bool(units[a] != units[b]) for a, b in problem.edges)
        threads = {
            e["tid"]: e["args"]["name"]
            for e in document["traceEvents"]
            if e["name"] == "thread_name"
        }
        assert threads == dict(enumerate(UNITS, 1))


def test_conversions_are_named_apart(problem, make_members, scheduled, as_formats):
    names = set()
    for member in make_members(problem, 6):
        document = json.loads(trace_bytes([("one", as_formats(scheduled(problem, member)))]))
        flows = [event for event in document["traceEvents"] if event["ph"] == "s"]
        units = member.design.units.tolist()
        edges = [{units[a], units[b]} for a, b in problem.edges]
        converted = sum(event["name"] == "conversion" for event in flows)
        assert converted == edges.count({1, 2})
        names |= {event["name"] for event in flows}
    assert names == {"conversion", "transition"}


def test_the_power_counter_adds_up_to_the_energy(front, trace_of):
    member = front.members[0]
    counters = [
        (e["ts"], sum(e["args"].values()))
        for e in trace_of(front, [0])["traceEvents"]
        if e["name"] == "power (W)"
    ]
    microjoules = sum(watts * (b - a) for (a, watts), (b, _) in pairwise(counters))
    assert microjoules == pytest.approx(member.energy_fj / 1e9, rel=1e-4)


def test_members_are_processes(front, trace_of):
    document = trace_of(front, [0, 1])
    names = [e["args"]["name"] for e in document["traceEvents"] if e["name"] == "process_name"]
    assert names == ["member 0", "member 1"]
    assert {e["pid"] for e in document["traceEvents"]} == {1, 2}
    check_trace(document)


@pytest.mark.parametrize("shown_ps", [None, 3_000_000, 4_000_000, 7_000_000, 10_000_000])
def test_the_counted_window_is_a_thread_as_far_as_it_is_shown(front, scheduled, shown_ps):
    """Of networks that run freely; there is none if the schedule ends at its begin or before."""
    begin, end, periods = 4_000_000, 10_000_000, (2_500_000, 3_000_000)
    run = None if shown_ps is None else FreeRun((begin, end), periods, shown_ps)
    shown = scheduled(front.problem, front.members[0])
    shown = dataclasses.replace(shown, member=dataclasses.replace(shown.member, free_run=run))
    events = json.loads(trace_bytes([("one", shown)]))["traceEvents"]
    found = [event for event in events if event["name"] == "counted window"]
    if shown_ps is None or shown_ps <= begin:
        assert found == []
        return
    (window,) = found
    assert window["tid"] == len(UNITS) + 1
    assert (window["ts"], window["ts"] + window["dur"]) == (4, shown_ps / 1e6)
    names = [f"frame period of {network.name} (ps)" for network in front.problem.networks]
    assert window["args"] == {
        "begin_ps": begin,
        "end_ps": end,
        **dict(zip(names, periods, strict=True)),
    }
