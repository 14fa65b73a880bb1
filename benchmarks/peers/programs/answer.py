"""What a peer reached; the only thing that its environment and ours share."""

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
    """As the last line of the output: some programs print lines of their own before."""
    print(json.dumps(asdict(answer)))


def answer_from(output: str) -> Answer:
    """The answer that ends an output.

    Raises:
        ValueError: where none does.
    """
    lines = output.strip().splitlines()
    document = json.loads(lines[-1]) if lines else None
    if not isinstance(document, dict):
        raise ValueError("the program printed no answer")
    return Answer(**document)


def version_of(distribution: str) -> str:
    """The version installed."""
    return version(distribution)


@contextmanager
def silent() -> Iterator[str]:
    """No prints and no log while the block runs; gives a temporary folder for files it writes."""
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
