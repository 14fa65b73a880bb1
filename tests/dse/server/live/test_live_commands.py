"""``--live``: what a campaign's page shows, and what the commands say."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import paretosoc as dse
from paretosoc.dse.cli.main import run
from paretosoc.dse.cli.search.explore import EffortOptions
from paretosoc.dse.server.live.explore import LiveCampaign
from paretosoc.dse.tools.campaign.execute.exploration import explore_run
from paretosoc.dse.tools.campaign.execute.planning import plan_store
from paretosoc.dse.tools.campaign.execute.runner import do_missing
from paretosoc.dse.tools.campaign.execute.workers import SameProcess
from tests.dse.server.live.conftest import OpenLive, serving

FILE = {
    "title": "</title><img src=x onerror=alert(1)>",
    "networks": ["squeezenet"],
    "together": 1,
    "platforms": ["jetson-tx2"],
    "group_counts": [3],
    "power_caps_w": [None, 0.1],
    "evaluations": [200],
    "seeds": [0],
}


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """Its file; the runs are not done yet."""
    file = tmp_path / "c.json"
    file.write_text(json.dumps(FILE))
    return file


def shown_counts(page: Any) -> dict[str, int]:
    found = page.locator("#states div").evaluate_all(
        "all => all.map(one => [one.dataset.state, Number(one.firstChild.textContent)])"
    )
    return dict(found)


def test_runs_by_state_and_the_schedule_of_a_finished_one(
    campaign: Path, open_live: OpenLive, tmp_path: Path
) -> None:
    folder = tmp_path / "runs"
    view = LiveCampaign(folder)
    with (
        plan_store(campaign, folder) as store,
        serving(view, folder) as url,
        open_live(url, width=400) as page,
    ):
        page.wait_for_selector("#states div")
        assert shown_counts(page) == {"waiting": 2, "finished": 0, "infeasible": 0, "failed": 0}
        do_missing(store, SameProcess(explore_run), on_progress=view.running)
        view.ended()
        link = page.locator("#runs a")
        link.wait_for()
        assert shown_counts(page) == {"waiting": 0, "finished": 1, "infeasible": 1, "failed": 0}
        assert page.title().startswith(FILE["title"])
        assert page.locator("img").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        link.focus()
        with page.context.expect_page() as opened:
            page.keyboard.press("Enter")
        report = opened.value
        report.wait_for_selector("article.member g.bar[data-group]")
        page.locator("select").select_option("infeasible")
        page.wait_for_selector("#runs td:nth-child(4):not(:empty)")


def test_an_exploration_is_served_while_it_runs(tmp_path: Path) -> None:
    """The first state that is seen is of this run; the command ends with the front written."""
    command = [
        *(sys.executable, "-c", "import sys; from paretosoc.dse.cli.main import main; main()"),
        *("explore", "squeezenet", "-p", "jetson-agx-xavier", "--groups", "3", "--live", "-q"),
        *("--max-evaluations", "2000", "--output", str(tmp_path / "run")),
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = re.search(r"Live view: http://127\.0\.0\.1:(\d+)(/.*/)$", process.stderr.readline())
        assert said is not None
        connection = http.client.HTTPConnection("127.0.0.1", int(said[1]), timeout=60)
        connection.request("GET", f"{said[2]}state")
        state = json.loads(connection.getresponse().read())
        connection.close()
        assert state["max_evaluations"] == 2000
        assert process.wait(300) == 0
    assert (tmp_path / "run" / "front.json").is_file()


def test_progress_is_of_a_number_only_where_one_ends_the_search() -> None:
    problem = dse.Problem("squeezenet", "jetson-agx-xavier", groups=2)
    assert EffortOptions(max_evaluations=700, time_limit_s=9).evaluations_of(problem) == 700
    assert EffortOptions(time_limit_s=9).evaluations_of(problem) is None
    assert EffortOptions().evaluations_of(problem) == 100_000


@pytest.mark.parametrize("module", ["starlette", "uvicorn"])
def test_a_missing_extra_is_named_before_anything_is_done(
    module: str, campaign: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    explore = ["explore", "squeezenet", "-p", "jetson-tx2", "-o", str(tmp_path / "run"), "--live"]
    runs = ["campaign", "run", str(campaign), "-o", str(tmp_path / "runs"), "--live"]
    for command in (explore, runs):
        assert run(command) == 2
        error = capsys.readouterr().err
        assert f"--live needs the package {module}: pip install 'paretosoc[live]'" in error
    assert not (tmp_path / "run").exists()
    assert not (tmp_path / "runs").exists()
