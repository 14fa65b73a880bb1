"""``import dse``: what users are told, held against the numeric results behind it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from doctest import DocTestParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paretosoc as dse
from paretosoc.dse.engines.optimizers import Named
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.front.dominance import non_dominated

NETWORKS = ["inception_v1", "squeezenet"]
PLATFORM = "jetson-agx-xavier"
HEAVY = ("numba", "numpy", "onnx", "networkx", "pymoo", "z3", "matplotlib", "pandas", "typer")


@pytest.fixture(scope="module")
def problem() -> dse.Problem:
    return dse.Problem(
        NETWORKS, PLATFORM, groups=4, units=["gpu", "dla0"], fixed={"emc": "max"}, deadline_ms=50
    )


@pytest.fixture(scope="module")
def front(problem: dse.Problem) -> dse.Front:
    return dse.explore(problem, dse.NSGA2(population=60), max_evaluations=1_500, seed=3)


def test_import_loads_nothing_heavy_and_every_name_is_there() -> None:
    code = (
        "import sys, dse\n"
        f"print(sorted(set(sys.modules) & set({HEAVY!r})))\n"
        "print(all(getattr(dse, name) is not None for name in dse.__all__), dse.__version__)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded, names = done.stdout.splitlines()
    assert loaded == "[]"
    assert names.startswith("True ")
    assert set(dse.__all__) <= set(dir(dse))


def test_members_speak_the_units_of_people(front: dse.Front) -> None:
    best = front["fastest"]
    assert best is front[best.index]
    assert best.latency_ms == min(member.latency_ms for member in front)
    assert best.latency_ms == best.numeric.makespan_ps / 1e9
    assert front[front["lowest-energy"].index].energy_mj == min(
        member.energy_mj for member in front
    )
    assert set(best.mapping) == set(NETWORKS)
    assert {unit for units in best.mapping.values() for unit in units} <= {"gpu", "dla0"}
    assert best.clocks_mhz["emc"] == 2133.0
    assert best.values == {"latency": best.latency_ms, "energy": best.energy_mj}
    assert len(front[:2]) == min(2, len(front))
    with pytest.raises(dse.DseError, match="names: fastest"):
        front["nothing of the kind"]
    last = len(front) - 1
    with pytest.raises(dse.DseError, match=rf"front \(0 to {last}\) is required, got 300"):
        front[300]
    with pytest.raises(IndexError):
        front[-last - 2]
    wrong: Any = None
    with pytest.raises(dse.DseError, match="a position, a slice or a name is required, got None"):
        front[wrong]


@pytest.mark.parametrize("name", [None, 3])
def test_a_platform_is_a_name_or_a_path(name: Any) -> None:
    with pytest.raises(dse.DseError, match=f"a name or a path is required, got {name}"):
        dse.platform(name)


def test_a_front_is_saved_loaded_and_verified(front: dse.Front, tmp_path: Path) -> None:
    proved = dse.certify(front, time_limit_s=30)
    proved.save(tmp_path / "run", pictures=False)
    again = dse.load(tmp_path / "run")
    assert [member.values for member in again] == [member.values for member in proved]
    assert again.claims == proved.claims
    verdicts = {check.verdict.value for check in dse.verify(tmp_path / "run")}
    assert verdicts == {"holds"}
    with pytest.raises(dse.DseError, match="exists"):
        proved.save(tmp_path / "run")
    again.plot(tmp_path / "front.svg")
    for what in ("front", "gantt"):
        assert type(again).figure(what, [("", again)]).__class__.__name__ == "Figure"
    with pytest.raises(dse.DseError, match=r"front.svg: exists already; overwrite=True replaces"):
        again.plot(tmp_path / "front.svg")
    again.plot(tmp_path / "front.svg", overwrite=True)
    again.plot(tmp_path / "gantt.pdf", "gantt", members=["knee"])
    assert (tmp_path / "front.svg").stat().st_size > 1000


def test_evaluate_agrees_with_the_search(problem: dse.Problem, front: dse.Front) -> None:
    best = front["fastest"]
    mapping = {network: list(units) for network, units in best.mapping.items()}
    clocks = {domain: mhz for domain, mhz in best.clocks_mhz.items() if mhz is not None}
    found = dse.evaluate(problem, mapping, clocks)
    assert found.feasible
    assert found.member.numeric.objectives == best.numeric.objectives


class Uphill:
    """An optimizer of a user's own: random rows, then mutations of the best ones."""

    def start(self, space, seed):
        self.space, self.rng = space, np.random.default_rng(seed)
        self.name, self.rows = "uphill", space.random(self.rng, 40)
        return self

    def ask(self):
        return self.space.repair(self.rng, self.rows)

    def tell(self, rows, outcomes):
        best = rows[np.argsort(outcomes.objectives[:, 0])[:20]]
        fresh = self.space.random(self.rng, 40)
        keep = self.rng.random(fresh.shape) < 0.8
        self.rows = np.where(keep, best[self.rng.integers(0, len(best), 40)], fresh)


def test_an_optimizer_of_ones_own(problem: dse.Problem) -> None:
    front = dse.explore(problem, Uphill(), max_evaluations=400, seed=1)
    assert front.numeric.provenance.engine == "uphill"
    assert len(front) > 0


class Proposing:
    """An optimizer of a user's own that changes the rows that it proposes."""

    name = "mine"

    def __init__(self, change):
        self.change = change

    def start(self, space, seed):
        self.space, self.rng = space, np.random.default_rng(seed)
        return self

    def ask(self):
        return self.change(self.space.random(self.rng, 8))

    def tell(self, rows, outcomes):
        assert rows.dtype == np.int64


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows + 99, r"column 0: 0 to 1 is required, got (99|100)$"),
        (lambda rows: rows - 50, r"column 0: 0 to 1 is required, got -(50|49)$"),
        (lambda rows: rows[:, :-1], r"an integer array \[n, \d+\] is required, got int64 \[8, "),
        (lambda rows: rows[0], r"an integer array \[n, \d+\] is required, got int64 \[\d+\]$"),
        (lambda rows: rows + 0.5, r"an integer array \[n, \d+\] is required, got float64"),
        (lambda rows: rows.tolist(), r"an integer array \[n, \d+\] is required, got list$"),
        (lambda rows: None, r"an integer array \[n, \d+\] is required, got NoneType$"),
        (lambda rows: rows * 0, r"rows as of space.repair\(rng, rows\) are required, got \[0, 0, "),
    ],
)
def test_rows_that_another_engine_must_not_propose_are_named(
    problem: dse.Problem, change, words
) -> None:
    with pytest.raises(dse.DseError, match=r"^engine mine: ask\(\): " + words):
        dse.explore(problem, Proposing(change), max_evaluations=50)


def test_integers_of_another_type_and_order_are_taken(problem: dse.Problem) -> None:
    plain = dse.explore(problem, Proposing(lambda rows: rows), max_evaluations=50)
    other = Proposing(lambda rows: np.asfortranarray(rows, dtype=np.int16))
    found = dse.explore(problem, other, max_evaluations=50)
    assert [member.values for member in found] == [member.values for member in plain]


def test_what_is_no_optimizer_is_refused(problem: dse.Problem) -> None:
    with pytest.raises(dse.DseError, match=r"optimizer: an object with start.*got .*Uphill"):
        dse.explore(problem, Uphill, max_evaluations=50)

    class Startless:
        def start(self, space, seed):
            return 3

    with pytest.raises(dse.DseError, match=r"start\(space, seed\): an engine with .*, got 3$"):
        dse.explore(problem, Startless(), max_evaluations=50)


@pytest.mark.parametrize(
    ("method", "place"),
    [
        ("start", "optimizer: start(space, seed)"),
        ("ask", "engine mine: ask()"),
        ("tell", "engine mine: tell(rows, outcomes)"),
    ],
)
def test_a_failure_of_another_engine_is_no_fault_of_the_program(
    problem: dse.Problem, method: str, place: str
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("x")

    engine = Proposing(lambda rows: rows)
    setattr(engine, method, fail)
    with pytest.raises(dse.DseError, match=f"^{re.escape(place)}: KeyError: 'x'$") as raised:
        dse.explore(problem, engine, max_evaluations=50)
    assert isinstance(raised.value.__cause__, KeyError)


@pytest.mark.parametrize(
    "wrapped", [lambda make: Named("mine", make), lambda make: dse.Pymoo(make=make)]
)
def test_a_failure_within_our_wrapper_of_another_engine_is_no_fault_of_the_program(
    problem: dse.Problem, wrapped: Callable[[Any], dse.Optimizer]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("x")

    with pytest.raises(dse.DseError, match=r"^optimizer: start\(space, seed\): KeyError: 'x'$"):
        dse.explore(problem, wrapped(fail), max_evaluations=50)


def test_a_failure_of_an_own_engine_is_a_fault_of_the_program(
    problem: dse.Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr(dse.NSGA2, "start", fail)
    with pytest.raises(KeyError):
        dse.explore(problem, dse.NSGA2(), max_evaluations=50)


def test_the_engine_in_the_docstring_of_the_protocol_runs(problem: dse.Problem) -> None:
    names = {"dse": dse, "np": np, "problem": problem}
    for example in DocTestParser().get_examples(dse.Optimizer.__doc__):
        exec(example.source, names)
    assert names["front"].numeric.provenance.engine == "mine"
    assert names["front"].numeric.provenance.evaluations == 1_000


def test_pymoo_runs_on_our_problem_and_our_search_in_pymoo(problem: dse.Problem) -> None:
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.optimize import minimize

    theirs = problem.as_pymoo()
    result = minimize(
        theirs, NSGA2(pop_size=40, **theirs.operators()), ("n_gen", 5), seed=1, verbose=False
    )
    rows = result.X.astype(np.int64)
    outcomes = make_outcomes(problem.numeric)(rows)
    assert outcomes.feasible.all()
    assert np.array_equal(outcomes.objectives.astype(np.float64), result.F)
    ours = minimize(
        problem.as_pymoo(), dse.NSGA2(population=40).as_pymoo(), ("n_evals", 400), seed=1
    )
    assert len(ours.F) == len(non_dominated(ours.F.astype(np.int64)))
    mine = dse.explore(problem, dse.NSGA2(population=40), max_evaluations=400, seed=1)
    assert ours.F[:, 0].min() >= 0
    assert len(mine) > 0


def test_what_cannot_be_is_refused(problem: dse.Problem) -> None:
    with pytest.raises(dse.DseError, match="a platform is required"):
        dse.explore(NETWORKS)
    with pytest.raises(dse.DseError, match="groups: are part of the problem"):
        dse.explore(problem, groups=3)
    with pytest.raises(dse.DseError, match="deadline_ms"):
        dse.Problem(NETWORKS, PLATFORM, deadline_ms=-1)
    with pytest.raises(dse.DseError, match="vgg91"):
        dse.Problem("vgg91", PLATFORM)
    with pytest.raises(dse.DseError, match="fixed: a mapping"):
        dse.Problem(NETWORKS, PLATFORM, fixed=(("gpu", 1377),))
    with pytest.raises(dse.DseError, match="objectives: one or more"):
        dse.Problem(NETWORKS, PLATFORM, objectives=[])


def test_one_name_is_taken_as_one_name() -> None:
    problem = dse.Problem("alexnet", PLATFORM, units="gpu", objectives="latency")
    assert problem.options.units == ("gpu",)
    assert problem.options.objectives == ("latency",)


def test_one_objective_is_searched_proved_and_saved(tmp_path: Path) -> None:
    problem = dse.Problem("alexnet", PLATFORM, objectives="energy", groups=3)
    front = dse.certify(dse.explore(problem, max_evaluations=500))
    assert len(front) == 1
    front.save(tmp_path / "one")
    assert not list((tmp_path / "one").glob("*.png"))
    assert dse.load(tmp_path / "one")[0].energy_mj == front[0].energy_mj
    with pytest.raises(dse.DseError, match="two objectives"):
        front.plot(tmp_path / "one.pdf")


def test_deploying_finds_the_file_of_a_platform_or_asks_for_it(tmp_path: Path) -> None:
    file, moved = tmp_path / "own.json", tmp_path / "moved.json"
    file.write_text('{"extends": "jetson-agx-xavier", "name": "own"}')
    front = dse.explore(["squeezenet"], file, groups=2, max_evaluations=50, baselines=False)
    dse.deploy(front, "json", tmp_path / "out")
    assert (tmp_path / "out" / "deployment.json").exists()
    file.rename(moved)
    with pytest.raises(dse.DseError, match=r"^platform=?: the file of the search is required"):
        dse.deploy(front, "json", tmp_path / "again")
    dse.deploy(front, "json", tmp_path / "again", platform=moved)
    assert (tmp_path / "again" / "deployment.json").exists()


def test_a_proof_is_shown_without_its_tree(front: dse.Front) -> None:
    certificate = dse.certify(front, time_limit_s=5).certificate
    assert certificate is not None
    assert "array(" not in repr(certificate)
