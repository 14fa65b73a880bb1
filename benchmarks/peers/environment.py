"""An environment for each peer, and the programs that run in it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers.programs.answer import Answer, answer_from

ROOT = Path(__file__).parents[2]
INSTALLED = "installed.txt"
"""File of an environment that lists the installed packages, written last."""


@dataclass(frozen=True)
class Peer:
    """A program to compare with.

    ``requirements``: as pip takes them. None: the environment of this command. ``module``: the
    module that runs in it.
    """

    name: str
    requirements: tuple[str, ...]
    module: str
    arguments: tuple[str, ...] = ()


class NotAvailable(Exception):
    """Why a peer cannot be had, or gives no answer, in one line."""


def ask(peer: Peer, folder: Path, *, time_limit_s: float) -> Answer:
    """Return the answer of a peer in its environment, which is made below ``folder`` if missing.

    Raises:
        NotAvailable: if it cannot be installed, fails, or takes too long.
    """
    python = sys.executable
    if peer.requirements:
        python = installed(peer.requirements, folder / peer.name.lower().replace(" ", "-"))
    command = [python, "-m", peer.module, *peer.arguments]
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=time_limit_s
        )
    except subprocess.TimeoutExpired:
        raise NotAvailable(f"no answer within {time_limit_s:.0f} s") from None
    if done.returncode != 0:
        raise NotAvailable(f"failed: {_last_line(done.stderr)}")
    return answer_from(done.stdout)


def installed(requirements: tuple[str, ...], folder: Path) -> str:
    """Return the interpreter of an environment with the requirements, made anew if they changed."""
    python = str(folder / "bin" / "python")
    wanted = "\n".join(requirements)
    note = folder / INSTALLED
    if note.is_file() and note.read_text("utf-8") == wanted:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    for command in ([sys.executable, "-m", "venv", str(folder)], [*pip, *requirements]):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode != 0:
            raise NotAvailable(f"not installed: {_last_line(done.stderr)}")
    note.write_text(wanted, "utf-8")
    return python


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].removeprefix("ERROR: ") if lines else "no message"
