"""Fronts and problems as files: round trips, schemas, a stranger's check."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import read_results, write_results
from paretosoc.results.front.front_document import front_to_document
from paretosoc.results.io.document import schema
from paretosoc.results.problem import problem_file
from tests.support.result_folders import files

SUPPORT = Path(__file__).parents[2] / "support"


def test_round_trip(front, folder):
    again = read_results(folder)
    assert front_to_document(again) == front_to_document(front)
    assert again.provenance == front.provenance
    for one, other in zip(front.members, again.members, strict=True):
        assert one.objectives == other.objectives
        assert one.domain_on == other.domain_on
        assert (one.design.units == other.design.units).all()
        assert (one.design.operating_points == other.design.operating_points).all()
    write_results(folder.parent / "again", again, pictures=False)
    assert files(folder.parent / "again") == files(folder)


def test_a_problem_is_written_out_once_for_all_that_name_it(front, tmp_path, monkeypatch):
    written = []
    original = problem_file.problem_to_document

    def counted(problem):
        written.append(problem)
        return original(problem)

    monkeypatch.setattr(problem_file, "problem_to_document", counted)
    problem = dataclasses.replace(front.problem)
    write_results(tmp_path / "run", dataclasses.replace(front, problem=problem), pictures=False)
    assert written == [problem]
    again = read_results(tmp_path / "run")
    assert written == [problem, again.problem]
    assert problem_file.problem_sha256(again.problem) == problem_file.problem_sha256(problem)
    assert len(written) == 2


def test_three_objectives_and_copies(three_objective_front, tmp_path):
    write_results(tmp_path / "run", three_objective_front, pictures=False)
    document = json.loads((tmp_path / "run" / "front.json").read_bytes())
    assert list(document["members"][0]["objectives"]) == [
        "latency_ps",
        "energy_fj",
        "latency_ps:resnet50",
    ]
    assert len(read_results(tmp_path / "run").members) == len(three_objective_front.members)


def test_front_follows_the_published_schema(front, folder):
    Draft202012Validator.check_schema(schema("front"))
    document = json.loads((folder / "front.json").read_bytes())
    Draft202012Validator(schema("front")).validate(document)
    assert [member["objectives"]["latency_ps"] for member in document["members"]] == sorted(
        member.makespan_ps for member in front.members
    )


def test_off_is_null(front, folder):
    document = json.loads((folder / "front.json").read_bytes())
    for member, written in zip(front.members, document["members"], strict=True):
        for domain, on in zip(front.problem.domains, member.domain_on, strict=True):
            assert (written["operating_points"][domain.name] is None) == (not on)


def test_a_stranger_recomputes_every_objective(folder):
    """Without site-packages, so without anything of ours."""
    script = [sys.executable, "-I", "-S", str(SUPPORT / "recompute_front.py"), str(folder)]
    result = subprocess.run(script, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "all objectives agree" in result.stdout

    path = folder / "front.json"
    document = json.loads(path.read_bytes())
    document["members"][1]["objectives"]["energy_fj"] += 1
    path.write_text(json.dumps(document))
    result = subprocess.run(script, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "member 1: energy_fj" in result.stdout


def test_the_stranger_agrees_with_the_plain_evaluator(make_problem, make_design, recompute):
    from benchmarks.oracles.frame_energy import frame_energy_fj
    from paretosoc.fitness.check.members.frames import simulate
    from paretosoc.results.problem.problem_file import problem_to_document

    rng = np.random.default_rng(11)
    for seed in range(6):
        problem = make_problem(seed=seed, groups=(4, 3, 2))
        document = problem_to_document(problem)
        for _ in range(5):
            design = make_design(problem, rng)
            point = dict(
                zip((d.name for d in problem.domains), design.operating_points, strict=True)
            )
            unit_of = [problem.units[unit].name for unit in design.units]
            rows = recompute.replay(document, unit_of, point)
            timeline = simulate(problem, design)
            values, _ = recompute.figures(document, unit_of, point, rows)
            assert values["energy_fj"] == frame_energy_fj(problem, design)
            schedule = timeline.schedule.groups
            assert [(r.ready_ps, r.start_ps, r.end_ps) for r in schedule] == list(rows.values())


def test_an_empty_front_is_a_result_too(front, tmp_path):
    write_results(tmp_path / "run", dataclasses.replace(front, members=()))
    assert read_results(tmp_path / "run").members == ()
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"front.json", "problem.json"}


@pytest.mark.parametrize("name", ["front.json", "problem.json"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(ResultError, match=f"{name}: is missing"):
        read_results(folder)
    with pytest.raises(ResultError, match="no such folder"):
        read_results(folder / "nowhere")
    (folder / "note").write_text("no folder")
    with pytest.raises(ResultError, match="the folder of a result is required, got a file"):
        read_results(folder / "note")
