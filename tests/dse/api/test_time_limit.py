"""A time limit covers search and proof."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import paretosoc as dse
from paretosoc.common.compiling import seconds_since_call
from paretosoc.common.options import Door, called_from
from paretosoc.dse.api import pipeline
from paretosoc.dse.api.pipeline import SEARCH_SHARE, explore_to_folder
from paretosoc.dse.api.proof import PICTURE_SECONDS, PICTURE_SHARE
from paretosoc.dse.engines.explore import SearchSettings


@pytest.mark.parametrize(("prove", "share"), [(True, SEARCH_SHARE), (False, 1.0)])
def test_search_and_proof_share_the_time(
    prove: bool,
    share: float,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    given: dict[str, float | None] = {}
    search, certify = pipeline.explore_problem, pipeline.prove_front

    def searching(built, settings, **options):
        given["search"] = settings.time_limit_s
        return search(built, settings, **options)

    def proving(front, **options):
        given["proof"] = options["limits"].until.at
        return certify(front, **options)

    monkeypatch.setattr(pipeline, "explore_problem", searching)
    monkeypatch.setattr(pipeline, "prove_front", proving)
    problem = dse.Problem(["alexnet"], "jetson-agx-xavier", groups=4)
    settings = SearchSettings(max_evaluations=200, time_limit_s=1000.0, jobs=1)
    explore_to_folder(problem, tmp_path / "run", settings=settings, prove=prove, clock=lambda: 5.0)
    left = 1000.0 - PICTURE_SECONDS
    assert given["search"] == left * share
    assert given.get("proof") == (5.0 + left if prove else None)


def test_what_is_spent_before_is_part_of_the_limit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given: list[float | None] = []
    search = pipeline.explore_problem

    def searching(built, settings, **options):
        given.append(settings.time_limit_s)
        return search(built, settings, **options)

    monkeypatch.setattr(pipeline, "explore_problem", searching)
    problem = dse.Problem(["alexnet"], "jetson-agx-xavier", groups=4)
    settings = SearchSettings(max_evaluations=200, time_limit_s=1000.0, jobs=1)
    for spent, name in ((400.0, "run"), (2000.0, "late")):
        folder = tmp_path / name
        explore_to_folder(
            *(problem, folder), settings=settings, prove=False, spent_s=spent, clock=lambda: 5.0
        )
    assert given == [600.0 - PICTURE_SECONDS, pytest.approx(0.001 * (1 - PICTURE_SHARE))]


def test_a_command_knows_when_it_began(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter((5.0, 7.5))
    monkeypatch.setattr("paretosoc.common.compiling.clock", lambda: next(now))
    assert seconds_since_call() == 0.0
    with called_from(Door.COMMAND):
        assert seconds_since_call() == 2.5
    assert seconds_since_call() == 0.0


def test_a_proof_after_a_resumed_search_has_its_share(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    problem = dse.Problem(["alexnet"], "jetson-agx-xavier", groups=4)
    state = tmp_path / "state"
    whole = SearchSettings(max_evaluations=200, checkpoint=state, jobs=1)
    first = explore_to_folder(problem, tmp_path / "first", settings=whole, prove=False)
    # Far less than the seconds of the search before.
    limit = first.front.numeric.provenance.seconds / 100
    given: list[float | None] = []
    certify = pipeline.prove_front

    def proving(front, **options):
        given.append(options["limits"].until.at)
        return certify(front, **options)

    monkeypatch.setattr(pipeline, "prove_front", proving)
    again = replace(whole, time_limit_s=limit)
    explore_to_folder(problem, tmp_path / "again", settings=again, clock=lambda: 0.0)
    assert given == [limit - PICTURE_SHARE * limit]
