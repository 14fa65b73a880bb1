"""The archive against the front of all rows at once."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from paretosoc.dse.search.archive import Archive
from paretosoc.fitness.objectives import Outcomes
from paretosoc.results.front.dominance import non_dominated


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([2, 4, 30, 10**15]))
def test_an_archive_holds_the_front_of_all_rows_added(seed, objectives, span):
    rng = np.random.default_rng(seed)
    archive = Archive(1, objectives, 0)
    every = np.zeros((0, objectives), dtype=np.int64)
    names = np.zeros((0, 1), dtype=np.int64)
    for _ in range(4):
        count = int(rng.integers(0, 50))
        values = rng.integers(0, span, (count, objectives))
        feasible = rng.random(count) < 0.8
        rows = len(names) + np.arange(count)[:, None]
        before = archive.numbers
        figures = np.zeros((count, 0), dtype=np.int64)
        changed = archive.add(rows, Outcomes(feasible, values, figures, feasible))
        every = np.concatenate((every, values[feasible]))
        names = np.concatenate((names, rows[feasible]))
        kept = non_dominated(every)
        assert np.array_equal(archive.objectives, every[kept])
        assert np.array_equal(archive.rows, names[kept])
        assert changed == (not np.array_equal(before, archive.numbers))
        assert archive.joined(count).sum() == np.isin(archive.numbers, before, invert=True).sum()
