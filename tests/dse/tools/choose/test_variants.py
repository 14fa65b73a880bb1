"""``dse choose`` and ``dse explore`` with variants: the joined front against enumeration of every
combination, limits on accuracy, and the table."""

from __future__ import annotations

import csv
import itertools
import json
import random
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import paretosoc
from paretosoc.common.arrays import IntArray
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.tools.choose.boards import Standing
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.results.plots.style import LINE_COLOURS
from paretosoc.results.problem.problem import Problem

BOARD = "jetson-orin-nano-8gb"
POOL = ("squeezenet", "mobilenet_v2", "resnet18", "mnasnet0_5", "shufflenet_v2_x0_5")


def all_outcomes(problem: Problem) -> IntArray:
    """Return the objectives of all design points that keep the limits."""
    sizes = [len(domain.frequencies_khz) for domain in problem.domains]
    shape = (*[len(problem.units)] * problem.group_count, *sizes)
    rows = np.array(list(np.ndindex(*shape)), dtype=np.int64)
    columns = rows[:, problem.group_count :].T
    allowed = [domain.allowed[k] for domain, k in zip(problem.domains, columns, strict=True)]
    found = make_outcomes(problem)(rows[np.all(allowed, axis=0)])
    return found.objectives[found.feasible]


def dominated(a: tuple[float, ...], points: set[tuple[float, ...]]) -> bool:
    return any(b != a and all(x <= y for x, y in zip(b, a, strict=True)) for b in points)


@pytest.mark.parametrize("seed", range(4))
def test_the_joined_front_is_that_of_the_union_of_all_combinations(
    dse, tmp_path: Path, seed: int
) -> None:
    """Each combination as an ordinary workload file, with all of its design points."""
    draw = random.Random(seed)
    sources = {name: draw.sample(POOL, 2 + (seed + k) % 2) for k, name in enumerate(("a", "b"))}
    # Equal accuracies occur.
    accuracy = {source: draw.choice([50, 62.5, 70]) for source in POOL}
    limit = "" if seed % 2 else f", deadline_ms: {draw.uniform(4, 8):.2f}"
    entries = [
        f"- {{name: {name}{limit}, variants: ["
        + ", ".join(f"{{network: {s}, accuracy_percent: {accuracy[s]}}}" for s in listed)
        + "]}\n"
        for name, listed in sources.items()
    ]
    file = tmp_path / "variants.yaml"
    file.write_text("networks:\n" + "".join(entries))
    found = paretosoc.choose(file, BOARD, groups=1, max_evaluations=2000, draws=2, prove=True)
    (front,) = found.fronts
    assert front.is_complete
    points: set[tuple[float, ...]] = set()
    chosen = list(itertools.product(*sources.values()))
    assert len(found.boards) == len(chosen)
    for combination in chosen:
        plain = tmp_path / "plain.yaml"
        lines = [
            f"- {{name: {name}{limit}, network: {source}}}\n"
            for name, source in zip(sources, combination, strict=True)
        ]
        plain.write_text("networks:\n" + "".join(lines))
        problem = paretosoc.Problem(plain, BOARD, groups=1, precision="fp16").numeric
        least = tuple(-accuracy[source] for source in combination)
        for row in np.unique(all_outcomes(problem), axis=0).tolist():
            figures = zip(problem.objectives, row, strict=True)
            points.add((*(of.shown(value) for of, value in figures), *least))
    wanted = {point for point in points if not dominated(point, points)}
    assert wanted
    got = [
        (*member.objectives.values(), *(-each for each in member.accuracies.values()))
        for member in front.members
    ]
    assert len(got) == len(set(got))
    assert set(got) == wanted
    assert list(front.members[0].objectives) == ["latency [ms]", "energy [mJ]"]
    options = ("--groups", "1", "--precision", "fp16", "--quiet")
    limits = ("--max-evaluations", "2000", "--jobs", "1")
    done = dse("explore", file, "-p", BOARD, *options, *limits, "-o", tmp_path / "o")
    assert done.status == 0, done.err
    table = list(csv.DictReader((tmp_path / "o" / "front.csv").read_text().splitlines()))
    names = [*front.members[0].objectives, *(f"accuracy of {owner} [%]" for owner in sources)]
    signs = (1, 1, -1, -1)
    assert {
        tuple(sign * float(row[name]) for name, sign in zip(names, signs, strict=True))
        for row in table
    } == wanted
    assert (
        dse("verify", tmp_path / "o")
        .out.splitlines()[-2]
        .startswith(f"holds        joined front: complete: {len(wanted)} members")
    )


DETECTORS = """\
frames_per_second: 30
networks:
  - name: detect
    deadline_ms: {deadline}
    variants: [{{network: yolo11n}}, {{network: yolo11s}}, {{network: yolo11m}}]
"""
COMMAND = ("--groups", "3", "--max-evaluations", "200", "--draws", "10", "--jobs", "1")


def test_the_command_says_which_detector_fits(dse, tmp_path: Path) -> None:
    path, out = tmp_path / "w.yaml", tmp_path / "o"
    path.write_text(DETECTORS.format(deadline=12))
    call = ("choose", path, "-o", out, *COMMAND, "--boards", BOARD)
    done = dse(*call)
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    rows = [line for line in lines if line.startswith(BOARD) and " yolo11" in line]
    assert ["yes" in row for row in rows] == [True, True, False]
    assert ["yolo11s 47.0" in row for row in rows] == [True, False, False]
    assert "https://docs.ultralytics.com/models/yolo11" in done.out.replace("\n", "")
    document = json.loads((out / "boards.json").read_text())
    assert [(each["standing"], each["variants"]["detect"]) for each in document["boards"]] == [
        ("yes", "yolo11s"),
        ("yes", "yolo11n"),
        ("no", "yolo11m"),
    ]
    assert "latency of detect: at most 12 ms" in document["boards"][2]["reason"]
    table = list(csv.DictReader((out / "front.csv").read_text().splitlines()))
    assert {row["detect"] for row in table} == {"yolo11n", "yolo11s"}
    assert len(table) == len(document["fronts"][0]["members"])
    assert "latency [ms]" in table[0]
    # Its run has the member.
    row = table[0]
    dse("campaign", "extract", out, row["run"], "-o", tmp_path / "run")
    member = json.loads((tmp_path / "run" / "front.json").read_text())["members"][
        int(row["member"])
    ]
    assert member["objectives"]["latency_ps"] == round(10**9 * float(row["latency [ms]"]))
    page = (out / "boards.html").read_text()
    assert f"{BOARD} detect=yolo11s" in page
    _, drawn = re.findall("<svg [^>]*pt.*?</svg>", page, re.DOTALL)
    picture = ElementTree.fromstring(drawn)
    texts = {each.text for each in picture.iter() if each.tag.endswith("text")}
    labels = {"detect=yolo11n", "detect=yolo11s"}
    assert {*labels, f"{BOARD}: front of all combinations", "latency [ms]"} <= texts
    # A mark for each member, and a key for each combination.
    fills = Counter(each.get("fill") for each in picture.iter() if each.tag.endswith("path"))
    marks = {fill: count for fill, count in fills.items() if fill in LINE_COLOURS[: len(labels)]}
    assert len(marks) == len(labels)
    assert sum(marks.values()) == len(table) + len(labels)
    aims = ("--objective", "latency:detect", "--objective", "power")
    assert dse(*call, *aims).status == 0
    names = (out / "front.csv").read_text().splitlines()[0].split(",")
    assert names[3:5] == ["latency of detect [ms]", "power [W]"]
    # The same folder, with fewer variants.
    done = dse(*call, "--limit", "min-accuracy=45", "--variant", "detect=yolo11s", "--json")
    (board,) = json.loads(done.out)["boards"]
    assert board == document["boards"][0]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            ("--limit", "min-accuracy=60"),
            "network 'detect': an accuracy of at least 60 % is required",
        ),
        (("--limit", "min-accuracy:track=6"), "--limit min-accuracy: there is no network 'track'"),
        (("--limit", "min-accuracy=101"), "--limit: min-accuracy[:NETWORK]=PERCENT"),
        (("--limit", "max-accuracy-loss=3"), "choose: there is no argument '--limit max-accur"),
        (("--variant", "detect=yolo11z"), "--variant: network 'detect' has no variant 'yolo11z'"),
        (("--variant", "yolo11n"), "--variant: NETWORK=NAME"),
    ],
)
def test_bad_choices_are_one_line(dse, tmp_path: Path, more: tuple[str, ...], words: str) -> None:
    path = tmp_path / "w.yaml"
    path.write_text(DETECTORS.format(deadline=14))
    done = dse("choose", path, "-o", tmp_path / "o", *COMMAND, "--boards", BOARD, *more)
    assert done.status == 2
    assert words in done.err
    assert done.err.count("\n") == 1
    assert not (tmp_path / "o").exists()


def test_other_commands_ask_for_a_choice(dse, tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    path.write_text(DETECTORS.format(deadline=14))
    done = dse("baselines", path, "-p", BOARD)
    assert done.status == 2
    assert "(--variant); dse explore compares all of them" in done.err
    with pytest.raises(WorkloadError, match=r"\(variants\); dse\.choose compares all of them"):
        paretosoc.explore(path, BOARD)
    call = ("explore", path, "-p", BOARD, "-o", tmp_path / "o", "--groups", "2")
    done = dse(*call, "--variant", "detect=yolo11n", "--max-evaluations", "100")
    assert done.status == 0, done.err
    one = ("baselines", path, "-p", BOARD, "--groups", "2", "--variant", "detect=yolo11n")
    assert dse(*one).status == 0
    assert json.loads((tmp_path / "o" / "costs.json").read_text())["networks"][0]["name"] == (
        "detect"
    )


def test_a_batch_is_a_variant_of_the_same_network(tmp_path: Path) -> None:
    """Its accuracy is the same, so only time and energy tell batches apart."""
    path = tmp_path / "w.yaml"
    path.write_text(
        "networks:\n- {name: a, network: squeezenet, rate_hz: 120, deadline_ms: 60, variants: "
        "[{variant: b1, batch: 1}, {variant: b4, batch: 4}, {variant: b16, batch: 16}]}\n"
    )
    found = paretosoc.choose(path, BOARD, groups=2, max_evaluations=200, draws=5)
    standing = {board.variants["a"]: board.standing for board in found.boards}
    # The last image of 16 comes 125 ms after the first.
    assert standing == {"b1": Standing.SERVES, "b4": Standing.SERVES, "b16": Standing.FAILS}
    assert found.energy_per == "image of a"
    for board in found.boards:
        assert board.figures is not None
        power = board.figures["power [W]"].nominal
        assert board.figures["energy [mJ]"].nominal == pytest.approx(1000 * power / 120)
    assert found.accuracy_sources == ()
    (front,) = found.fronts
    assert {member.variants["a"] for member in front.members} <= {"b1", "b4"}
    assert all(not member.accuracies for member in front.members)
    path.write_text("networks: [{name: a, network: squeezenet, rate_hz: 120, deadline_ms: 60}]")
    for batch in ([1, 4, 16], {"a": [1, 4, 16]}):
        again = paretosoc.choose(path, BOARD, groups=2, max_evaluations=200, draws=5, batch=batch)
        for one, other in zip(found.boards, again.boards, strict=True):
            assert one.figures == other.figures
            assert one.variants["a"].replace("b", "batch") == other.variants["a"]


@pytest.mark.parametrize("more", [("--batch", "2"), ("--batch", "a=2", "--deadline", "40")])
def test_options_of_networks_reach_the_problem(dse, tmp_path: Path, more: tuple[str, ...]) -> None:
    path = tmp_path / "w.yaml"
    path.write_text("networks:\n- {name: a, network: squeezenet, rate_hz: 30}\n")
    done = dse("choose", path, "-o", tmp_path / "o", *COMMAND, "--boards", BOARD, *more, "--json")
    assert done.status == 0, done.err
    wanted = ["a 30 per second"]
    if "--deadline" in more:
        wanted.append("response of a at most 40 ms")
    assert json.loads(done.out)["requirements"] == wanted
