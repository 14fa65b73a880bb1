"""Sound problems without a feasible point: what is said, and that near misses are found."""

import re
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paretosoc as library
from paretosoc.dse.api import pipeline
from paretosoc.dse.errors import InfeasibleError
from paretosoc.dse.problem.constraint_status import limit_for
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.problem.limits import (
    DEADLINE,
    ENERGY,
    MEMORY,
    POWER,
    UNITS,
    Constraint,
)

PAIR = ("explore", "inception_v1", "resnet101", "-p", "jetson-agx-orin", "--groups", "6", "-q")
PAIR += ("--runtime", "none", "--max-transitions", "any")
FEW = ("--max-evaluations", "300", "--max-nodes", "0")


@pytest.fixture
def refused(dse, tmp_path):
    def call(*options, head=PAIR, budget=FEW):
        folder = tmp_path / "run"
        got = dse(*head, *budget, *options, "-o", folder)
        assert (got.status, got.out) == (3, "")
        assert list(tmp_path.iterdir()) == [], "nothing half-written"
        assert got.lines[0].startswith("dse: no feasible design point in ")
        return got

    return call


def lowest(text, name):
    """The figure said to be the lowest found."""
    (value,) = re.findall(rf"{name}: at most \S+ \S+ asked for, lowest found (\S+) ", text)
    return float(value)


def test_power_cap_that_nothing_meets(refused):
    got = refused("--power-cap", "0.1")
    assert len(got.lines) == 1
    assert "segments" not in got.err
    assert 1 < lowest(got.err, "power") < 10


def test_a_limit_without_others_is_not_said_to_be_found_beside_them(refused):
    head = ("explore", "vgg19", "-p", "jetson-agx-xavier", "--groups", "6", "-q")
    assert "others" not in refused("--power-cap", "3", head=head).err


@pytest.mark.parametrize(
    ("option", "name", "unit"),
    [("power-cap", "power", "W"), ("energy-budget", "energy", "mJ")],
)
def test_what_is_said_to_be_reachable_is_found_by_the_first_population(
    dse, refused, tmp_path, option, name, unit
):
    got = refused("--limit", f"{option}=0.01")
    assert f"{unit}" in got.err
    value = lowest(got.err, name) * 1.02
    limit = ("--limit", f"{option}={value:.6f}")
    again = dse(*PAIR, *FEW, *limit, "-o", tmp_path / "met")
    if name == "power":
        assert again.status == 0
    else:
        # The least energy needs a search; more evaluations than the first population must do.
        more = ("--max-evaluations", "4000", "--max-nodes", "0")
        met = tmp_path / "met2"
        assert again.status == 0 or dse(*PAIR, *more, *limit, "-o", met).status == 0


def test_deadlines_that_nothing_meets_are_listed(refused):
    got = refused("--deadline", "0.1")
    assert got.lines[1].startswith("latency of inception_v1: at most 0.1 ms")
    assert got.lines[2].startswith("latency of resnet101: at most 0.1 ms")
    assert len(got.lines) == 3
    one = refused("--deadline", "resnet101=0.1")
    assert len(one.lines) == 1
    assert "inception_v1" not in one.err


def test_each_alone_but_not_together(refused):
    least_power = lowest(refused("--power-cap", "0.1").err, "power")
    got = refused("--power-cap", f"{least_power * 1.01:.4f}", "--deadline", "resnet101=3")
    assert "each constraint was met alone, but not all together" in got.lines[0]
    assert [line.split(":")[0] for line in got.lines[1:]] == ["latency of resnet101", "power"]


def test_the_smallest_relaxation_of_either_limit_is_feasible_and_no_less_is_found(
    dse, refused, tmp_path
):
    """Two limits of which each is met alone: either, relaxed as far as is said, can be met."""
    power = lowest(refused("--power-cap", "0.1").err, "power") * 1.01
    limits = {"--power-cap": power, "--deadline": 3.0}
    got = refused("--power-cap", f"{power:.4f}", "--deadline", "resnet101=3")
    names = {"latency of resnet101": "--deadline", "power": "--power-cap"}
    enough = [line for line in got.lines if " is enough " in line]
    assert {line.split(":")[0] for line in enough} == {*names}
    for line in enough:
        (value,) = re.findall(r"with all others as they are, (\S+) ", line)
        option = names[line.split(":")[0]]
        assert float(value) > limits[option]
        relaxed = limits | {option: float(value) * 1.001}
        more = ("--max-evaluations", "5000", "--max-nodes", "0", "--objective", "latency")
        texts = (
            *("--power-cap", f"{relaxed['--power-cap']:.5f}"),
            *("--deadline", f"resnet101={relaxed['--deadline']:.5f}"),
        )
        if option == "--power-cap":
            more = (*more[:4], "--objective", "power")
        done = dse(*PAIR, *more, *texts, "-o", tmp_path / option)
        assert done.status == 0, done.err


def test_only_what_cannot_be_met_is_named(refused):
    got = refused("--power-cap", "0.1", "--deadline", "10000", "--max-transitions", "3")
    assert len(got.lines) == 1
    assert "power: at most 0.1 W" in got.err


def test_a_period_that_is_too_short_is_named_alone(refused):
    got = refused("--fps", "100000", "--power-cap", "1")
    assert len(got.lines) == 1
    assert "makespan within the period: at most 0.01 ms" in got.err


def test_a_cap_is_never_rounded_up(dse, tmp_path):
    """Caps are whole milliwatts in the problem: a part of one is dropped."""
    folder = tmp_path / "run"
    got = dse(*PAIR, *FEW, "--power-cap", "9.9999", "-o", folder)
    assert got.status == 0
    assert read_results(folder).problem.power_cap_mw == 9_999


def test_throughput_and_a_power_cap(refused):
    got = refused("--objective", "throughput", "--objective", "energy", "--power-cap", "0.2")
    assert 1 < lowest(got.err, "power") < 10


@pytest.mark.parametrize(
    ("needed", "words"), [(12_300_000, "(23 % more)"), (410_000_000, "(41 times as much)")]
)
def test_a_limit_that_is_far_off_is_said_in_times(needed, words):
    from paretosoc.dse.engines.diagnose_infeasible import _relaxed_text
    from paretosoc.results.problem.limits import POWER, Constraint

    assert _relaxed_text(Constraint(POWER, "power", 10_000_000), needed).endswith(words)


def test_the_part_of_a_response_in_which_a_batch_is_awaited_is_named(refused, tmp_path_factory):
    path = tmp_path_factory.mktemp("batch") / "w.yaml"
    path.write_text(
        "networks: [{name: look, network: squeezenet, rate_hz: 10, deadline_ms: 100}]\n"
    )
    head = ("explore", path, "-p", "jetson-agx-orin", "--groups", "1", "-q")
    got = refused("--batch", "look=4", head=head)
    assert 300 < lowest(got.err, "response of look") < 400
    assert got.lines[0].endswith(" ms, 300 ms of it from the first of 4 images to the last")
    assert "images to the last" not in refused("--deadline", "look=0.01", head=head).err


TINY = ("explore", "squeezenet", "-p", "jetson-orin-nano-8gb", "--groups", "2", "-q")


@pytest.mark.parametrize("name", ["power-cap", "energy-budget", "memory-cap"])
def test_the_lowest_value_found_is_a_limit_that_can_be_kept(dse, refused, tmp_path, name):
    """Its last digit is rounded up, in steps that the limit has."""
    got = refused("--limit", f"{name}=0.001", head=TINY)
    (value,) = re.findall(r"lowest found (\S+) ", got.err)
    again = dse(*TINY, *FEW, "--limit", f"{name}={value}", "-o", tmp_path / "met")
    assert again.status == 0, again.err


@settings(deadline=None, derandomize=True)
@given(st.integers(1, 10**15), st.sampled_from([POWER, ENERGY, DEADLINE, MEMORY]))
def test_a_limit_for_a_figure_is_no_smaller_and_little_larger(figure, kind):
    factor, symbol = UNITS[kind.unit]
    number, _, unit = limit_for(Constraint(kind, "", 0), figure).partition(" ")
    assert unit == symbol
    value = Fraction(number) * factor
    assert value % kind.scale == 0
    assert figure <= value <= figure * Fraction(1002, 1000) + kind.scale


def test_that_nothing_is_feasible_is_proved_if_it_takes_little(dse, tmp_path, monkeypatch):
    out = ("--deadline", "0.001", "--max-evaluations", "300", "-o", tmp_path / "run")
    got = dse(*TINY, *out)
    assert got.status == 3
    assert got.lines[-1] == "Proved: no design point keeps all limits."
    unproved = dse(*TINY, *out, "--max-nodes", "0")
    assert unproved.status == 3
    assert "Proved" not in unproved.err
    # The proof of a large space takes longer.
    given = []
    monkeypatch.setattr(pipeline, "close", lambda *_, limits, **options: given.append(limits))
    for nodes, options in ((250_000, ()), (30_000_000, ("--max-nodes", "30000000"))):
        known = f"Not proved in {nodes:,} nodes: a design point may keep all limits."
        assert dse(*TINY, *out, *options).lines[-1] == known
        assert given.pop().nodes == nodes
    assert "in 250,000 nodes or the time limit:" in dse(*TINY, *out, "--time-limit", "5").err
    monkeypatch.undo()
    with pytest.raises(InfeasibleError, match="Proved: no design point") as error:
        library.explore(
            "squeezenet",
            "jetson-orin-nano-8gb",
            "exact",
            groups=2,
            deadline_ms=0.001,
            max_evaluations=300,
        )
    assert error.value.closed.is_infeasible
