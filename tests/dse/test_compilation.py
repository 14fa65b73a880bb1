"""Compiling is told once, and no search is charged for it."""

import numba
import pytest

import dse.explore as exploring
from dse import compilation
from dse.design_space import DesignSpace
from dse.options import Options
from fitness.warm_up import smallest_problem


def test_the_first_function_that_is_compiled_is_told_and_no_other(capsys, monkeypatch):
    compilation.tell_of_compiling()
    compilation.tell_of_compiling()
    monkeypatch.setattr(compilation._TELLER, "told", False)
    for _ in range(2):
        assert numba.njit(lambda x: x + 1)(1) == 2
    assert capsys.readouterr().err == "dse: compiling the timeline, once; it takes minutes\n"


def test_machine_code_is_loaded_before_the_clock_starts(monkeypatch):
    order = []
    load, search = compilation.load_machine_code, exploring.search

    def loaded(space):
        load(space)
        order.append("loaded")

    def searched(*arguments, **options):
        order.append("searched")
        return search(*arguments, **options)

    monkeypatch.setattr(exploring, "load_machine_code", loaded)
    monkeypatch.setattr(exploring, "search", searched)
    options = Options(units=("gpu",), groups=2)
    exploring.explore(["squeezenet"], "jetson-agx-xavier", options=options, max_evaluations=20)
    assert order == ["loaded", "searched"]


def test_what_goes_wrong_while_loading_is_not_lost(monkeypatch):
    def broken(problem):
        return lambda rows: 1 / 0

    monkeypatch.setattr(compilation, "make_outcomes", broken)
    with pytest.raises(ZeroDivisionError):
        compilation.load_machine_code(DesignSpace(smallest_problem()))
