"""Campaigns of millions of runs are counted without being listed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.tools.campaign.plan import plan as planning
from paretosoc.dse.tools.campaign.plan.campaign_file import load_plan, load_size
from paretosoc.dse.tools.campaign.plan.plan import make_plan, size_plan
from paretosoc.dse.tools.campaign.plan.settings import problem_key
from paretosoc.dse.workload.options import AXES
from tests.support.campaigns.campaign_runs import rules

LISTS = {
    "power_cap_w": (None, "10", "20"),
    "groups": (3, 4),
    "objectives": ("latency, energy", "throughput, energy"),
    "max_evaluations": (100, 200, 300),
    "seed": (0, 1, 2, 3),
}


@st.composite
def campaigns(draw):
    values = {
        name: tuple(draw(st.lists(st.sampled_from(every), min_size=1, unique=True)))
        for name, every in LISTS.items()
    }
    rule = st.fixed_dictionaries(
        {}, optional={name: st.sampled_from(every) for name, every in LISTS.items()}
    ).filter(bool)
    return values | {
        "exclude": tuple(draw(st.lists(rule, max_size=2))),
        "warm_start": tuple(draw(st.lists(st.sampled_from([*LISTS][3:]), max_size=1))),
        "tags": tuple(
            {"when": when, "set": {"a": "b"}} for when in draw(st.lists(rule, max_size=1))
        ),
    }


@settings(deadline=None, max_examples=100, derandomize=True)
@given(campaigns())
def test_counts_are_those_of_all_runs_listed(fields):
    campaign = rules(**fields)
    try:
        listed = make_plan(campaign).runs
    except WorkloadError:
        listed = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "MAX_COUNTED", 0)
        if listed is None:
            with pytest.raises(WorkloadError):
                size_plan(campaign)
            return
        size = size_plan(campaign)
    assert size.runs == len(listed)
    assert size.evaluations == sum(run.settings.max_evaluations for run in listed)
    assert size.problems == len({problem_key(run.settings) for run in listed})
    started = sum(run.after is not None for run in size.plan.runs)
    assert size.times(started) == sum(run.after is not None for run in listed)
    for name in AXES:
        assert set(size.values(name)) == {getattr(run.settings, name) for run in listed}


def written(tmp_path, **keys):
    path = tmp_path / "campaign.json"
    base = {"networks": ["alexnet"], "platforms": ["jetson-tx2"]}
    path.write_text(json.dumps(base | keys))
    return path


def test_a_million_seeds_are_counted(dse, tmp_path):
    path = written(tmp_path, seeds=1_000_000, power_caps_w=list(range(1, 101)))
    size = load_size(path)
    assert (size.runs, size.problems, len(size.plan.runs)) == (10**8, 100, 1)
    shown = dse("campaign", "check", path, "--no-probe")
    assert shown.status == 0
    assert "100,000,000 runs, 2,000,000,000,000 evaluations in all; 100 different" in shown.out
    assert "more than 1,000,000 are too many" in shown.out
    with pytest.raises(
        WorkloadError, match="at most 1,000,000 runs can be listed, got 100,000,000"
    ):
        load_plan(path)


def test_every_value_of_a_list_that_is_not_multiplied_out_is_looked_at(tmp_path):
    path = written(tmp_path, seeds=1_000_000, fixed=["gpu=max", "gpu"])
    with pytest.raises(WorkloadError, match="DOMAIN=MHZ"):
        load_size(path)
    path = written(tmp_path, seeds=1_000_000, platforms=["a/x.json", "b/x.json"])
    with pytest.raises(WorkloadError, match="platform: two values would have the same name"):
        load_size(path)


def test_more_subsets_than_can_be_listed_are_counted_only(tmp_path):
    names = [f"alexnet*{n}" for n in range(1, 41)]
    path = written(tmp_path, networks=names, together=20)
    with pytest.raises(
        WorkloadError, match="1,000,000 workloads can be listed, got 137,846,528,82"
    ):
        load_size(path)
