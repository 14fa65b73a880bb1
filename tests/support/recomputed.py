"""What the third program, ``recompute_front.py``, says of members, from files alone."""

from __future__ import annotations

import json
import runpy
from collections.abc import Sequence
from pathlib import Path

from paretosoc.results.front.front import Member
from paretosoc.results.front.front_document import member_to_document
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_file import problem_bytes, problem_sha256

RECOMPUTE = Path(__file__).with_name("recompute_front.py")


def recomputed(folder: Path) -> int:
    """Exit status of the program for a result folder: 0 where it agrees."""
    status: int = runpy.run_path(str(RECOMPUTE))["main"](folder)
    return status


def recomputed_members(folder: Path, problem: Problem, members: Sequence[Member]) -> int:
    """The same of members, for which ``folder`` gets the two files that it reads."""
    (folder / "problem.json").write_bytes(problem_bytes(problem))
    front = {
        "problem_sha256": problem_sha256(problem),
        "members": [member_to_document(problem, member) for member in members],
    }
    (folder / "front.json").write_text(json.dumps(front))
    return recomputed(folder)
