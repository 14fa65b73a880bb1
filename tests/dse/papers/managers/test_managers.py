"""The managers that MapFormer is compared with: their rules by hand, by enumeration, by the cap."""

from __future__ import annotations

import itertools
import subprocess
import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from benchmarks.problems.random_problem import RandomShape, random_problem
from paretosoc.common.units import PS_PER_S
from paretosoc.dse.engines.optimizers import optimizer_named
from paretosoc.dse.errors import InfeasibleError, WorkloadError
from paretosoc.dse.papers.managers.base import (
    cpu_and_gpu,
    fit_layer_times,
    mode_steps,
    power_mode,
    worst_power_mw,
)
from paretosoc.dse.papers.managers.kang_ga import GENERATIONS, POPULATION, KangGa
from paretosoc.dse.papers.managers.mosaic import Mosaic, _least_latency
from paretosoc.dse.papers.managers.odmdef import Odmdef
from paretosoc.dse.papers.managers.omniboost.network import (
    SHAPES,
    Embedding,
    OmniBoostNetwork,
    read_omniboost,
)
from paretosoc.dse.papers.managers.omniboost.omniboost import OmniBoost, OmniBoostStar
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload_file import workload_from
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.errors import ResultError
from paretosoc.results.problem.interchangeable import in_order_of_use
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.problem import Problem
from tests.support.explored import explore

CHAINS = RandomShape(
    networks=(1, 3), groups=(1, 5), units=(2, 3), points=(1, 4), graphs=False, waiting=False
)
KINDS = (Objective(ObjectiveKind.THROUGHPUT), Objective(ObjectiveKind.POWER))


def random_problems(count: int, seed: int) -> list[Problem]:
    rng = np.random.default_rng(seed)
    return [replace(random_problem(rng, CHAINS), objectives=KINDS) for _ in range(count)]


@cache
def board(cap_w: int | None = 15) -> DesignSpace:
    """Three networks on the Xavier under a cap."""
    options = Options(objectives=("throughput", "power"), groups=8, power_cap_w=cap_w)
    workload = workload_from(["alexnet", "squeezenet", "resnet18"])
    return DesignSpace(build_problem(workload, load_platform("jetson-agx-xavier"), options).problem)


def some_network(seed: int = 0) -> OmniBoostNetwork:
    rng = np.random.default_rng(seed)
    shapes = SHAPES.items()
    return OmniBoostNetwork(
        {k: (0.1 * rng.standard_normal(s)).astype(np.float32) for k, s in shapes}
    )


def make(name: str, space: DesignSpace):
    return {
        "mosaic": lambda: Mosaic(space),
        "odmdef": lambda: Odmdef(space),
        "kang-ga": lambda: KangGa(space, seed=1),
        "omniboost": lambda: OmniBoost(space, seed=1, network=some_network(), playouts=60),
        "omniboost-star": lambda: OmniBoostStar(space, seed=1, network=some_network(), playouts=60),
    }[name]()


def played(engine, space: DesignSpace):
    evaluate = make_outcomes(space.problem)
    while len(rows := engine.ask()):
        assert (rows == space.canonical(rows)).all()
        engine.tell(rows, evaluate(rows))
    return engine.answer


MANAGERS = ("mosaic", "odmdef", "kang-ga", "omniboost", "omniboost-star")


@pytest.mark.parametrize("cap", [10, 15, 30, None])
@pytest.mark.parametrize("name", MANAGERS)
def test_a_manager_keeps_to_cpu_and_gpu_and_below_the_cap(name, cap):
    space = board(cap)
    answer = played(make(name, space), space)
    names = {space.problem.units[u].name for u in answer[: space.groups]}
    assert names <= {"cpu", "gpu"}
    assert make_outcomes(space.problem)(answer[None]).feasible[0]


@pytest.mark.parametrize("name", MANAGERS)
def test_a_manager_gives_the_same_answer_again(name):
    space = board()
    assert (played(make(name, space), space) == played(make(name, space), space)).all()


def test_the_worst_power_is_never_passed_and_grows_along_the_steps():
    rng = np.random.default_rng(5)
    for problem in [board(None).problem, *random_problems(30, 6)]:
        space = DesignSpace(problem)
        units = range(len(problem.units))
        evaluate = make_outcomes(problem)
        for step in mode_steps(space)[:: max(1, len(mode_steps(space)) // 4)]:
            rows = space.random(rng, 40)
            rows[:, space.groups :] = step
            rows = space.canonical(rows)
            outcomes = evaluate(rows)
            power = [KINDS[1].shown(int(v)) for v in outcomes.objectives[:, 1]]
            most = worst_power_mw(space, list(units), step) / 1000
            assert max(np.array(power)[outcomes.possible], default=0.0) <= most + 1e-5


def test_the_power_mode_is_the_fastest_step_within_the_cap():
    space = board(15)
    units = cpu_and_gpu(space.problem)
    steps = mode_steps(space)
    chosen = int(np.flatnonzero((steps == power_mode(space, units)).all(axis=1))[0])
    assert worst_power_mw(space, units, steps[chosen]) <= 15_000
    assert all(worst_power_mw(space, units, step) > 15_000 for step in steps[chosen + 1 :])
    uncapped = DesignSpace(replace(space.problem, power_cap_mw=None))
    assert (power_mode(uncapped, units) == steps[-1]).all()


def test_the_regression_is_exact_where_times_obey_it():
    space = board()
    problem = space.problem
    reference, u = cpu_and_gpu(problem)
    fitted = fit_layer_times(space, (reference, u))
    unit, memory = problem.units[u], problem.memory_domain
    grids = np.meshgrid(*(range(n) for n in unit.time_ps.shape[1:]), indexing="ij")
    seconds = np.full(unit.time_ps.shape, 3e-5)
    for axis, clock in enumerate(unit.clocks):
        khz = np.array(problem.domains[clock].frequencies_khz)
        share = {unit.clocks[0]: 2 * fitted.work_s, memory: 2e-11 * fitted.traffic_bytes}.get(clock)
        if share is not None:
            slower = (khz[space.points[clock][-1]] / khz)[grids[axis]]
            seconds += share.reshape(-1, *(1,) * slower.ndim) * slower
    obeying = replace(unit, time_ps=np.rint(seconds * PS_PER_S).astype(np.int64))
    units = tuple(obeying if k == u else other for k, other in enumerate(problem.units))
    again = fit_layer_times(DesignSpace(replace(problem, units=units)), (reference, u))
    assert again.coefficients[1] == pytest.approx([2.0, 0.02, 3e-5], rel=1e-6)
    clocks = np.array([points[len(points) // 2] for points in space.points])
    truth = obeying.time_ps[(slice(None), *clocks[list(unit.clocks)])] / PS_PER_S
    assert again.predict(clocks)[:, 1] == pytest.approx(truth, rel=1e-6)


def test_mosaic_cuts_a_network_as_enumeration_does():
    rng = np.random.default_rng(2)
    for problem in random_problems(40, 3):
        space = DesignSpace(problem)
        units = tuple(range(len(problem.units)))
        seconds = rng.random((space.groups, len(units))) * 1e-6
        seconds = np.where(problem.allowed, seconds, np.inf)
        for n, network in enumerate(problem.networks):
            groups = list(network.groups)
            best = np.inf
            for choice in itertools.product(units, repeat=len(groups)):
                total = sum(seconds[g, u] for g, u in zip(groups, choice, strict=True))
                for g, before, after in zip(groups[1:], choice, choice[1:], strict=False):
                    total += space.transition_before[g, before, after] / PS_PER_S
                best = min(best, total)
            chosen, latency = _least_latency(space, seconds, units, n)
            assert latency == pytest.approx(best)
            assert np.isfinite(seconds[groups, chosen]).all()


def test_odmdef_spreads_what_one_unit_would_be_busy_with():
    space = board()
    answer = played(Odmdef(space), space)
    assert len(set(answer[: space.groups].tolist())) == 2


def test_the_genetic_algorithm_runs_two_hundred_and_gets_better():
    space = board()
    evaluate = make_outcomes(space.problem)
    engine = KangGa(space, seed=3)
    batches, best = [], []
    while len(rows := engine.ask()):
        batches.append(len(rows))
        engine.tell(rows, evaluate(rows))
        best.append(engine._fitness[0])
    assert batches == [POPULATION] * GENERATIONS
    assert best == sorted(best)
    assert best[-1] > best[0]


def test_the_embedding_shows_times_where_the_groups_are_mapped():
    space = board()
    answer = played(Odmdef(space), space)
    tensor = Embedding(space).of(answer[None])[0]
    assert (tensor != 0).sum() == space.groups
    for g in range(space.groups):
        u, n = int(answer[g]), int(space.owner[g])
        cell = tensor[u, n, g - space.first[n]]
        assert cell == pytest.approx(np.log1p(space.fastest_time[g, u] / 1e6), rel=1e-6)


def test_convolutions_equal_a_plain_loop():
    network = some_network(4)
    x = np.random.default_rng(0).standard_normal((2, 4, 10, 32)).astype(np.float32)

    def convolved(x, name):
        w, b = network.weights[f"{name}.weight"], network.weights[f"{name}.bias"]
        padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
        out = np.zeros((len(x), len(w), *x.shape[2:]))
        for r, c in itertools.product(range(x.shape[2]), range(x.shape[3])):
            window = padded[:, None, :, r : r + 3, c : c + 3]
            out[:, :, r, c] = (window * w[None]).sum(axis=(2, 3, 4)) + b
        return out

    w = network.weights
    h = np.maximum(convolved(x, "first"), 0)
    h = np.maximum(convolved(h, "second") + h, 0)
    h = np.maximum(convolved(h, "third"), 0)
    pooled = np.concatenate((h.mean(axis=(2, 3)), h.max(axis=(2, 3))), axis=1)
    hidden = np.maximum(pooled @ w["hidden.weight"].T + w["hidden.bias"], 0)
    out = (hidden @ w["out.weight"].T + w["out.bias"])[:, 0]
    expected = np.exp(out * w["target.deviation"] + w["target.mean"])
    assert network.throughput_hz(x) == pytest.approx(expected, rel=1e-4)


def test_omniboost_never_cuts_a_network_into_more_stages_than_processors():
    space = board()
    answer = played(make("omniboost", space), space)
    for n in range(len(space.first)):
        part = answer[space.first[n] : space.first[n] + space.size[n]]
        assert (part[1:] != part[:-1]).sum() <= 1


class WantsTheGpu(OmniBoostNetwork):
    """Says that a mapping is the faster the more of it is on unit 1."""

    def throughput_hz(self, embedded):
        return (embedded[:, 1] > 0).sum(axis=(1, 2)).astype(np.float64)


def test_omniboost_follows_its_estimator():
    space = board()
    engine = OmniBoost(space, seed=0, network=WantsTheGpu(some_network().weights), playouts=300)
    on_gpu = (played(engine, space)[: space.groups] == 1).mean()
    assert on_gpu > 0.8


def test_a_cap_that_omniboost_star_was_not_trained_for_is_refused():
    space = DesignSpace(replace(board().problem, power_cap_mw=12_500))
    with pytest.raises(WorkloadError, match=r"cap of 10, 15, 30 W is required, got 12\.5 W"):
        OmniBoostStar(space, seed=0)


@pytest.mark.parametrize("damage", ["missing", "shape", "infinite"])
def test_weights_of_another_network_are_refused(damage):
    weights = dict(some_network().weights)
    if damage == "missing":
        del weights["out.bias"]
    else:
        weights["out.bias"] = np.array([np.inf] if damage == "infinite" else [1.0, 2.0], np.float32)
    with pytest.raises(ResultError, match=r"omniboost: out\.bias: finite numbers of shape \(1,\)"):
        OmniBoostNetwork(weights)


def test_a_file_that_holds_no_weights_is_refused(tmp_path):
    path = tmp_path / "weights.safetensors"
    path.write_bytes(b"no weights")
    with pytest.raises(ResultError, match="weights are required"):
        read_omniboost(path)


@pytest.mark.parametrize(("engine", "most"), [("mosaic", 1), ("odmdef", 1), ("la-mcts", 101)])
def test_what_a_manager_decides_is_all_that_is_in_its_front(engine, most, tmp_path):
    options = Options(objectives=("throughput", "power"), groups=6)
    names = ["squeezenet", "resnet18"]
    front = explore(names, "jetson-agx-xavier", options=options, engine=engine)
    space = DesignSpace(front.problem)
    proposed = set()
    deciding = optimizer_named(engine).start(space, 0)
    while len(rows := deciding.ask()):
        # Members name interchangeable units in the order of their use.
        rows[:, : space.groups] = in_order_of_use(front.problem, rows[:, : space.groups])
        proposed |= {row.tobytes() for row in rows}
    assert len(proposed) <= most
    assert {member.design.row.tobytes() for member in front.members} <= proposed
    assert front.baselines


@pytest.mark.parametrize(
    ("engine", "told"),
    [
        ("mosaic", r"^no feasible .* in 1 evaluation: power: at most 3 W .*found \d"),
        ("la-mcts", r"^no design point was proposed"),
    ],
)
def test_a_cap_that_a_manager_does_not_keep_is_told_with_what_it_came_to(engine, told):
    options = Options(objectives=("throughput", "power"), groups=6, power_cap_w=3)
    names = ["squeezenet", "resnet18"]
    with pytest.raises(InfeasibleError, match=told):
        explore(names, "jetson-agx-xavier", options=options, engine=engine)


@pytest.mark.parametrize("package", ["safetensors", "threadpoolctl"])
def test_a_package_that_is_missing_is_named_with_its_extra(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ResultError, match=rf"needs the package {package}: .*\[mapformer\]"):
        OmniBoost(board(), seed=0).ask()


def test_groups_that_only_accelerators_can_run_are_refused_by_name():
    problem = board().problem
    allowed = problem.allowed.copy()
    allowed[3] = [unit.name.startswith("dla") for unit in problem.units]
    space = DesignSpace(replace(problem, allowed=allowed))
    name = problem.networks[0].group_names[3]
    with pytest.raises(WorkloadError, match=rf"group '{name}'"):
        Odmdef(space).ask()


def test_managers_load_neither_scikit_learn_nor_torch_before_they_train():
    # In a process of its own: other tests of this one may train, and load both.
    program = (
        "import sys, paretosoc.dse.engines.optimizers; "
        "from paretosoc.dse.papers.managers import kang_ga, mosaic, odmdef; "
        "from paretosoc.dse.papers.managers.mapformer import la_mcts; "
        "from paretosoc.dse.papers.managers.omniboost import omniboost; "
        "print(sorted({'torch', 'sklearn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
