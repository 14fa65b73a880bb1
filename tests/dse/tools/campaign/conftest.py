"""A campaign that tests of its runs and of its tables share."""

from __future__ import annotations

import json

import pytest

from paretosoc.dse.tools.campaign.execute.exploration import explore_run
from paretosoc.dse.tools.campaign.execute.runner import do_missing
from paretosoc.dse.tools.campaign.execute.workers import SameProcess
from paretosoc.dse.tools.campaign.plan.campaign_file import load_plan
from paretosoc.dse.tools.campaign.plan.run_inputs import inputs_of, program_identity
from paretosoc.dse.tools.campaign.store.store import Store

FILE = {
    "title": "<b>Small</b>",
    "networks": ["alexnet", "squeezenet", "resnet18"],
    "together": 2,
    "platforms": ["jetson-agx-xavier"],
    "units": ["gpu, dla0"],
    "group_counts": [4],
    "power_caps_w": [None, 20, 0.1],
    "evaluations": [400],
    "seeds": [0],
    "warm_start": ["power_cap_w"],
    "tags": [{"when": {"power_cap_w": None}, "set": {"cap": "free"}}],
}


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    folder = tmp_path_factory.mktemp("campaign")
    (folder / "c.json").write_text(json.dumps(FILE))
    plan = load_plan(folder / "c.json")
    with Store(folder / "runs", create=True) as store:
        store.set_plan(plan.runs, inputs_of(plan, program_identity()), plan.title)
        do_missing(store, SameProcess(explore_run), max_attempts=1)
    return folder


@pytest.fixture(scope="module")
def records(campaign):
    with Store(campaign / "runs") as store:
        return list(store.records())
