"""The benchmark of searches, on small budgets."""

from functools import partial

import numpy as np
import pytest

import benchmarks.search as benchmark
from benchmarks.problems.reference_problem import reference_problem
from benchmarks.problems.search_problems import SearchProblem, reference_front
from paretosoc.dse.certificate.branch_and_bound import find_front
from paretosoc.dse.search.optimizers.nsga2 import Nsga2Engine
from paretosoc.dse.search.optimizers.pymoo_adapters import stock_nsga2


def test_the_front_in_the_file_is_what_branch_and_bound_finds():
    found = find_front(reference_problem()).objectives
    assert len(found) == 73
    assert np.array_equal(found[np.argsort(found[:, 0])], reference_front())


@pytest.mark.parametrize("solved", [True, False])
def test_rows_have_all_columns_and_shares_are_of_the_best_front(solved, monkeypatch):
    contests = (
        benchmark.Contest(benchmark.STOCK, stock_nsga2, 400),
        benchmark.Contest("as long as that", Nsga2Engine, None),
        benchmark.Contest(benchmark.OURS, Nsga2Engine, 400),
    )
    name = "reference" if solved else "ten networks"
    monkeypatch.setitem(benchmark.CONTESTS, name, contests)
    problem = SearchProblem(name, partial(reference_problem, points=False), solved)
    rows, notes = benchmark.measure(problem, seeds=2)
    assert len(rows) == len(contests) + solved
    for row in rows:
        assert set(row) == {column.key for column in benchmark.COLUMNS}
        assert 0.0 <= row["worst_percent"] <= row["median_percent"] <= 100.0 + 1e-9
    assert [row["evaluations"] for row in rows if row["engine"] == benchmark.OURS] == [400]
    said = " ".join(notes)
    assert ("exact front" in said) == solved
    assert ("ahead for" in said) != solved
