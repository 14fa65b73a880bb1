"""A live exploration: its state is that of the run, and a browser shows it."""

from __future__ import annotations

import dataclasses
import itertools
import shlex
from pathlib import Path
from typing import Any

import pytest

import paretosoc as dse
from paretosoc.dse.api.pipeline import search_front
from paretosoc.dse.certificate.strategy import prove_front
from paretosoc.dse.engines.explore import SearchSettings
from paretosoc.dse.server.live import explore
from paretosoc.dse.server.live.explore import LiveExploration
from paretosoc.results.front.choices import MOST
from tests.dse.server.live.conftest import OpenLive, serving

HOSTILE = "</script><img src=x onerror=\"document.title='caught'\">{{MAIN}}"
EVALUATIONS = 2_000
FOLDER = Path("/somewhere/it's runs/<live>")


@pytest.fixture(scope="module")
def problem() -> dse.Problem:
    return dse.Problem(
        ["alexnet", "squeezenet"], "jetson-agx-xavier", units=["gpu", "dla0"], groups=3
    )


@pytest.fixture(scope="module")
def events(problem: dse.Problem) -> list[Any]:
    """What a search says: the front after each batch."""
    found: list[Any] = []
    search_front(
        problem, None, SearchSettings(max_evaluations=EVALUATIONS, seed=1), on_progress=found.append
    )
    assert len(found[-1].rows) > len(found[0].rows) > 1
    return found


@pytest.fixture(autouse=True)
def always_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore, "REDRAW_S", 0.0)


def live(problem: dse.Problem) -> LiveExploration:
    return LiveExploration(problem, FOLDER, engine="nsga2", seed=1, evaluations=EVALUATIONS)


def state(view: LiveExploration, **query: str) -> dict[str, Any]:
    document = view.state(query)
    assert isinstance(document, dict)
    return document


def test_the_state_has_each_front_once(problem: dse.Problem, events: list[Any]) -> None:
    view = live(problem)
    assert state(view)["front"] is None
    for event in events:
        view.searching(event)
        now = state(view)
        shown = [member["units"] for member in now["front"]["members"]]
        rows = event.rows[:, : len(shown[0])].tolist()
        assert sorted(shown) == sorted(rows)
        assert "front" not in state(view, version=now["version"])
    growth = now["front"]["provenance"]["convergence"]
    assert [share for _, share in growth] == sorted(share for _, share in growth)
    assert state(live(problem))["version"] != now["version"]


def test_the_bound_rises_to_what_is_proved(problem: dse.Problem, events: list[Any]) -> None:
    view = live(problem)
    view.searching(events[-1])
    front = search_front(problem, None, SearchSettings(max_evaluations=EVALUATIONS, seed=1)).numeric
    seen: list[list[Any]] = []

    def look(progress: Any) -> None:
        view.proving(progress)
        seen.append(state(view)["bounds"])

    proof = prove_front(front, on_progress=look, jobs=1)
    for _, curve in itertools.groupby(seen[-1], key=lambda point: point[1]):
        within = [point[2] for point in curve]
        assert within == sorted(within, reverse=True)
    assert seen[-1][-1][2] == 0.0
    (claim,) = state(view)["front"]["proofs"]
    assert (claim["status"], claim["whole"]) == ("gap", True)
    assert float(claim["within"].removesuffix(" %")) == 0.0
    view.ended(proof.front)
    assert len(state(view)["front"]["members"]) == len(proof.front.members)


def test_of_many_members_some_are_drawn(problem: dse.Problem, monkeypatch: Any) -> None:
    """The best at each objective, the knee and others along the front, as many as there is room
    for; a claim about all members is left out."""
    monkeypatch.setattr("paretosoc.dse.server.live.explore.MAX_MEMBERS", 9)
    view = live(problem)
    front = search_front(problem, None, SearchSettings(max_evaluations=EVALUATIONS, seed=1)).numeric
    events: list[Any] = []
    search_front(
        problem,
        None,
        SearchSettings(max_evaluations=EVALUATIONS, seed=1),
        on_progress=events.append,
    )
    assert len(front.members) > 18
    view.searching(events[-1])
    searched = state(view)
    assert searched["members"] == len(events[-1].rows)
    proof = prove_front(front, on_progress=view.proving, jobs=1).front
    proving = state(view)
    view.ended(proof)
    ended = state(view)
    for document in (searched, proving):
        shown = document["front"]["members"]
        assert 5 <= len(shown) <= 9
        assert all(claim["whole"] is False for claim in document["front"]["proofs"])
        assert [m["objectives"][0] for m in shown] == sorted(m["objectives"][0] for m in shown)
        for k, unit in enumerate((1e9, 1e12)):
            best = events[-1].objectives[:, k].min() / unit
            assert min(m["objectives"][k] for m in shown) <= best
        assert any("knee" in marks for marks in document["front"]["marks"].values())
    # At the end all are there, with the numbers that they have in the folder.
    shown = ended["front"]["members"]
    assert len(shown) == ended["members"] == len(proof.members)
    assert 5 <= sum(member["schedule"] is not None for member in shown) <= 9 + MOST
    (claim,) = ended["front"]["proofs"]
    assert claim["complete"]


def test_a_page_that_never_pauses_has_two_states_a_second_drawn(
    problem: dse.Problem, events: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = 0.0
    drawings = []
    draw = explore.report_data

    def counted(front: Any, *others: Any, **options: Any) -> Any:
        drawings.append(clock)
        return draw(front, *others, **options)

    monkeypatch.setattr(explore, "report_data", counted)
    monkeypatch.setattr(explore, "REDRAW_S", 0.5)
    monkeypatch.setattr(explore.time, "monotonic", lambda: clock)
    view = live(problem)
    for step in range(200):
        view.searching(events[step % len(events)])
        clock = step / 100
        first, second = state(view), state(view)
        # Nothing new is drawn in between: the page is told so.
        assert first["front"] == second["front"]
        assert "front" not in state(view, version=first["version"])
        assert first["evaluations"] == events[step % len(events)].evaluations
    assert drawings == [0.0, 0.5, 1.0, 1.5]
    front = search_front(problem, None, SearchSettings(max_evaluations=EVALUATIONS, seed=1)).numeric
    view.ended(front)
    assert len(state(view)["front"]["members"]) == len(front.members)
    assert drawings[4:] == [1.99]


def choices_of(view: Any) -> int:
    """Return how many choices the page of a run marks."""
    front = state(view)["front"]
    return len(front["choices"][front["resolution"]]["members"])


def marks_shown(page: Any) -> int:
    return int(page.locator("#plot path.mark").count())


def chosen(page: Any) -> int:
    return int(page.locator("article.member").get_attribute("data-member"))


def test_the_page_follows_the_run(
    problem: dse.Problem,
    events: list[Any],
    open_live: OpenLive,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    view = live(problem)
    with serving(view, tmp_path / "run") as url, open_live(url) as page:
        assert page.locator("#subtitle").inner_text() == "Preparing the search."
        monkeypatch.setattr(explore, "compiling", lambda: (3, 12.4))
        words = "Compiling kernels, which happens once: 3 functions after 12 s."
        page.wait_for_function(
            "words => document.querySelector('#subtitle').innerText === words", arg=words
        )
        monkeypatch.setattr(explore, "compiling", lambda: None)
        for event in (events[0], events[-1]):
            view.searching(event)
            page.wait_for_function(
                "n => document.querySelectorAll('#plot path.mark').length === n",
                arg=choices_of(view),
            )
        assert page.locator("#convergence path.growth").count() == 1
        front = search_front(
            problem, None, SearchSettings(max_evaluations=EVALUATIONS, seed=1)
        ).numeric
        prove_front(front, on_progress=view.proving, jobs=1)
        page.wait_for_selector("#bound circle")
        assert page.locator("#plot .proved").count() == 1
        assert not page.locator("#result").is_visible()
        view.ended(front)
        page.wait_for_function(
            "() => document.getElementById('subtitle').textContent.startsWith('Ended')"
        )
        assert page.locator("#result-folder").inner_text() == str(FOLDER)
        command = page.locator("#result-command").inner_text()
        assert shlex.split(command) == ["dse", "report", str(FOLDER)]


def test_a_search_that_only_a_time_limit_ends_is_no_share_of_a_number(
    problem: dse.Problem, events: list[Any], open_live: OpenLive, tmp_path: Path
) -> None:
    view = LiveExploration(problem, FOLDER, engine="nsga2", seed=1, evaluations=None)
    view.searching(events[-1])
    with serving(view, tmp_path / "run") as url, open_live(url) as page:
        words = page.locator("#words").inner_text()
        assert words.startswith(f"{events[-1].evaluations:,} design points in ")


def test_a_member_and_its_schedule_by_click_and_by_keyboard(
    problem: dse.Problem, events: list[Any], open_live: OpenLive, tmp_path: Path
) -> None:
    view = live(problem)
    view.searching(events[-1])
    members = state(view)["front"]["members"]
    last = len(members) - 1
    with serving(view, tmp_path / "run") as url, open_live(url) as page:
        page.locator(f"path[data-member='{last}']").click(force=True)
        assert chosen(page) == last
        bars = page.locator("article g.bar[data-group]")
        assert bars.count() == len(members[last]["units"])
        page.locator("#plot").focus()
        page.keyboard.press("Home")
        first = chosen(page)
        page.keyboard.press("ArrowRight")
        assert chosen(page) != first
        here = chosen(page)
        # The next front leaves the focus and, where it is still in it, the member.
        again = dataclasses.replace(events[-1], evaluations=EVALUATIONS + 1)
        view.searching(again)
        page.wait_for_function(
            "() => document.getElementById('words').textContent.startsWith('2,001')"
        )
        assert page.evaluate("document.activeElement.id") == "plot"
        assert chosen(page) == here
        page.keyboard.press("Home")
        assert chosen(page) == first
        page.reload()
        page.wait_for_selector("article.member")
        assert chosen(page) == first


def test_the_page_waits_for_the_next_run(
    problem: dse.Problem, events: list[Any], open_live: OpenLive, tmp_path: Path
) -> None:
    view = live(problem)
    view.searching(events[0])
    with serving(view, tmp_path / "run") as url:
        context = open_live(url)
        page = context.__enter__()
        page.wait_for_selector("article.member")
    page.wait_for_selector("#subtitle.lost")
    assert marks_shown(page) == choices_of(view)
    view = live(problem)
    view.searching(events[-1])
    with serving(view, tmp_path / "run") as again:
        assert again == url
        # Both fronts may have as many marks.
        page.wait_for_selector("#subtitle:not(.lost)")
        page.wait_for_function(
            "n => document.querySelectorAll('#plot path.mark').length === n",
            arg=choices_of(view),
        )
        context.__exit__(None, None, None)


@pytest.mark.parametrize("dark", [False, True])
def test_light_dark_and_phone(
    problem: dse.Problem, events: list[Any], open_live: OpenLive, tmp_path: Path, dark: bool
) -> None:
    view = live(problem)
    view.searching(events[-1])
    with serving(view, tmp_path / "run") as url, open_live(url, width=400, dark=dark) as page:
        page.wait_for_selector("article.member")
        assert page.evaluate("document.documentElement.dataset.theme") == (
            "dark" if dark else "light"
        )
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        before = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.locator("#theme").click()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before


def test_names_are_no_markup(
    problem: dse.Problem, events: list[Any], open_live: OpenLive, tmp_path: Path
) -> None:
    first, *others = problem.numeric.networks
    networks = (dataclasses.replace(first, name=HOSTILE), *others)
    view = live(problem)
    view.searching(events[-1])
    front = search_front(problem, None, SearchSettings(max_evaluations=EVALUATIONS, seed=1)).numeric
    numeric = dataclasses.replace(front.problem, networks=networks)
    view.ended(dataclasses.replace(front, problem=numeric))
    built = dataclasses.replace(problem.built, problem=numeric)
    object.__setattr__(view, "_problem", _with_built(problem, built))
    with serving(view, tmp_path / "run") as url, open_live(url) as page:
        page.wait_for_selector("article.member")
        assert page.locator("img").count() == 0
        assert page.title().startswith(HOSTILE)
        assert HOSTILE in page.locator("h1").inner_text()
        assert HOSTILE in page.locator("article.member").inner_text()


def _with_built(problem: dse.Problem, built: Any) -> dse.Problem:
    other = dse.Problem.__new__(dse.Problem)
    for name in ("platform", "options"):
        object.__setattr__(other, name, getattr(problem, name))
    object.__setattr__(other, "built", built)
    return other
