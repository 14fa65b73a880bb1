"""What Triton keeps of a plan: held against a simulation of its rate limiter."""

from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.problems.random_problem import RandomShape, random_design, random_problem
from paretosoc.dse.tools.deploy.plan_engines import plan_engines
from paretosoc.results.deploy.deployment import Deployment, NetworkFiles
from paretosoc.results.deploy.deployment_document import EnginePlan, PlannedRun
from paretosoc.results.deploy.triton_order import triton_order

SHAPE = RandomShape(networks=(1, 3), groups=(1, 3), units=(1, 3), waiting=False, unsupported=0)


def drawn(seed):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, SHAPE)
    member = SimpleNamespace(
        design=random_design(rng, problem), latencies_ps=(10**9,) * len(problem.networks)
    )
    front = SimpleNamespace(problem=problem, members=[member])
    return rng, Deployment(front, 0, None, None)


def order_of(deployment, plan):
    files = [
        NetworkFiles(f"net{n}", tuple(f"net{n}.{s.number}" for s in deployment.segments(n)))
        for n in range(len(deployment.problem.networks))
    ]
    return triton_order(deployment, plan, files)


def frame_of(rng, runs, units, priority, rivals, requested, counts):
    """Play a frame as the rate limiter does, and count executions. Return the runs in the order in
    which they start, and whether one started later than it could."""
    times = rng.integers(1, 30, len(runs)).tolist()
    staged, running, order, ended, late = [], {}, [], set(), False

    def attempt(now):
        if not staged:
            return
        least = min(counts[i] * priority[i] for i in staged)
        top = [i for i in staged if counts[i] * priority[i] == least]
        i = top[int(rng.integers(len(top)))]
        if units[i] not in rivals or all(units[j] != units[i] for j in running):
            staged.remove(i)
            order.append(i)
            running[i] = now + times[i]

    def stage(ready, now):
        for i in ready:
            staged.append(i)
            attempt(now)

    sources = [i for i, run in enumerate(runs) if not run.waits_for]
    stage(sorted(sources, key=lambda i: (requested[runs[i].network], runs[i].segment)), 0)
    while running:
        i = min(running, key=lambda j: (running[j], j))
        now = running.pop(i)
        ended.add(i)
        counts[i] += 1
        waits = [(j, set(run.waits_for)) for j, run in enumerate(runs)]
        stage([j for j, sources in waits if i in sources and ended >= sources], now)
        attempt(now)
        late |= any(units[j] not in {units[k] for k in running} for j in staged)
    return order, late


def test_what_is_kept_is_kept():
    kept = waited = 0
    for seed in range(400):
        rng, deployment = drawn(seed)
        plan = plan_engines(deployment)
        order = order_of(deployment, plan)
        if order.not_kept or any(run.ready_ns for run in plan.runs):
            continue
        of_run = {(s.network, s.number): s for s in deployment.all_segments}
        segments = [of_run[run.network, run.segment] for run in plan.runs]
        units = [deployment.unit_name(segment) for segment in segments]
        names = [network.name for network in deployment.problem.networks]
        requested = [order.requests.index(name) for name in names]
        priority = [order.priority[segment] for segment in segments]
        counts = [0] * len(units)
        played = [
            frame_of(rng, plan.runs, units, priority, order.rivals, requested, counts)
            for _ in range(4)
        ]
        for starts, late in played[1:]:
            for unit in set(units):
                own = [i for i in starts if units[i] == unit]
                assert own == sorted(own), seed
            assert not late, seed
        kept += 1
        waited += bool(order.rivals)
    assert kept > 100
    assert waited > 30


@pytest.mark.parametrize(
    ("waits", "units", "words"),
    [
        # a0 b0 on one unit, each a network of its own: priorities suffice.
        ([(), ()], "gg", None),
        # The second part of the first network may come later than that of the second one.
        ([(), (), (0,), (1,)], "degg", "gpu: b.1 runs before a.1 if its inputs are there first."),
        # Both units have models that wait.
        ([(), (), (0,), (1,)], "gddg", "Models wait for several units (dla0, gpu), and Triton"),
    ],
)
def test_what_is_not_kept_is_said(waits, units, words):
    names = {"g": "gpu", "d": "dla0", "e": "dla1"}
    runs = tuple(
        PlannedRun(i % 2, 1, i // 2, names[units[i]], wait, 0, 0) for i, wait in enumerate(waits)
    )
    number = {name: k for k, name in enumerate(names.values())}
    mapping = [names[units[i]] for n in range(2) for i in range(n, len(waits), 2)]
    size = len(waits) // 2
    problem = SimpleNamespace(
        networks=[
            SimpleNamespace(name=name, repeats=1, groups=slice(k * size, (k + 1) * size))
            for k, name in enumerate("ab")
        ],
        units=[SimpleNamespace(unit_name=name, number_format=None) for name in number],
        execution=SimpleNamespace(frames_overlap=False),
    )
    design = SimpleNamespace(units=np.array([number[name] for name in mapping]))
    front = SimpleNamespace(problem=problem, members=[SimpleNamespace(design=design)])
    deployment = Deployment(front, 0, None, None)
    files = [NetworkFiles(name, tuple(f"{name}.{s}" for s in range(size))) for name in "ab"]
    order = triton_order(deployment, EnginePlan(runs, None, (1, 1), None), files)
    if words is None:
        assert order.not_kept == ()
        assert order.rivals == ("gpu",)
        assert [order.priority[s] for s in deployment.all_segments] == [2, 3]
        return
    assert any(reason.startswith(words) for reason in order.not_kept), order.not_kept
