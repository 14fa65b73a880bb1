"""``dse.evaluate``: mappings as the library has them, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import paretosoc as dse
from paretosoc.dse.errors import WorkloadError
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.power_mode import power_modes_named


@pytest.fixture(scope="module")
def problem() -> dse.Problem:
    return dse.Problem(["squeezenet"], "jetson-agx-xavier", groups=4, units=["gpu", "dla0"])


def test_ranges_are_those_of_pins(problem: dse.Problem) -> None:
    wanted = ["gpu", "gpu", "dla0", "gpu"]
    for units in (wanted, tuple(wanted), {(0, 1): "gpu", (2, 2): "dla0", (3, 3): "gpu"}):
        found = dse.evaluate(problem, {"squeezenet": units}).member
        assert list(found.mapping["squeezenet"]) == wanted


REFUSED: list[tuple[Any, Any, str]] = [
    (None, None, "mapping: a file, or network -> a unit, a list of units, or "),
    (["gpu"], None, "mapping: a file, or network -> "),
    ({3: "gpu"}, None, "mapping: a file, or network -> "),
    ({"squeezenet": 3}, None, r"mapping\['squeezenet'\]: a unit, a list of units, or "),
    ({"squeezenet": {0: "gpu"}}, None, r"\(first group, last group\) for each range is required"),
    ({"squeezenet": {(0.0, 3): "gpu"}}, None, "for each range is required, got"),
    ({"squeezenet": {(1, 0): "gpu"}}, None, "the last group lies before the first"),
    ({"squeezenet": ["gpu", 3, "gpu", "gpu"]}, None, "must be a text, got 3"),
    ({"squeezenet": "gpu"}, 3, "clocks_mhz: a mapping such as {'gpu': 1377} is required, got 3"),
    ({"squeezenet": "gpu"}, 0, "clocks_mhz: a mapping such as {'gpu': 1377} is required, got 0"),
    ({"squeezenet": "gpu"}, {3: 5}, "clocks_mhz: a mapping such as {'gpu': 1377} is required"),
    ({}, None, r"^mapping\['squeezenet'\]: is missing"),
    (
        {"squeezenet": "gpu"},
        {"gpux": 5},
        r"^clocks_mhz: gpux=5: there is no domain 'gpux' .did you mean",
    ),
    ({"squeezenet": "gpu"}, {"gpu": 5}, r"^clocks_mhz: gpu=5: 5 MHz is not on the ladder"),
    ("file.json", {"gpu": "max"}, "clocks_mhz: the file file.json has the clocks"),
]


@pytest.mark.parametrize(("mapping", "clocks", "message"), REFUSED)
def test_arguments_of_another_kind(
    problem: dse.Problem, mapping: Any, clocks: Any, message: str
) -> None:
    with pytest.raises(WorkloadError, match=message):
        dse.evaluate(problem, mapping, clocks)


def test_a_problem_is_required() -> None:
    with pytest.raises(dse.DseError, match=r"problem: a dse.Problem is required, got None"):
        dse.evaluate(None, {})  # type: ignore[arg-type]


@pytest.mark.parametrize(("end", "clock"), [("min", 114.75), ("max", 420.75)])
def test_ends_of_a_clock_are_those_that_may_be_chosen(end: str, clock: float) -> None:
    (mode,) = power_modes_named(load_platform("jetson-agx-xavier"), "MODE_10W")
    problem = dse.Problem(["squeezenet"], mode, groups=4)
    found = dse.evaluate(problem, {"squeezenet": "gpu"}, {"gpu": end})
    assert found.member.clocks_mhz["gpu"] == clock


def test_large_figures_have_no_exponent() -> None:
    options = {"groups": 4, "deadline_ms": 123456.7, "energy_budget_mj": 98765}
    problem = dse.Problem(["squeezenet"], "jetson-agx-xavier", **options)
    found = dse.evaluate(problem, {"squeezenet": "gpu"})
    told = " ".join(state.describe() for state in found.constraints)
    assert "at most 123457 ms asked for" in told
    assert "at most 98765 mJ asked for" in told
    assert "e+" not in told
    slow = replace(found.member.numeric, objectives=(12345 * 10**9, 678901 * 10**12))
    text = dse.Member(slow, -1, (), problem.numeric).values_text
    assert text == "latency 12345 ms, energy 678901 mJ"
