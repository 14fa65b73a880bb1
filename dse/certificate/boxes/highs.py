"""HiGHS, set up for linear programs to which rows are added."""

from __future__ import annotations

import highspy

OPTIONS = {"output_flag": False, "presolve": "off", "solver": "simplex", "threads": 1}
"""The dual simplex takes up new rows from the optimum before."""


class Program(highspy.Highs):  # type: ignore[misc]
    """A linear program that prints nothing."""

    def __init__(self) -> None:
        # That of Highs enables callbacks, which prints a banner before any option can be set.
        super(highspy.Highs, self).__init__()
        for option, value in OPTIONS.items():
            self.setOptionValue(option, value)
