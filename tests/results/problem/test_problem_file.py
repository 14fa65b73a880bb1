"""problem.json: round trips, the published schema, and unsound problems."""

import dataclasses
import json

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from benchmarks.problems.memory import with_memory, with_pools
from benchmarks.problems.number_formats import with_formats, with_losses
from paretosoc.results.errors import ResultError
from paretosoc.results.io.document import schema
from paretosoc.results.problem.execution import (
    FreeRunning,
    Periodic,
    Pipeline,
    Rates,
    SearchedOrder,
)
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.parts import ContentionTable, ProblemUnit
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_check import check_problem
from paretosoc.results.problem.problem_file import (
    problem_bytes,
    problem_from_bytes,
    problem_from_document,
    problem_sha256,
    problem_to_document,
)


def assert_equal(a, b, path="problem"):
    """Field by field, arrays with shape, type and values."""
    assert type(a) is type(b), path
    if dataclasses.is_dataclass(a):
        for field in dataclasses.fields(a):
            assert_equal(getattr(a, field.name), getattr(b, field.name), f"{path}.{field.name}")
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype, path
        assert a.shape == b.shape, path
        assert (a == b).all(), path
    elif isinstance(a, tuple):
        assert len(a) == len(b), path
        for i, (one, other) in enumerate(zip(a, b, strict=True)):
            assert_equal(one, other, f"{path}[{i}]")
    else:
        assert a == b, path


def variants(make_problem):
    base = make_problem()
    every = tuple(
        Objective(kind, 0 if kind.spec.needs_network else None)
        for kind in ObjectiveKind
        if Pipeline in kind.spec.models
    )
    yield base
    yield make_problem(seed=1, groups=(1,))
    named = make_problem(
        seed=2, groups=(3, 4, 2), objectives=(*every, Objective(ObjectiveKind.LATENCY, 2))
    )
    yield dataclasses.replace(with_losses(named), execution=Pipeline(3))
    yield with_formats(np.random.default_rng(1), with_phases(base))
    held = dataclasses.replace(with_memory(np.random.default_rng(1), base), memory_cap_bytes=10**9)
    yield held
    yield with_pools(np.random.default_rng(1), held, most=10**4)
    yield dataclasses.replace(
        base,
        execution=Periodic(10**12),
        power_cap_mw=15_000,
        energy_budget_fj=2**62,
        networks=tuple(
            dataclasses.replace(n, deadline_ps=10**11, max_transitions=0, priority=2 * i)
            for i, n in enumerate(base.networks)
        ),
    )
    yield dataclasses.replace(
        base,
        objectives=(Objective(ObjectiveKind.FAIRNESS), Objective(ObjectiveKind.POWER)),
        execution=FreeRunning(2),
        networks=tuple(
            dataclasses.replace(n, waits_for=(), arrival_ps=0, min_rate_uhz=10**6 + i)
            for i, n in enumerate(base.networks)
        ),
    )
    without_memory = dataclasses.replace(
        base,
        memory_domain=None,
        units=tuple(dataclasses.replace(unit, contention=None) for unit in base.units),
    )
    yield without_memory
    yield with_phases(base)
    yield dataclasses.replace(base, searched_order=SearchedOrder.NETWORKS)
    yield dataclasses.replace(
        base,
        objectives=(Objective(ObjectiveKind.GUARANTEED_LATENCY),),
        tolerance_permille=(700, 1100),
        guarantee=True,
    )
    guaranteed = ObjectiveKind.GUARANTEED_RESPONSE
    kinds = [k for k in ObjectiveKind if Rates in k.spec.models and k is not guaranteed]
    yield dataclasses.replace(
        with_losses(base),
        execution=Rates(10**12),
        objectives=tuple(Objective(kind) for kind in kinds),
        networks=tuple(
            dataclasses.replace(
                n, paced=True, waits_for=(), deadline_95_ps=i, max_jitter_ps=0, max_misses=3
            )
            for i, n in enumerate(base.networks)
        ),
    )


def with_phases(problem):
    """The second network takes over from the first, and takes longer with each repeat."""
    units = len(problem.units)
    return dataclasses.replace(
        problem,
        networks=(problem.networks[0], dataclasses.replace(problem.networks[1], waits_for=(0,))),
        units=tuple(
            dataclasses.replace(unit, step_ps=np.maximum(unit.time_ps, 0) // 100)
            for unit in problem.units
        ),
        handovers=((0, problem.networks[1].first_group),),
        handover_ps=np.arange(units * units, dtype=np.int64).reshape(1, units, units),
    )


def test_round_trip(make_problem):
    for problem in variants(make_problem):
        data = problem_bytes(problem)
        again = problem_from_bytes(data)
        assert_equal(problem, again)
        assert problem_bytes(again) == data
        assert problem_sha256(again) == problem_sha256(problem)
        assert not again.units[0].time_ps.flags.writeable


def test_every_field_is_in_the_file(problem):
    """A field that is added to the types and forgotten here would be lost without a word."""
    rng = np.random.default_rng(0)
    changed = dataclasses.replace(with_phases(problem), searched_order=SearchedOrder.NETWORKS)
    changed = with_memory(rng, with_formats(rng, changed))
    changed = with_pools(rng, dataclasses.replace(changed, memory_cap_bytes=1), most=10**4)
    given = {"loads_whole_networks": True, "dispatch": "shared", "sharing_permille": 1}
    given["moves_tensors"] = True
    units = (dataclasses.replace(u, **given) for u in changed.units)
    changed = dataclasses.replace(changed, units=tuple(units), runtime="triton")
    changed = dataclasses.replace(changed, tolerance_permille=(700, 1100), guarantee=True)
    document = problem_to_document(changed)
    fields = {field.name for field in dataclasses.fields(Problem)}
    assert fields - {"transition_ps", "edge_tokens", "handover_ps"} <= set(document)
    assert set(document["handovers"][0]) == {"source", "target", "transition_ps"}
    assert set(document["edges"][0]) == {"source", "target", "tokens", "transition_ps"}
    unit_fields = {field.name for field in dataclasses.fields(ProblemUnit)}
    assert unit_fields == set(document["units"][0])
    contention = {field.name for field in dataclasses.fields(ContentionTable)}
    assert contention == set(next(u["contention"] for u in document["units"] if u["contention"]))


def test_documents_follow_the_published_schema(make_problem):
    Draft202012Validator.check_schema(schema("problem"))
    validator = Draft202012Validator(schema("problem"))
    for problem in variants(make_problem):
        validator.validate(json.loads(problem_bytes(problem)))


def test_one_table_row_per_line(problem):
    lines = problem_bytes(problem).decode().splitlines()
    rows = problem.units[0].time_ps[0].tolist()
    for row in rows:
        assert any(line.strip().rstrip(",") == json.dumps(row) for line in lines)


def test_identity_changes_with_every_number(problem):
    time = problem.units[1].time_ps.copy()
    time[3, 2, 1, 0] += 1
    unit = dataclasses.replace(problem.units[1], time_ps=time)
    other = dataclasses.replace(problem, units=(problem.units[0], unit, problem.units[2]))
    assert problem_sha256(other) != problem_sha256(problem)


def replace_network(problem, index, **changes):
    networks = list(problem.networks)
    networks[index] = dataclasses.replace(networks[index], **changes)
    return dataclasses.replace(problem, networks=tuple(networks))


def replace_unit(problem, index, **changes):
    units = list(problem.units)
    units[index] = dataclasses.replace(units[index], **changes)
    return dataclasses.replace(problem, units=tuple(units))


def replace_domain(problem, index, **changes):
    domains = list(problem.domains)
    domains[index] = dataclasses.replace(domains[index], **changes)
    return dataclasses.replace(problem, domains=tuple(domains))


def idle_at_a_clock_that_is_off(problem):
    """The GPU's idle power depends on its host's clock, and the host may be off."""
    idle = problem.units[1].idle_mw.copy()
    idle[:, 1] += 1
    return replace_domain(replace_unit(problem, 1, idle_mw=idle), 0, may_be_off=True)


def with_entry(array, index, value):
    copy = array.copy()
    copy[index] = value
    return copy


UNSOUND = {
    "name twice": (lambda p: replace_network(p, 1, name="vgg19"), r"networks\[1\].name.*twice"),
    "gap in numbers": (lambda p: replace_network(p, 1, first_group=7), r"first_group: must be 6"),
    "circle": (
        lambda p: replace_network(replace_network(p, 0, waits_for=(1,)), 1, waits_for=(0,)),
        "circle",
    ),
    "waits for nobody": (lambda p: replace_network(p, 0, waits_for=(9,)), "waits_for"),
    "no repeat": (lambda p: replace_network(p, 0, repeats=0), "repeats: must be >= 1, got 0"),
    "edge backwards": (
        lambda p: dataclasses.replace(p, edges=((1, 0), *p.edges[1:])),
        r"edges\[0\].*1 -> 0",
    ),
    "edge across": (
        lambda p: dataclasses.replace(p, edges=((5, 6), *p.edges[1:])),
        "different networks",
    ),
    "negative transition": (
        lambda p: dataclasses.replace(p, transition_ps=with_entry(p.transition_ps, (0, 0, 1), -1)),
        "transition_ps: must be >= 0",
    ),
    "time of zero": (
        lambda p: replace_unit(p, 0, time_ps=with_entry(p.units[0].time_ps, (2, 1, 1), 0)),
        r"units\[0\].time_ps\[2\]",
    ),
    "support by clock": (
        lambda p: replace_unit(p, 0, time_ps=with_entry(p.units[0].time_ps, (2, 1, 1), -1)),
        "cannot run",
    ),
    "time too long": (
        lambda p: replace_unit(p, 0, time_ps=with_entry(p.units[0].time_ps, (2, 1, 1), 1 << 47)),
        "time_ps: must be <=",
    ),
    "float table": (
        lambda p: replace_unit(p, 0, idle_mw=p.units[0].idle_mw.astype(float)),
        "idle_mw: must be int64",
    ),
    "wrong shape": (
        lambda p: replace_unit(p, 0, demand_kbps=p.units[0].demand_kbps[:-1]),
        "demand_kbps: must have the shape",
    ),
    "idle power at a clock that is off": (
        idle_at_a_clock_that_is_off,
        r"units\[1\].idle_mw: must not depend on the clock of 'cpu', which may be off",
    ),
    "memory that may be off": (
        lambda p: replace_domain(p, p.memory_domain, may_be_off=True),
        "memory_domain: must be a domain that may not be off",
    ),
    "unknown clock": (lambda p: replace_unit(p, 0, clocks=(0, 9)), "clocks: must be different"),
    "allowed, not supported": (
        lambda p: dataclasses.replace(p, allowed=np.ones_like(p.allowed)),
        r"allowed\[\d+\]\[2\]: 'dla' cannot run",
    ),
    "no objective": (lambda p: dataclasses.replace(p, objectives=()), "objectives"),
    "objective twice": (
        lambda p: dataclasses.replace(p, objectives=p.objectives[:1] * 2),
        "stands twice",
    ),
    "energy of a network": (
        lambda p: dataclasses.replace(p, objectives=(Objective(ObjectiveKind.ENERGY, 0),)),
        "energy is never of one network",
    ),
    "no time in the period": (
        lambda p: dataclasses.replace(p, execution=Periodic(0)),
        r"execution\.period_ps: must be >= 1, got 0",
    ),
    "a priority beyond the largest": (
        lambda p: dataclasses.replace(
            p, networks=(dataclasses.replace(p.networks[0], priority=100), *p.networks[1:])
        ),
        r"networks\[0\]\.priority: must be <= 99, got 100",
    ),
    "no frame in flight": (
        lambda p: dataclasses.replace(p, execution=Pipeline(0)),
        r"execution\.frames_in_flight: must be >= 1, got 0",
    ),
    "fairness of a common frame": (
        lambda p: dataclasses.replace(p, objectives=(Objective(ObjectiveKind.FAIRNESS),)),
        r"objectives\[0\]: fairness is an objective of the execution models free-running only",
    ),
}


@pytest.mark.parametrize("name", UNSOUND)
def test_unsound_problems_are_refused(problem, name):
    spoil, complaint = UNSOUND[name]
    with pytest.raises(ResultError, match=complaint):
        check_problem(spoil(problem))
    with pytest.raises(ResultError, match=complaint):
        problem_to_document(spoil(problem))


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        (("units", 0, "time_ps", 3, 1, 1), "7", r"\$\.units\[0\]\.time_ps\[3\]"),
        (("units", 0, "time_ps", 3, 1, 1), 7.0, r"\$\.units\[0\]\.time_ps\[3\]"),
        (("units", 0, "time_ps", 3, 1, 1), True, r"\$\.units\[0\]\.time_ps\[3\]"),
        (("units", 0, "time_ps", 3, 1, 1), 1 << 63, r"\$\.units\[0\]\.time_ps\[3\]"),
        (("units", 0, "time_ps", 3, 1), [1, 2], r"rows of equal length"),
        (("units", 1, "clocks", 0), "npu", r"must be one of cpu, gpu, dla, emc; got 'npu'"),
        (("objectives", 0, "name"), "latency_ms", r"must be 'latency_ps'"),
        (("memory_domain",), "ram", r"\$\.memory_domain"),
        (("objectives", 0, "kind"), "speed", r"kind: must be one of latency, .*; got 'speed'"),
        (("execution", "model"), "batch", r"\$\.execution\.model"),
        (("execution", "period_ps"), 5, r"\$\.execution: must not have 'period_ps'"),
        (("execution",), {"model": "periodic"}, r"\$\.execution: must have period_ps"),
        (
            ("execution",),
            {"model": "pipeline", "frames_in_flight": 0},
            r"frames_in_flight: must be at least 1, got 0",
        ),
        (("format",), "paretosoc-problem/9", r"\$\.format"),
        (("extra",), 1, "extra"),
    ],
)
def test_wrong_content_is_named(problem, path, value, complaint):
    document = json.loads(problem_bytes(problem))
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(ResultError, match=complaint):
        problem_from_document(document)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"handovers": ((0, 99),)}, r"handovers\[0\]: must be groups below 11, got 0 -> 99"),
        ({"handovers": ((6, 0),)}, r"handovers\[0\]: the network of group 0 must wait for that of"),
        ({"handover_ps": None}, r"handovers\[\*\].transition_ps: must have the shape \[1, 3, 3\]"),
    ],
)
def test_hand_overs_that_lead_nowhere(problem, changes, message):
    with pytest.raises(ResultError, match=message):
        check_problem(dataclasses.replace(with_phases(problem), **changes))


def test_the_last_repeat_is_not_too_long(problem):
    phased = with_phases(problem)
    step = np.full_like(phased.units[1].time_ps, 2**46)
    network = {"repeats": 3}
    long = replace_unit(replace_network(phased, 1, **network), 1, step_ps=step)
    with pytest.raises(ResultError, match="the last of 3 repeats of resnet50 must take less"):
        check_problem(long)
