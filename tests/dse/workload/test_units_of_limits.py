"""Numbers with a unit behind them, in every text that sets a limit or a clock."""

from fractions import Fraction

import pytest

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.tools.campaign.plan.campaign_file import load_plan
from paretosoc.dse.tools.campaign.plan.settings import options_of
from paretosoc.dse.workload.read_options import parse_options
from paretosoc.dse.workload.workload_file import load_workload


def test_a_number_with_a_unit_is_one_in_the_unit_of_the_option():
    assert parse_options(
        {
            "fixed": ["gpu=1.377GHz", "emc=665.6 MHz"],
            "deadline_ms": ["cam=33ms", "1/30s", "500us"],
            "power_cap_w": ["15000mW", "20W"],
            "frames_per_second": "30Hz",
            "limit": ["energy-budget=0.25J", "memory-cap=1MiB", "max-accuracy-loss=1%"],
        }
    ) == parse_options(
        {
            "fixed": ["gpu=1377", "emc=665.6"],
            "deadline_ms": ["cam=33", "100/3", "0.5"],
            "power_cap_w": ["15"],
            "frames_per_second": "30",
            "limit": ["energy-budget=250", "memory-cap=1.048576", "max-accuracy-loss=1"],
        }
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"power_cap_w": ["15mw"]}, r"in W .or with a unit: mW, W\) is required, got '15mw'"),
        ({"deadline_ms": ["cam=33W"]}, r"in ms .or with a unit: us, ms, s\) is required"),
        ({"limit": ["max-jitter=1mJ"]}, r"in ms .or with a unit: us, ms, s\) is required"),
        ({"fixed": ["gpu=1.3THz"]}, r"or with a unit: MHz, GHz\) is required, got 'gpu=1.3"),
        ({"power_cap_w": ["10000000000W"]}, r"from 10\^-9 to 10\^9"),
        ({"frames_per_second": "Hz"}, "is required, got 'Hz'"),
    ],
)
def test_another_unit_is_refused_and_those_that_fit_are_named(given, words):
    with pytest.raises(WorkloadError, match=words):
        parse_options(given)


def test_workload_files_have_them_too(tmp_path):
    path = tmp_path / "cam.yaml"
    text = "power_cap_w: 9500mW\nnetworks: [{network: vgg19, deadline_ms: %s}]\n"
    path.write_text(text % "0.033 s")
    workload = load_workload(path)
    assert workload.power_cap_w == Fraction("9.5")
    assert workload.networks[0].deadline_ms == 33
    path.write_text(text % "33 W")
    place = r"networks\[0\]\.deadline_ms: a number .* with a unit: us, ms, s"
    with pytest.raises(WorkloadError, match=place):
        load_workload(path)


def test_runs_of_a_campaign_have_the_number_alone(tmp_path):
    path = tmp_path / "caps.yaml"
    path.write_text(
        "workloads: [vgg19]\nplatforms: [jetson-agx-xavier]\n"
        "power_caps_w: [15W, 20]\ndeadlines_ms: ['vgg19=0.033s']\nfixed: ['gpu=1.377GHz']\n"
        "exclude: [{power_cap_w: 20000mW}]\n"
    )
    (run,) = load_plan(path).runs
    settings = run.settings
    assert (settings.power_cap_w, settings.deadline_ms) == ("15", "vgg19=33")
    assert options_of(settings).fixed == (("gpu", Fraction(1377)),)
    path.write_text(path.read_text().replace("15W", "15V"))
    with pytest.raises(WorkloadError, match=r"power_cap_w: a number .* with a unit: mW, W"):
        load_plan(path)
