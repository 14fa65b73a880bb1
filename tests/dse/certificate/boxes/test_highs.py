"""HiGHS as bounds use it."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import numpy as np
from paretosoc.dse.certificate.boxes.highs import Program

program, none = Program(), np.zeros(0, dtype=np.int32)
program.addCols(2, -np.ones(2), np.zeros(2), np.ones(2), 0, none, none, np.zeros(0))
for most, columns in ((1.5, [0, 1]), (0.25, [0])):
    held = np.array(columns, dtype=np.int32)
    program.addRow(-np.inf, most, len(held), held, np.ones(len(held)))
    program.run()
    print(sum(program.getSolution().col_value), program.getObjectiveValue())
"""


def test_rows_are_added_to_a_program_and_nothing_is_printed_beside() -> None:
    """HiGHS prints a banner to the process's output unless it is kept from it, once a process."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["1.5", "-1.5", "1.25", "-1.25"]
    assert done.stderr == ""
