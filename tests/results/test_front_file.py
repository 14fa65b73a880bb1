"""Result folders: round trips, schemas, a stranger's check, tampering, overwriting, sudden ends."""

import dataclasses
import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from results.canonical_json import canonical_bytes, content_sha256, parse
from results.errors import ResultError
from results.front import HypervolumePoint
from results.front_document import front_from_document, front_to_document
from results.front_file import check_output_folder, read_results, write_results
from results.problem import DesignPoint, Objective, ObjectiveKind
from results.problem_file import problem_from_bytes
from results.schema_check import schema

HERE = Path(__file__).parent


@pytest.fixture
def folder(front, tmp_path):
    write_results(tmp_path / "run", front, pictures=False)
    return tmp_path / "run"


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_round_trip(front, folder):
    again = read_results(folder)
    assert front_to_document(again) == front_to_document(front)
    assert again.provenance == front.provenance
    for one, other in zip(front.members, again.members, strict=True):
        assert one.schedule == other.schedule
        assert one.objectives == other.objectives
        assert one.domain_on == other.domain_on
        assert (one.design.units == other.design.units).all()
        assert (one.design.operating_points == other.design.operating_points).all()
    write_results(folder.parent / "again", again, pictures=False)
    assert files(folder.parent / "again") == files(folder)


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
    script = [sys.executable, "-I", "-S", str(HERE / "recompute_front.py"), str(folder)]
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
    from fitness.plain_timeline import frame_energy_fj, play
    from results.problem_file import problem_to_document

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
            timeline = play(problem, design)
            values, _ = recompute.figures(document, unit_of, point, rows)
            assert values["energy_fj"] == frame_energy_fj(problem, design, timeline)
            schedule = timeline.schedule.groups
            assert [(r.ready_ps, r.start_ps, r.end_ps) for r in schedule] == list(rows.values())


def random_edit(document, rng):
    """Changes one value or key somewhere, or takes a part away or doubles it."""
    place = document
    while True:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        key = rng.choice(keys)
        if isinstance(place[key], dict | list) and place[key] and rng.random() < 0.85:
            place = place[key]
            continue
        break
    value = place[key]
    if rng.random() < 0.2:
        del place[key]
    elif isinstance(place, list) and rng.random() < 0.2:
        place.append(value)
    elif isinstance(place, dict) and rng.random() < 0.1:
        place[f"{key}x"] = place.pop(key)
    elif type(value) is int and rng.random() < 0.6:
        place[key] = value + rng.choice([-1, 1, -(10**9), 10**9, 1 << 63])
    elif isinstance(value, str) and value and rng.random() < 0.6:
        place[key] = value[1:]
    else:
        place[key] = rng.choice([None, True, -1, 0, 1.5, "", "gpu", [], {}, [[]], 1e300])


def attempt(read):
    """What ``read`` gives, or None and the complaint; any other error is a failure."""
    try:
        return read(), ""
    except ResultError as error:
        return None, str(error)


def test_random_edits_of_the_front_are_refused_or_mean_the_same(front, folder):
    original = parse((folder / "front.json").read_bytes())
    problem = problem_from_bytes((folder / "problem.json").read_bytes())
    rng = random.Random(7)
    refused = 0
    for _ in range(500):
        document = json.loads(json.dumps(original))
        random_edit(document, rng)
        again, complaint = attempt(lambda content=document: front_from_document(content, problem))
        if again is None:
            assert complaint.startswith("$")
            assert "\n" not in complaint
            refused += 1
        else:
            assert front_to_document(again) == original
    assert refused > 450


def test_random_edits_of_the_problem_are_refused(folder):
    path = folder / "problem.json"
    original = parse(path.read_bytes())
    meaning = front_to_document(read_results(folder))
    rng = random.Random(8)
    for _ in range(200):
        document = json.loads(json.dumps(original))
        random_edit(document, rng)
        path.write_bytes(canonical_bytes(document))
        if document == original:
            continue
        with pytest.raises(ResultError, match=r"(problem|front)\.json: \$"):
            read_results(folder)
    path.write_bytes(canonical_bytes(original))
    assert front_to_document(read_results(folder)) == meaning


@pytest.mark.parametrize("name", ["front.json", "problem.json"])
def test_random_bytes_are_refused_or_mean_the_same(folder, name):
    path = folder / name
    data = path.read_bytes()
    meaning = front_to_document(read_results(folder))
    rng = random.Random(9)
    for _ in range(150):
        at, length = rng.randrange(len(data)), rng.choice([1, 1, 1, 2, 30, 4000])
        middle = rng.choice([b"", bytes([rng.randrange(256)]), b"0", b" ", b"\x00", data[:20]])
        path.write_bytes(data[:at] + middle + data[at + length :])
        again, complaint = attempt(lambda: read_results(folder))
        if again is None:
            assert ".json: " in complaint
        else:
            assert front_to_document(again) == meaning


def resigned(document):
    """As a forger would leave it: the content hash made right again."""
    document.pop("content_sha256")
    document["content_sha256"] = content_sha256(document)
    return document


def set_value(path, value):
    def forge(document):
        place = document
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value(place[path[-1]]) if callable(value) else value

    return forge


MEMBER = ("members", 0)
FORGERIES = {
    "objective": (
        set_value((*MEMBER, "objectives", "energy_fj"), lambda v: v - 1),
        r"\$\.members\[0\]\.objectives\['energy_fj'\]: must be",
    ),
    "makespan": (set_value((*MEMBER, "makespan_ps"), lambda v: v - 1), "must be"),
    "unit": (set_value((*MEMBER, "mapping", "vgg19", 0), "npu"), r"'vgg19'\]\[0\]: must be one of"),
    "too few units": (set_value((*MEMBER, "mapping", "vgg19"), ["gpu"]), "must name 6 units"),
    "clock": (
        set_value((*MEMBER, "operating_points", "emc", "frequency_khz"), 5),
        r"operating_points\['emc'\]: no such",
    ),
    "off": (
        set_value((*MEMBER, "operating_points", "emc"), None),
        r"'emc'\]: the domain must be on",
    ),
    "start": (set_value((*MEMBER, "schedule", 1, "start_ps"), 0), r"schedule\[1\]\.start_ps"),
    "ready": (set_value((*MEMBER, "schedule", 1, "ready_ps"), 0), r"schedule\[1\]\.ready_ps"),
    "end": (set_value((*MEMBER, "schedule", 1, "end_ps"), 5), r"schedule\[1\]\.end_ps"),
    "alone": (set_value((*MEMBER, "schedule", 1, "alone_ps"), 5), r"schedule\[1\]\.alone_ps"),
    "missing execution": (
        lambda d: d["members"][0]["schedule"].pop(3),
        r"schedule: must hold",
    ),
    "no schedule": (set_value((*MEMBER, "schedule"), []), r"schedule: must not be empty"),
    "latency": (set_value((*MEMBER, "latencies_ps", "vgg19"), 5), r"latencies_ps\['vgg19'\]"),
    "energy of a unit": (
        set_value((*MEMBER, "energy_by_unit_fj", "gpu"), 1 << 60),
        "energy_by_unit_fj",
    ),
    "order": (lambda d: d["members"].reverse(), "order of the first objective"),
    "twice": (lambda d: d["members"].insert(0, d["members"][0]), "is dominated by, or equal to"),
    "seed as float": (set_value(("provenance", "seed"), 0.0), r"\$\.provenance\.seed"),
    "another problem": (set_value(("problem_sha256",), "0" * 64), "not that of problem.json"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_named(front, folder, name):
    forge, complaint = FORGERIES[name]
    path = folder / "front.json"
    document = json.loads(path.read_bytes())
    forge(document)
    path.write_bytes(canonical_bytes(resigned(document)))
    with pytest.raises(ResultError, match=complaint) as error:
        read_results(folder)
    assert str(error.value).startswith(f"{path}: $")


def test_unsound_fronts_are_not_written(front, tmp_path):
    member = front.members[0]
    elsewhere = DesignPoint(np.zeros_like(member.design.units), member.design.operating_points)
    point = HypervolumePoint(1, float("nan"))
    for spoiled in (
        dataclasses.replace(front, members=(member, member)),
        dataclasses.replace(front, members=(dataclasses.replace(member, design=elsewhere),)),
        dataclasses.replace(front, members=(dataclasses.replace(member, energy_fj=0),)),
        dataclasses.replace(front, members=(dataclasses.replace(member, objectives=(1,)),)),
        dataclasses.replace(
            front, provenance=dataclasses.replace(front.provenance, convergence=(point,))
        ),
    ):
        with pytest.raises(ResultError, match=r"\$"):
            write_results(tmp_path / "run", spoiled, pictures=False)
        assert list(tmp_path.iterdir()) == []


def test_pipelines_keep_several_frames(front, tmp_path):
    """Latencies of one frame alone are not those of a schedule of several frames."""
    problem = dataclasses.replace(
        front.problem,
        objectives=(Objective(ObjectiveKind.THROUGHPUT), Objective(ObjectiveKind.ENERGY)),
    )
    member = front.members[0]
    later = tuple(
        dataclasses.replace(
            row,
            frame=2,
            **{
                key: getattr(row, key) + member.makespan_ps
                for key in ("ready_ps", "start_ps", "end_ps")
            },
        )
        for row in member.schedule.groups
    )
    schedule = dataclasses.replace(member.schedule, groups=(*member.schedule.groups, *later))
    member = dataclasses.replace(member, schedule=schedule, objectives=(5, member.energy_fj))
    pipeline = dataclasses.replace(front, problem=problem, members=(member,))
    write_results(tmp_path / "run", pipeline, pictures=False)
    assert read_results(tmp_path / "run").members[0].schedule == schedule


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


# Overwriting


def test_an_existing_folder_is_refused_without_overwrite(front, folder):
    before = files(folder)
    with pytest.raises(ResultError, match="exists already"):
        write_results(folder, front, pictures=False)
    assert files(folder) == before


def test_overwrite_replaces_an_older_result(front, folder):
    shorter = dataclasses.replace(front, members=front.members[:1])
    (folder / "front.png").write_bytes(b"of the older front")
    write_results(folder, shorter, overwrite=True, pictures=False)
    assert len(read_results(folder).members) == 1
    assert set(files(folder)) == {"front.json", "problem.json"}
    assert [path.name for path in folder.parent.iterdir()] == ["run"]


def test_overwrite_takes_an_empty_folder_and_makes_parents(front, tmp_path):
    (tmp_path / "empty").mkdir()
    write_results(tmp_path / "empty", front, overwrite=True, pictures=False)
    write_results(tmp_path / "a" / "b" / "c", front, pictures=False)
    assert len(read_results(tmp_path / "a" / "b" / "c").members) == len(front.members)


def test_overwrite_follows_a_link(front, folder):
    link = folder.parent / "link"
    link.symlink_to("run")
    shorter = dataclasses.replace(front, members=front.members[:1])
    write_results(link, shorter, overwrite=True, pictures=False)
    assert link.is_symlink()
    assert len(read_results(folder).members) == 1


def strange_file(folder):
    (folder / "thesis.tex").write_text("years of work")


def strange_folder(folder):
    (folder / "front.svg").mkdir()


def strange_link(folder):
    (folder / "front.svg").symlink_to("/etc/hostname")


def strange_front(folder):
    (folder / "front.json").write_text('{"format": "something else"}')


def no_front(folder):
    (folder / "front.json").unlink()


@pytest.mark.parametrize(
    "put", [strange_file, strange_folder, strange_link, strange_front, no_front]
)
def test_overwrite_never_touches_what_is_not_ours(front, folder, put):
    put(folder)
    before = sorted(path.name for path in folder.iterdir())
    with pytest.raises(ResultError, match="is not replaced"):
        write_results(folder, front, overwrite=True, pictures=False)
    with pytest.raises(ResultError, match="is not replaced"):
        check_output_folder(folder, overwrite=True)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_file_in_the_way_is_refused(front, tmp_path):
    path = tmp_path / "run"
    path.write_text("a file")
    for overwrite in (False, True):
        with pytest.raises(ResultError):
            write_results(path, front, overwrite=overwrite, pictures=False)
    with pytest.raises(ResultError, match="cannot be written"):
        write_results(path / "inside", front, pictures=False)
    assert path.read_text() == "a file"


# Sudden ends


def test_an_error_in_the_middle_leaves_nothing(front, folder, monkeypatch):
    def fail(front):
        raise KeyboardInterrupt

    before = files(folder)
    monkeypatch.setattr("results.front_picture.front_png", fail)
    with pytest.raises(KeyboardInterrupt):
        write_results(folder.parent / "other", front)
    with pytest.raises(KeyboardInterrupt):
        write_results(folder, front, overwrite=True)
    assert [path.name for path in folder.parent.iterdir()] == ["run"]
    assert files(folder) == before


def test_a_rename_that_fails_brings_the_older_result_back(front, folder, monkeypatch):
    before = files(folder)
    rename = Path.rename

    def fail(self, target):
        if self.name.endswith(".part"):
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(ResultError, match="cannot be written: No space left"):
        write_results(folder, front, overwrite=True, pictures=False)
    assert files(folder) == before
    assert [path.name for path in folder.parent.iterdir()] == ["run"]


KILLED_AT_SYNC = """
import os, signal, sys
from pathlib import Path
from results.front_file import read_results, write_results
front = read_results(Path(sys.argv[1]))
left, sync = int(sys.argv[3]), os.fsync
def fsync(descriptor):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    sync(descriptor)
os.fsync = fsync
write_results(Path(sys.argv[2]), front, overwrite=True, pictures=False)
"""


@pytest.mark.parametrize(("syncs", "written"), [(0, False), (1, False), (2, False), (3, True)])
@pytest.mark.parametrize("existing", [False, True])
def test_a_killed_write_leaves_the_old_or_the_new_result(front, folder, syncs, written, existing):
    """The writer syncs two files, their folder, and after the rename the parent."""
    target = folder.parent / "target"
    older = dataclasses.replace(front, members=front.members[:1])
    if existing:
        write_results(target, older, pictures=False)
    script = [sys.executable, "-c", KILLED_AT_SYNC, str(folder), str(target), str(syncs)]
    assert subprocess.run(script, check=False).returncode == -9
    if written:
        assert files(target) == files(folder)
    elif existing:
        assert len(read_results(target).members) == 1
    else:
        assert not target.exists()
    write_results(target, front, overwrite=True, pictures=False)
    assert files(target) == files(folder)
