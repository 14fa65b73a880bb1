"""Compiling is announced once, and no search is charged for it."""

import subprocess
import sys
from types import SimpleNamespace

import numba
import pytest
from numba.core import event

import paretosoc.common.compiling as compiling_
import paretosoc.dse.certificate.strategy as proving
from paretosoc.common.compiling import Progress, compiling, listen
from paretosoc.common.deadline import Deadline
from paretosoc.common.machine_code.kernel import _passed
from paretosoc.dse.certificate.certify import Limits
from paretosoc.dse.compile import load as compilation
from paretosoc.dse.engines import explore as exploring
from paretosoc.dse.search.driver import Budget, StoppedBy, search
from paretosoc.dse.search.optimizers.nsga2 import Nsga2Engine
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.workload.options import Options
from paretosoc.fitness.branch_and_bound.search import search_nodes
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.fitness.warm_up import _nodes, smallest_problem
from tests.support.explored import explore


def test_the_first_function_that_is_compiled_is_announced_and_no_other(capsys, monkeypatch):
    listen()
    progress = Progress(announced=True, listening=True)
    monkeypatch.setattr(compiling_, "_PROGRESS", progress)
    for _ in range(2):
        assert numba.njit(lambda x: x + 1)(1) == 2
    assert capsys.readouterr().err == f"{compiling_.ANNOUNCED}\n"


def test_how_far_compiling_is_can_be_asked_while_it_goes_on(monkeypatch):
    """Functions within functions count, and nothing is compiling before and after."""
    listen()
    seen = []

    class Asked(event.Listener):
        def on_start(self, _):
            seen.append(compiling())

        def on_end(self, _):
            pass

    monkeypatch.setattr(compiling_, "_PROGRESS", Progress(listening=True))
    inner = numba.njit(lambda x: x + 1)
    assert compiling() is None
    with event.install_listener("numba:compile", Asked()):
        assert numba.njit(lambda x: inner(x) + inner(1.0))(1) == 4
    assert compiling() is None
    assert [functions for functions, _ in seen] == [0, 0, 1]
    assert all(seconds >= 0 for _, seconds in seen)


def test_compiling_takes_nothing_from_a_time_limit(monkeypatch):
    """A kernel that no warm-up knows is compiled amid a search of 50 s, and takes 100 s."""
    now = [1000.0]
    listen()
    monkeypatch.setattr(compiling_, "_PROGRESS", Progress(listening=True))
    monkeypatch.setattr(compiling_, "time", SimpleNamespace(monotonic=lambda: now[0]))
    space = DesignSpace(smallest_problem())
    judged = make_outcomes(space.problem)
    until = Deadline.after(50.0)

    def evaluate(rows):
        for _ in range(2):
            event.start_event("numba:compile")
        now[0] += 100.0
        for _ in range(2):
            assert until.left == 49.0
            event.end_event("numba:compile")
        return judged(rows)

    now[0] += 1.0
    result = search(Nsga2Engine(space, seed=0), evaluate, Budget(4, seconds=49.0))
    assert (result.stopped_by is StoppedBy.TIME_LIMIT, result.seconds) == (False, 0.0)
    assert until.left == 49.0


def test_machine_code_is_loaded_before_the_clock_starts(monkeypatch):
    order = []
    load, search = compilation.load_search_code, exploring.search

    def loaded(space):
        load(space)
        order.append("loaded")

    def searched(*arguments, **options):
        order.append("searched")
        return search(*arguments, **options)

    monkeypatch.setattr(exploring, "load_search_code", loaded)
    monkeypatch.setattr(exploring, "search", searched)
    options = Options(units=("gpu",), groups=2)
    explore(["squeezenet"], "jetson-agx-xavier", options=options, max_evaluations=20)
    assert order == ["loaded", "searched"]


def test_nothing_more_is_loaded_for_a_search():
    code = """
import gc
from benchmarks.problems.reference_problem import reference_problem
from paretosoc.dse.compile.load import load_search_code
from paretosoc.dse.search.driver import Budget, search
from paretosoc.dse.search.optimizers.nsga2 import Nsga2Engine
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.common.machine_code.kernel import Kernel
from paretosoc.fitness.objectives import make_outcomes

def signatures():
    kernels = [entry for entry in gc.get_objects() if isinstance(entry, Kernel)]
    return {entry.py_func.__qualname__: len(entry.loaded) for entry in kernels}

space = DesignSpace(reference_problem())
load_search_code(space)
before = signatures()
search(Nsga2Engine(space, seed=0), make_outcomes(space.problem), Budget(3000))
late = {name for name, count in signatures().items() if count != before.get(name, 0)}
assert before and not late, late
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_number_formats_need_no_machine_code_of_their_own():
    code = """
import numpy as np
from benchmarks.problems.random_problem import RandomShape, random_problem
from paretosoc.fitness.simulate import Kernel, make_evaluator
from benchmarks.problems.number_formats import with_formats
from paretosoc.fitness.simulator.chains.two_chains import evaluate_chains

rng = np.random.default_rng(1)
plain = random_problem(rng, RandomShape(networks=(2, 2), graphs=False, waiting=False))
mixed = with_formats(rng, plain)
assert mixed.has_formats and len(set(mixed.unit_of)) < len(mixed.units)
for problem in (plain, mixed):
    first = [np.flatnonzero(may)[0] for may in problem.allowed]
    row = np.array([first + [0] * len(problem.domains)])
    make_evaluator(problem, kernel=Kernel.TWO_CHAINS)(row)
assert len(evaluate_chains.loaded) == 1, evaluate_chains.loaded
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_machine_code_of_proofs_is_loaded_before_their_clock_starts(monkeypatch, explored_exactly):
    order = []

    class Work(proving._Work):
        def __init__(self, *arguments):
            order.append("clock")
            super().__init__(*arguments)

    monkeypatch.setattr(proving, "load_proof_code", lambda _: order.append("loaded"))
    monkeypatch.setattr(proving, "_Work", Work)
    proving.prove_front(explored_exactly, limits=Limits(nodes=50, until=Deadline.after(600.0)))
    assert order == ["loaded", "clock"]


def test_a_proof_whose_variant_is_missing_is_compiled_aside(monkeypatch, tmp_path):
    """Machine code for engines says nothing of that for groups."""
    started = []
    monkeypatch.setattr(compilation, "_ASIDE", [])
    monkeypatch.setattr(compilation.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(
        compilation.subprocess, "Popen", lambda command, **_: started.append(command[-1])
    )
    monkeypatch.setattr(search_nodes, "_state", lambda: "in no wheel")
    monkeypatch.setattr(search_nodes, "_folder", lambda: tmp_path)
    groups, engines = smallest_problem(), smallest_problem(engines=True)
    compilation.compile_proof_code_aside(groups)
    compilation.compile_proof_code_aside(engines)
    assert started == ["proof", "proof-engines"]
    key, _ = _passed((*_nodes(engines=True), 1))
    *_, library = search_nodes._paths(key)
    library.parent.mkdir()
    library.touch()
    compilation.compile_proof_code_aside(engines)
    assert started == ["proof", "proof-engines"]
    compilation.compile_proof_code_aside(groups)
    assert started == ["proof", "proof-engines", "proof"]


def test_nothing_more_is_loaded_for_a_proof():
    code = """
from benchmarks.problems.reference_problem import reference_problem
from paretosoc.dse.compile.load import load_proof_code
from paretosoc.dse.certificate.branch_and_bound import Incumbents, find_front
from paretosoc.fitness.branch_and_bound.search import begin_subtree, search_nodes
from paretosoc.fitness.branch_and_bound.archive import is_fathomed, insert_member
from paretosoc.fitness.check import LemmaTarget
from paretosoc.fitness.check.tree import check_tree
from paretosoc.fitness.check.walk import check_part

def loaded():
    return [len(kernel.loaded) for kernel in (search_nodes, begin_subtree, is_fathomed,
    insert_member, check_part)]

load_proof_code()
before = loaded()
problem = reference_problem(max_transitions=1, points=False)
part = find_front(problem, max_nodes=50)
whole = find_front(problem, known=Incumbents(part.objectives, part.rows),
                   resume_from=part.root)
again = find_front(problem, known=Incumbents(whole.objectives, whole.rows))
members = tuple(map(tuple, again.objectives.tolist()))
claim = LemmaTarget((0, 1), members, 0, again.prices)
assert check_tree(problem, again.tree, claim).fault is None
assert before == loaded() == [1, 1, 1, 1, 1], (before, loaded())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_goes_wrong_while_loading_is_not_lost(monkeypatch):
    def broken(problem):
        return lambda rows: 1 / 0

    monkeypatch.setattr(compilation, "make_outcomes", broken)
    with pytest.raises(ZeroDivisionError):
        compilation.load_search_code(DesignSpace(smallest_problem()))
