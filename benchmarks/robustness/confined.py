"""A command in a forked child, with limits on its processor time and its memory."""

from __future__ import annotations

import os
import re
import resource
import signal
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from paretosoc.dse.cli.main import run

CPU_S = 20
MEMORY_BYTES = 2 << 30
WALL_S = 300
FOREIGN = re.compile(
    r"Traceback|Error\(|Error:|Warning|PosixPath|set_int_max_str_digits|numpy\.|jsonschema|yaml\."
    r"|matplotlib|Errno|0x[0-9a-f]{6}|allow_pickle|zip file|protobuf|cannot identify|onnx\.|libpng"
    r"|not enough memory|invalid literal|codec can|not supported between|object has no|NoneType"
)
"""Words of libraries and of the interpreter."""
CONTROL = re.compile(r"[^\n\t\x20-\x7e\xa0-\u2029\u202f-\u2065\u206a-\ud7ff\ue000-\U0010ffff]")


@dataclass(frozen=True)
class Ended:
    """The end of a command. ``status`` below 0: by that signal."""

    status: int
    out: str
    err: str
    cpu_s: float


def confined(arguments: list[str], scratch: Path) -> Ended:
    """Run a command of ``dse`` in a child of this process, which has imported the program.

    Args:
        scratch: a folder for the output, and for temporary files.
    """
    outputs = [scratch / "stdout", scratch / "stderr"]
    child = os.fork()
    if child == 0:
        _run_child(arguments, outputs, scratch)
    _, status, used = os.wait4(child, 0)
    out, err = (path.read_bytes().decode("utf-8", "replace") for path in outputs)
    return Ended(
        -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status),
        out,
        err,
        used.ru_utime + used.ru_stime,
    )


def _run_child(arguments: list[str], outputs: list[Path], scratch: Path) -> NoReturn:
    status = 99
    try:
        for number, path in enumerate(outputs, 1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.stdout, sys.stderr = (
            os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
            for number in (1, 2)
        )
        os.environ.update(COLUMNS="200", TMPDIR=str(scratch))
        # As in ``dse``. Warnings of our own arithmetic are findings.
        warnings.filterwarnings("ignore", module="onnx")
        signal.alarm(WALL_S)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 1))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
        status = run(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


def complaint(ended: Ended) -> str | None:
    """Return the fault in how a command ended, or None if there is none."""
    printed = ended.out + ended.err
    if ended.status < 0:
        return f"ended by signal {-ended.status} after {ended.cpu_s:.1f} CPU-s"
    if ended.status not in range(5):
        return f"status {ended.status}: {ended.err[-300:]!r}"
    if (control := CONTROL.search(printed)) is not None:
        return f"control character {control.group()!r} in {printed[:300]!r}"
    if (foreign := FOREIGN.search(printed)) is not None:
        around = printed[max(0, foreign.start() - 120) : foreign.end() + 120]
        return f"foreign words {foreign.group()!r} in {around!r}"
    if ended.status in (2, 3) and not (ended.err.splitlines() or [""])[-1].startswith("dse: "):
        return f"no message of ours: {ended.err[-300:]!r}"
    return None
