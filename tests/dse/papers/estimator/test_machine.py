"""Work shared out over processes: in order, told of, and ended when it is interrupted."""

from __future__ import annotations

import multiprocessing
import time
from pathlib import Path

import pytest

from paretosoc.dse.papers.estimator.training.machine import in_processes


def slow_touch(path: Path) -> str:
    time.sleep(0.02)
    path.touch()
    return path.name


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_are_in_the_order_of_the_tasks(tmp_path: Path, jobs: int) -> None:
    done: list[int] = []
    paths = [tmp_path / str(number) for number in range(9)]
    results = in_processes(slow_touch, paths, jobs=jobs, on_done=done.append)
    assert results == [path.name for path in paths]
    assert done == list(range(1, 10))
    assert multiprocessing.active_children() == []


def test_what_fails_is_raised(tmp_path: Path) -> None:
    paths = [tmp_path / "a", tmp_path / "no" / "folder" / "b"]
    with pytest.raises(FileNotFoundError):
        in_processes(slow_touch, paths, jobs=2, on_done=lambda _: None)
    assert multiprocessing.active_children() == []


def test_an_interrupt_leaves_no_process_and_the_rest_undone(tmp_path: Path) -> None:
    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    paths = [tmp_path / str(number) for number in range(500)]
    with pytest.raises(KeyboardInterrupt):
        in_processes(slow_touch, paths, jobs=2, on_done=interrupted)
    assert multiprocessing.active_children() == []
    assert len(list(tmp_path.iterdir())) < 100
