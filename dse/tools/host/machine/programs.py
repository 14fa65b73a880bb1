"""Python functions that are run for the tasks of a workload."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from paretosoc.common.text import reason_of
from paretosoc.dse.errors import WorkloadError
from paretosoc.results.errors import ResultError


@dataclass(frozen=True)
class Program:
    """A function of a Python file, which is called without arguments."""

    file: Path
    function: str

    def load(self) -> Callable[[], object]:
        """Return the function.

        Raises:
            ResultError: if the file fails, or has no such function.
        """
        try:
            found = runpy.run_path(str(self.file)).get(self.function)
        except Exception as error:
            # It is the user's file, which may raise anything.
            raise ResultError(f"{self.file}: {reason_of(error)}") from None
        if not callable(found):
            raise ResultError(f"{self.file}: a function {self.function!r} is required, got none")
        program: Callable[[], object] = found
        return program


def parse_programs(texts: Sequence[str] | None) -> dict[str, Program]:
    """Parse ``TASK=FILE.py:FUNCTION`` texts into programs by task.

    Raises:
        WorkloadError: on a text of another form, or a file that is not there.
    """
    programs = {}
    for text in texts or ():
        name, _, place = text.partition("=")
        file, _, function = place.rpartition(":")
        if not (name and file and function):
            raise WorkloadError(f"--task: TASK=FILE.py:FUNCTION is required, got {text!r}")
        if not Path(file).is_file():
            raise WorkloadError(f"--task: there is no file {file!r}")
        programs[name] = Program(Path(file), function)
    return programs
