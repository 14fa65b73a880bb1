"""The checker finds every sort of broken rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paretosoc.dse.papers.mobile_i.check import broken_rule
from paretosoc.dse.papers.mobile_i.periodic import (
    EngineArray,
    PeriodicSchedule,
    Task,
    TaskGraph,
    Transfer,
)
from paretosoc.results.errors import ResultError

GRAPH = TaskGraph(
    "fork",
    (Task("a", 4), Task("b", 3), Task("c", 2)),
    (Transfer(0, 1, 10, 3, 1), Transfer(0, 2, 10, 3, 1)),
)
SOUND = PeriodicSchedule(
    "by hand", GRAPH, EngineArray(2, 20), 1, 6, (0, 1, 1), (0, 0, 3), (2, 0, 1), (0, 1)
)


def test_the_sound_schedule() -> None:
    assert broken_rule(SOUND) is not None
    # b runs two periods after a, so that data of two frames lies in the cache.
    assert broken_rule(replace(SOUND, array=EngineArray(2, 40))) is None
    assert broken_rule(replace(SOUND, cached=())) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"ahead": (0, 0, 0)}, "arrives at"),
        ({"engine": (0, 0, 1)}, "runs until"),
        ({"start_ps": (0, 0, 2)}, "runs until"),
        ({"engine": (0, 2, 1)}, "there are 2"),
        ({"engine": (0, 1)}, "must have 3 entries"),
        ({"start_ps": (0, -1, 3)}, "before its period"),
        ({"ahead": (2, -1, 1)}, "after its frame"),
        ({"period_ps": 0}, "at least 1 ps"),
        ({"copies": 0}, "at least 1"),
        ({"cached": (1, 0)}, "ascend"),
        ({"cached": (0, 2)}, "among 0 to 1"),
        ({"cached": (0, 1), "array": EngineArray(2, 29)}, "has room for 29"),
        ({"start_ps": (3, 0, 3), "ahead": (1, 0, 0), "cached": (0,)}, "arrives at"),
    ],
)
def test_what_breaks_a_rule(change: dict[str, object], words: str) -> None:
    broken = broken_rule(replace(SOUND, **({"cached": ()} | change)))  # type: ignore[arg-type]
    assert broken is not None
    assert words in broken


@pytest.mark.parametrize(
    ("tasks", "transfers", "words"),
    [
        ((), (), "at least one task"),
        ((Task("a", 0),), (), "time_ps must be at least 1"),
        ((Task("a", 1),), (Transfer(0, 0, 1, 1, 1),), "lower to a higher"),
        ((Task("a", 1), Task("b", 1)), (Transfer(0, 1, 1, 1, 2),), "cache_ps <= memory_ps"),
    ],
)
def test_graphs_that_are_none(
    tasks: tuple[Task, ...], transfers: tuple[Transfer, ...], words: str
) -> None:
    with pytest.raises(ResultError, match=words):
        TaskGraph("g", tasks, transfers)
