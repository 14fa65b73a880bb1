"""Plans of engines: the order of the plain simulator, kept by the threads of the runners."""

import random
import time
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.oracles.planned_play import play, stand_alone_ps
from benchmarks.problems.random_problem import (
    RandomShape,
    random_design,
    random_problem,
    with_dispatch,
    with_rates,
)
from paretosoc.dse.tools.deploy.plan_engines import plan_engines
from paretosoc.results.deploy.deployment import Deployment
from paretosoc.results.deploy.scripts.frame_plan import run_frames, threaded_frame
from paretosoc.results.problem.execution import GROUP, SHARED

SHAPE = RandomShape(networks=(1, 3), groups=(2, 5), units=(2, 3))


def drawn(seed):
    """Return a random problem with a deployment of one design point."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, SHAPE)
    problem = with_rates(rng, problem) if seed % 3 == 2 else with_dispatch(rng, problem)
    design = random_design(rng, problem)
    member = SimpleNamespace(design=design, latencies_ps=(10**9,) * len(problem.networks))
    front = SimpleNamespace(problem=problem, members=[member])
    return problem, design, Deployment(front, 0, None, None)


@pytest.mark.parametrize("seed", range(30))
def test_queues_have_the_order_of_the_schedule(seed):
    problem, design, deployment = drawn(seed)
    plan = plan_engines(deployment)
    counts = Counter((run.network, run.repeat, run.segment) for run in plan.runs)
    assert set(counts.values()) == {1}
    order, seen = [], []
    for repeat, group in play(problem, design, stand_alone_ps(problem, design)).order:
        n = problem.network_of[group]
        unit = problem.units[int(design.units[group])]
        local = group - problem.networks[n].groups.start
        (part,) = (s for s in deployment.segments(n) if s.first <= local <= s.last)
        queue = (unit.unit_name, n if unit.dispatch == SHARED else None)
        if unit.dispatch != GROUP:
            order.append((queue, n, repeat, part.number))
    for i, run in enumerate(plan.runs):
        assert all(other < i for other in run.waits_for)
        (unit,) = (s.unit for s in deployment.segments(run.network) if s.number == run.segment)
        dispatch = problem.units[unit].dispatch
        queue = (problem.units[unit].unit_name, run.network if dispatch == SHARED else None)
        if dispatch != GROUP:
            seen.append((queue, run.network, run.repeat, run.segment))
    for queue in {entry[0] for entry in order}:
        own = [[entry for entry in entries if entry[0] == queue] for entries in (order, seen)]
        assert own[0] == own[1]


@pytest.mark.parametrize("seed", [0, 1, 3, 4, 6, 7])
def test_threads_keep_the_order(seed, capsys):
    problem, _, deployment = drawn(seed)
    plan = plan_engines(deployment).to_document()
    for run in plan["runs"]:
        run["ready_ns"] = min(run["ready_ns"], 500_000)
    networks = [{"name": network.name} for network in problem.networks]
    document = {"plan": plan, "networks": networks}
    begun, done, rng = [], [], random.Random(seed)

    def work(n, segment):
        begun.append((n, segment, len(done)))
        time.sleep(rng.random() / 2000)
        done.append((n, segment))

    run_frames(document, threaded_frame(document, work), 1, 2)
    runs = [(run["network"], run["segment"]) for run in plan["runs"]]
    assert Counter(done) == Counter(3 * runs)
    for queue in {run["queue"] for run in plan["runs"]}:
        own = [pair for pair, run in zip(runs, plan["runs"], strict=True) if run["queue"] == queue]
        assert [entry[:2] for entry in begun if entry[:2] in own] == 3 * own
    # All that a run waits for has ended when it begins: so many times as the plan says.
    often = Counter()
    for n, segment, count in begun:
        frame, repeat = divmod(often[n, segment], runs.count((n, segment)))
        often[n, segment] += 1
        place = [i for i, pair in enumerate(runs) if pair == (n, segment)][repeat]
        for other in plan["runs"][place]["waits_for"]:
            earlier = runs[: other + 1].count(runs[other])
            needed = frame * runs.count(runs[other]) + earlier
            assert done[:count].count(runs[other]) >= needed
    assert capsys.readouterr().out.count(": latency ") == len(networks)


def test_networks_with_rates_have_responses(capsys):
    run = {"segment": 0, "queue": 0, "waits_for": [], "ready_ns": 0}
    releases = [(0, 0), (1, 0), (1, 1000)]
    runs = [{**run, "network": n, "release_ns": release} for n, release in releases]
    plan = {"runs": runs, "period_ns": None, "predicted_ns": [1, 1], "guaranteed_ns": None}
    document = {"plan": plan, "networks": [{"name": "slow"}, {"name": "fast"}]}
    run_frames(document, lambda: [2000, 2000, 2500], 0, 1)
    slow, fast = capsys.readouterr().out.splitlines()
    assert slow.startswith("slow: response 0.002 ms (median), 0.002 ms (longest of 1)")
    assert fast.startswith("fast: response 0.002 ms (median), 0.002 ms (longest of 2)")


def test_a_failure_ends_all_threads():
    _, _, deployment = drawn(1)
    document = {"plan": plan_engines(deployment).to_document()}

    def work(n, segment):
        raise OSError("no such device")

    with pytest.raises(OSError, match="no such device"):
        threaded_frame(document, work)()
