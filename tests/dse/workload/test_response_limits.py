"""Limits of responses as options: the same as in a workload file, and what is refused."""

from dataclasses import replace
from fractions import Fraction

import onnx
import pytest

import paretosoc as dse
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.workload.read_options import parse_options
from paretosoc.dse.workload.with_options import with_limits, with_releases
from paretosoc.dse.workload.workload import Workload, WorkloadNetwork
from paretosoc.results.problem.problem_file import problem_bytes
from tests.dse.tools.deploy.test_strong_types import small_network


@pytest.fixture
def workload(tmp_path):
    onnx.save(small_network(), str(tmp_path / "small.onnx"))
    file = str(tmp_path / "small.onnx")
    return Workload(
        (
            WorkloadNetwork("fast", file, rate_hz=Fraction(30), max_misses=2),
            WorkloadNetwork("slow", file, rate_hz=Fraction(10), max_jitter_ms=Fraction(9)),
            WorkloadNetwork("rest", file),
        )
    )


def built(workload, **limits):
    return dse.Problem(workload, "jetson-agx-orin", units="gpu", fixed={"gpu": "max"}, **limits)


def test_options_are_the_same_as_keys_of_the_file_and_the_stricter_one_holds(workload):
    limits = {
        "deadline_ms": {"slow": 90},
        "deadline_95_ms": 20,
        "max_jitter_ms": {"fast": 0, "slow": 12.5},
        "max_misses": 1,
    }
    fast, slow, rest = workload.networks
    common = {"deadline_95_ms": Fraction(20), "max_misses": 1}
    written = Workload(
        (
            replace(fast, max_jitter_ms=Fraction(0), **common),
            replace(slow, deadline_ms=Fraction(90), **common),
            replace(rest, **common),
        )
    )
    one, other = built(workload, **limits).numeric, built(written).numeric
    assert problem_bytes(one) == problem_bytes(other)
    assert [n.max_jitter_ps for n in one.networks] == [0, 9 * 10**9, None]
    assert [n.max_misses for n in one.networks] == [1, 1, 1]


def test_texts_of_the_command_line():
    limits = ["deadline-95=20", "deadline-95:slow=1/3", "max-jitter:fast=0", "max-misses=3"]
    options = parse_options({"limit": [*limits, "max-misses:fast=0"]})
    assert options.deadline_95_ms == ((None, Fraction(20)), ("slow", Fraction(1, 3)))
    assert options.max_jitter_ms == (("fast", Fraction(0)),)
    assert options.max_misses == ((None, 3), ("fast", 0))


def test_of_a_limit_that_is_given_several_times_the_strictest_holds(workload):
    given = {"power_cap_w": ["9", "8.5"], "deadline_ms": ["20", "9"]}
    options = parse_options(given | {"limit": ["power-cap=8.75"]})
    assert options.power_cap_w == Fraction(17, 2)
    assert [n.deadline_ms for n in with_limits(workload, options).networks] == [9, 9, 9]


@pytest.mark.parametrize(
    ("given", "limits", "most"),
    [
        (["3", "4"], ["max-transitions=2"], [2, 2, 2]),
        (["any", "3"], [], [3, 3, 3]),
        (["any"], ["max-transitions:slow=1"], ["any", 1, "any"]),
        (["fast=0", "any"], [], [0, "any", "any"]),
        (["slow=any"], [], [None, "any", None]),
    ],
)
def test_unit_changes_of_one_network_or_all(workload, given, limits, most):
    options = parse_options({"max_transitions": given, "limit": limits})
    assert [n.max_transitions for n in with_limits(workload, options).networks] == most


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("deadline-95:slow=0", "--limit: deadline-95.:NETWORK.=MS from 10\\^-9"),
        (
            "max-jitter=-1",
            "=MS from 0 to 10\\^6 in ms .or with a unit: us, ms, s. is required, got 'max-jit",
        ),
        ("max-misses=1.5", "integer N from 0 to 1000 is required, got 'max-misses=1.5'"),
        ("max-misses:fast=1001", "from 0 to 1000"),
        ("max-misses:=1", "max-misses.:NETWORK.=N with an integer"),
        ("power-cap:fast=1", "power-cap=W from 10\\^-9 to 10\\^9 in W .or with a unit: mW, W. is"),
        ("max-miss=1", "NAME one of .* did you mean max-misses.$"),
        ("3", "--limit: NAME.:NETWORK.=VALUE is required"),
    ],
)
def test_texts_that_are_refused(text, words):
    with pytest.raises(WorkloadError, match=words):
        parse_options({"limit": [text]})


def test_more_misses_than_releases_are_refused_by_name(workload):
    with pytest.raises(WorkloadError, match="'fast': max_misses must be at most 3, its releases"):
        built(workload, max_misses={"fast": 4})
    fast, *others = workload.networks
    wrong = Workload((replace(fast, max_misses=7), *others))
    with pytest.raises(WorkloadError, match=r"'fast': max_misses must be at most 3, .*, got 7"):
        with_releases(wrong)
    # Of networks that are not named some may have fewer.
    assert [n.max_misses for n in built(workload, max_misses=2).numeric.networks] == [2, 2, 2]


@pytest.mark.parametrize("option", ["deadline_95_ms", "max_jitter_ms", "max_misses"])
def test_they_need_rates(workload, option):
    plain = Workload(workload.networks[2:])
    with pytest.raises(WorkloadError, match=f"{option} is of responses: rate_hz is required"):
        built(plain, **{option: 1})


def test_networks_with_rates_have_no_least_rate(workload):
    """It is that of networks that run as often as they can."""
    words = "min_rate_hz and rate_hz .of networks. exclude each other: rate_hz is their rate"
    with pytest.raises(WorkloadError, match=words):
        built(workload, min_rate_hz=5)


def test_a_network_that_is_not_there(workload):
    with pytest.raises(WorkloadError, match="max_jitter_ms: there is no network 'none'"):
        built(workload, max_jitter_ms={"none": 1})
