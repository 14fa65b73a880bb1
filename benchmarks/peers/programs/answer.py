"""The answer of a peer, the only thing that its environment and ours share."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass
from importlib.metadata import version


@dataclass(frozen=True, kw_only=True)
class Answer:
    """None: a thing that the program cannot do or that was not asked of it. Seconds are CPU seconds
    of one thread: other load on the machine matters less to them.

    ``design_points_per_second``: simulated by a search. ``optimum_s``: until the fastest design
    point of HaX-CoNN's sample was found, for exact programs proved. ``share_percent``: of the
    hypervolume of the reference problem's exact front, after the same time for all.
    """

    version: str
    design_points_per_second: float | None = None
    optimum_s: float | None = None
    share_percent: float | None = None
    proved: str = "nothing"


def print_answer(answer: Answer) -> None:
    """Print the answer as the last line of the output, as some programs print lines of their
    own."""
    print(json.dumps(asdict(answer)))


def answer_from(output: str) -> Answer:
    """Return the answer that ends an output.

    Raises:
        ValueError: if none does.
    """
    lines = output.strip().splitlines()
    document = json.loads(lines[-1]) if lines else None
    if not isinstance(document, dict):
        raise ValueError("the program printed no answer")
    return Answer(**document)


def version_of(distribution: str) -> str:
    """Return the installed version."""
    return version(distribution)


@contextmanager
def silent() -> Iterator[str]:
    """Suppress prints and logs while the block runs, and provide a temporary folder."""
    logging.disable(logging.CRITICAL)
    with (
        tempfile.TemporaryDirectory() as folder,
        open(os.devnull, "w") as nowhere,
        redirect_stdout(nowhere),
        redirect_stderr(nowhere),
    ):
        try:
            yield folder
        finally:
            logging.disable(logging.NOTSET)
