"""Limits of responses as options: the same as in a workload file, and what is refused."""

from dataclasses import replace
from fractions import Fraction

import onnx
import pytest

import paretosoc as dse
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.workload.parse_options import make_options
from paretosoc.dse.workload.releases import with_releases
from paretosoc.dse.workload.workload import Workload, WorkloadNetwork
from paretosoc.results.problem.problem_file import problem_bytes
from tests.dse.tools.deploy.test_strong_types import small_network

_UNUSED = (
    *("objective", "groups", "max_transitions", "units", "fix", "precision", "power_cap"),
    *("energy_budget", "deadline", "fps", "pin"),
)
NONE = dict.fromkeys(_UNUSED) | {"branches": False, "each_layer": False}


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
        "max_jitter_ms": {"fast": 0, "slow": "12.5"},
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
    options = make_options(
        **NONE,
        deadline_95=["20", "slow=1/3"],
        max_jitter=["fast=0"],
        max_misses=["3", "fast=0"],
    )
    assert options.deadlines_95_ms == ((None, Fraction(20)), ("slow", Fraction(1, 3)))
    assert options.max_jitters_ms == (("fast", Fraction(0)),)
    assert options.max_misses == ((None, 3), ("fast", 0))


@pytest.mark.parametrize(
    ("option", "text", "words"),
    [
        ("deadline_95", "slow=0", "--deadline-95: .NETWORK=.MS from 10\\^-9"),
        ("max_jitter", "-1", "--max-jitter: .NETWORK=.MS from 0 to 10\\^6 is required, got '-1'"),
        ("max_misses", "1.5", "--max-misses: .* integer N from 0 to 1000 is required, got '1.5'"),
        ("max_misses", "fast=1001", "from 0 to 1000"),
    ],
)
def test_texts_that_are_refused(option, text, words):
    with pytest.raises(WorkloadError, match=words):
        make_options(**NONE, **{option: [text]})


def test_more_misses_than_releases_are_refused_by_name(workload):
    with pytest.raises(WorkloadError, match="'fast': --max-misses must be at most 3, its releases"):
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
    words = f"--{option.removesuffix('_ms').replace('_', '-')} is of responses: rate_hz is required"
    with pytest.raises(WorkloadError, match=words):
        built(plain, **{option: 1})


def test_a_network_that_is_not_there(workload):
    with pytest.raises(WorkloadError, match="--max-jitter: there is no network 'none'"):
        built(workload, max_jitter_ms={"none": 1})
