"""Units that cost the same have one name."""

from dataclasses import replace

import numpy as np
import pytest

from paretosoc.results.text.space_description import names_of_kinds, without_number
from tests.results.conftest import build_problem


def test_units_of_equal_costs_share_a_name_and_others_keep_theirs():
    problem = build_problem()
    cpu, gpu, dla = problem.units
    units = (replace(dla, name="dla0"), replace(dla, name="dla1"), replace(gpu, name="gpu0"))
    twins = replace(problem, units=units, allowed=np.ones_like(problem.allowed))
    assert names_of_kinds(twins) == ("dla", "dla", "gpu0")
    assert names_of_kinds(problem) == (cpu.name, gpu.name, dla.name)
    slower = replace(dla, name="dla1", time_ps=dla.time_ps + 1)
    other = replace(twins, units=(units[0], slower, units[2]))
    assert names_of_kinds(other) == ("dla0", "dla1", "gpu0")


@pytest.mark.parametrize(
    ("name", "expected"), [("dla0", "dla"), ("a57-3", "a57"), ("npu_12", "npu"), ("7", "7")]
)
def test_numbers_at_the_end_are_dropped(name, expected):
    assert without_number(name) == expected
