"""Worker processes end with the one that started them."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KILLED = """
import multiprocessing, os, signal, time
from types import SimpleNamespace

def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)

# What is replaced here must be so in processes, too.
forked = multiprocessing.get_context("fork")
multiprocessing.get_context = lambda _: forked
"""
MEMBERS = """
from paretosoc.dse.certificate.verify import members

members._executions = lambda *_: 10**9
members.what_is_wrong = max
members.os = SimpleNamespace(cpu_count=lambda: 2)
found = members.check_members(1, [(2, 3)] * 20)
kill(next(found))
"""
PARTS = """
from paretosoc.dse.certificate.formulation import prove

class Refutation:
    parts = questions = 0

    def refute(self, part):
        time.sleep(3600)

prove.Refutation = lambda *_, stopped: Refutation()
prove._share_out(None, 0, 0, [(), ()], 2, None, kill)
"""
TRAINING = """
from paretosoc.dse.papers.estimator.training import machine

machine.get_context = multiprocessing.get_context
machine.in_processes(abs, [1, 2, 3], jobs=2, on_done=kill)
"""


@pytest.mark.parametrize("code", [MEMBERS, PARTS, TRAINING], ids=["members", "parts", "training"])
def test_no_worker_outlives_a_killed_process(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED + code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        # Until all have closed their outputs.
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")
