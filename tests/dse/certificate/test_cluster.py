"""Searches in other processes, workers of a cluster that are killed, and checkpoints."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.problems.reference_problem import reference_problem
from paretosoc.dse.api.front import Front
from paretosoc.dse.certificate import branch_and_bound as exact_search
from paretosoc.dse.certificate.branch_and_bound import ExactResult, find_front
from paretosoc.dse.certificate.subtree_search import SearchedSlice, search_slice
from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.check.tree import check_tree
from paretosoc.results.front.certificate import CertificateStatus
from paretosoc.results.front.proof_tree import tree_bytes
from paretosoc.results.problem.problem import Problem

ROOT = Path(__file__).resolve().parents[3]
SUPPORT = ROOT / "tests" / "support" / "proofs"
SLICE = 200


@pytest.fixture
def problem(monkeypatch: pytest.MonkeyPatch) -> Problem:
    """One that is searched in many rounds."""
    monkeypatch.setattr(exact_search, "SLICE_NODES", SLICE)
    monkeypatch.setattr(exact_search, "SHARED_NODES", 4 * SLICE)
    return reference_problem(points=False)


def same(a: ExactResult, b: ExactResult) -> bool:
    found = np.array_equal(a.objectives, b.objectives) and np.array_equal(a.rows, b.rows)
    return found and a.nodes == b.nodes and tree_bytes(a.tree) == tree_bytes(b.tree)


def elsewhere(task: bytes, states: Sequence[bytes], nodes: int) -> list[SearchedSlice]:
    """As in another process, each slice twice: once by a worker that died."""
    for state in states:
        search_slice(task, state, nodes)
    return [search_slice(task, state, nodes) for state in reversed(states)][::-1]


def test_slices_elsewhere_give_the_same(problem: Problem) -> None:
    here = find_front(problem)
    assert here.complete
    assert here.nodes > 20 * SLICE
    assert same(here, find_front(problem, cluster=elsewhere))


def test_checkpoints_change_nothing_and_are_resumed(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact_search, "CHECKPOINT_SECONDS", 0.0)
    here, written = find_front(problem), list[ExactResult]()
    assert same(here, find_front(problem, on_checkpoint=written.append))
    assert len(written) > 5
    for gap in written[:: len(written) // 4]:
        members = tuple(map(tuple, gap.objectives.tolist()))
        report = check_tree(problem, gap.tree, LemmaTarget((0, 1), members, 0, gap.prices))
        assert report.wrong is None
        assert 0 < gap.tree.nodes <= here.nodes
        known = exact_search.Incumbents(gap.objectives, gap.rows)
        rest = find_front(problem, known=known, resume_from=gap.root)
        assert rest.complete
        assert np.array_equal(rest.objectives, here.objectives)
        target = LemmaTarget((0, 1), tuple(map(tuple, rest.objectives.tolist())), 0, rest.prices)
        assert check_tree(problem, rest.tree, target).fault is None


def run_script(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SUPPORT / name), *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
    )


def test_a_killed_worker_of_a_dask_cluster_changes_nothing() -> None:
    pytest.importorskip("distributed")
    ended = run_script("search_on_dask.py")
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert ended.stdout.splitlines() == [
        "--dask ADDRESS: no worker has joined within 1 s; start one with: dask worker ADDRESS",
        "the same",
    ]


def test_a_killed_certify_is_resumed(dse: Any, tmp_path: Path) -> None:
    folder = tmp_path / "pair"
    explored = dse(
        *("explore", "alexnet", "googlenet", "-p", "jetson-agx-xavier", "--groups", "6"),
        *("--units", "gpu,dla0", "--fix", "emc=max", "--max-transitions", "2"),
        *("--max-evaluations", "500", "--max-nodes", "0", "-q", "-o", folder),
    )
    assert explored.status == 0
    refused = dse("certify", folder, "--dask", "tcp://127.0.0.1:8786", "--jobs", "2")
    assert (refused.status, "--jobs" in refused.err) == (2, True)
    ended = run_script("certify_and_die.py", folder)
    assert ended.returncode == -9, ended.stderr[-3000:]
    gap = Front.load(folder)
    assert gap.certificate is not None
    assert gap.certificate.certificate.status is CertificateStatus.GAP
    reached = gap.certificate.tree.nodes
    assert reached > 1000
    assert dse("verify", folder).status == 0
    assert "gap: the search for the whole front was ended" in "\n".join(gap.claims)
    assert dse("certify", folder).status == 0
    front = Front.load(folder)
    assert front.numeric.is_complete
    assert dse("verify", folder).status == 0


def test_a_checkpoint_takes_no_claim_away(dse: Any, tmp_path: Path) -> None:
    folder = tmp_path / "pair"
    explored = dse(
        *("explore", "alexnet", "googlenet", "-p", "jetson-agx-xavier", "--groups", "6"),
        *("--units", "gpu,dla0", "--fix", "emc=max", "--max-transitions", "2"),
        *("--max-evaluations", "500", "--max-nodes", "0", "-q", "-o", folder),
    )
    assert explored.status == 0
    assert dse("certify", folder, "--fastest", "-q").status == 0
    fastest = Front.load(folder).certificate
    assert fastest is not None
    assert run_script("certify_and_die.py", folder).returncode == -9
    both = Front.load(folder)
    assert both.certificate is not None
    assert both.certificate.certificate == fastest.certificate
    assert both.epsilon is not None
    assert both.epsilon.certificate.status is CertificateStatus.GAP
    assert dse("verify", folder).status == 0
    assert dse("certify", folder).status == 0
    assert Front.load(folder).numeric.is_complete
