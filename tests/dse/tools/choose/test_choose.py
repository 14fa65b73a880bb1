"""``dse choose``: its table against single explorations, boards that cannot serve, bad input, and a
run that was killed."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import paretosoc
from paretosoc.common.options import Door, called_from
from paretosoc.dse.engines.explore import explore_problem
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.tools.analysis.cost_draws import stated_errors, with_factors
from paretosoc.dse.tools.campaign.execute import exploration
from paretosoc.dse.tools.choose.boards import (
    Board,
    Figure,
    Standing,
    choose_formats,
    in_order,
    standing_of,
)
from paretosoc.dse.tools.choose.judge import ENERGY, nearest_row
from paretosoc.dse.tools.choose.table import three_digits
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.platforms.io.platform_file import load_platform, platform_names, platform_source
from paretosoc.results.front.front import Front
from paretosoc.results.problem.limits import constraints_of

WORKLOAD = """\
power_cap_w: {cap}
networks:
  - {{name: seen, network: squeezenet, rate_hz: 30, deadline_ms: {deadline}}}
  - {{name: told, network: resnet18, rate_hz: 10}}
"""
BOARDS = ["jetson-orin-nano-8gb", "jetson-xavier-nx"]
EFFORT = {"groups": 3, "max_evaluations": 200}
DRAWS = 60


def workload(folder: Path, cap: float = 8, deadline: float = 33) -> Path:
    path = folder / "w.yaml"
    path.write_text(WORKLOAD.format(cap=cap, deadline=deadline))
    return path


@pytest.mark.parametrize("cap", [4.5, 8])
def test_the_table_is_that_of_single_explorations(tmp_path: Path, cap: float) -> None:
    """Probabilities by simulating every choice with every draw, one after the other."""
    path = workload(tmp_path, cap)
    found = paretosoc.choose(path, BOARDS, draws=DRAWS, seed=3, **EFFORT)
    assert {board.name for board in found.boards} == set(BOARDS)
    for board in found.boards:
        chip = load_platform(board.name)
        memory = {}
        if chip.memory.capacity_bytes is not None:
            memory = {"memory_cap_mb": chip.memory.capacity_bytes // 10**6}
        problem = paretosoc.Problem(path, board.name, precision="fp16", groups=3, **memory)
        front = paretosoc.explore(problem, "nsga2", max_evaluations=200, seed=3, jobs=1)
        sure = front.confidence(draws=DRAWS, seed=3)
        rows = np.stack([front[each.member].numeric.design.row for each in sure.choices])
        assert problem.costs is not None
        errors = stated_errors(problem.numeric, problem.costs)
        kept = [
            [bool(make_outcomes(with_factors(problem.numeric, factors))(row[None]).feasible[0])
             for row in rows]
            for factors in errors.draws(DRAWS, 3)
        ]  # fmt: skip
        assert board.probability == sum(map(any, kept)) / DRAWS
        often = [sum(each) / DRAWS for each in zip(*kept, strict=True)]
        assert often == [each.meets_limits for each in sure.choices]
        able = [n for n, share in enumerate(often) if share >= min(0.9, max(often))]
        best = min(able, key=lambda n: front[sure.choices[n].member].energy_mj)
        assert board.probability_of_design == often[best]
        assert board.figures is not None
        member = front[sure.choices[best].member]
        # Three frames of the faster network in the period of 100 ms.
        assert board.figures[ENERGY].nominal == pytest.approx(member.energy_mj / 3)
        least, most = sure.choices[best].intervals["power [W]"]
        power = board.figures["power [W]"]
        assert (power.least, power.most) == pytest.approx((least, most))
        assert power.nominal == pytest.approx(power.nominal)
        if memory:
            assert board.memory_mb is not None
            assert board.memory_left_mb is not None
            assert board.memory_mb + board.memory_left_mb == memory["memory_cap_mb"]
        assert board.standing is standing_of(board.probability)


def test_a_board_that_cannot_serve(tmp_path: Path) -> None:
    path = workload(tmp_path, cap=0.5)
    found = paretosoc.choose(path, BOARDS, draws=20, **EFFORT)
    for board in found.boards:
        assert (board.standing, board.probability) == (Standing.FAILS, 0.0)
        assert "power: at most 0.5 W, lowest found" in board.reason
        assert board.figures is not None
        assert board.figures["power [W]"].nominal > 0.5


def test_the_nearest_design_point_is_near_in_its_worst_limit(tmp_path: Path) -> None:
    """Against all design points of a small space."""
    path = workload(tmp_path, cap=2.9, deadline=2)
    problem = paretosoc.Problem(path, BOARDS[0], units="gpu", groups=1, fixed={"cpu": "min"})
    limits = constraints_of(problem.numeric)
    sizes = [len(domain.frequencies_khz) for domain in problem.numeric.domains]
    groups = problem.numeric.group_count
    rows = np.array([[0] * groups + list(point) for point in np.ndindex(*sizes)], dtype=np.int64)
    names = [unit.unit_name for unit in problem.numeric.units]
    assert names == ["gpu"]
    allowed = np.all(
        [domain.allowed[rows[:, groups + d]] for d, domain in enumerate(problem.numeric.domains)],
        axis=0,
    )
    outcomes = make_outcomes(problem.numeric)(rows[allowed])
    asked = [k for k, limit in enumerate(limits) if limit.kind.counts is None]
    bounds = np.array([limits[k].limit for k in asked])
    worst = (outcomes.constraint_values[:, asked] / bounds).max(axis=1)
    assert worst.min() > 1
    (row,) = nearest_row(problem.numeric, 0)
    own = make_outcomes(problem.numeric)(row[None]).constraint_values[0, asked] / bounds
    assert own.max() == pytest.approx(worst.min(), rel=1e-5)


def test_a_board_with_too_little_memory_cannot_run_the_workload(tmp_path: Path) -> None:
    """Its memory is the only limit, which no error of a time changes."""
    document = json.loads(platform_source("jetson-nano"))
    document["memory"]["capacity_gib"] = 1
    path = tmp_path / "small.json"
    path.write_text(json.dumps(document | {"name": "small"}))
    options = {"draws": 5, "groups": 1, "max_evaluations": 20}
    found = paretosoc.choose(["vgg19*4"], [str(path), "jetson-nano"], **options)
    assert found["small"].standing is Standing.REFUSED
    assert found["small"].reason.startswith("memory: at most 1073 MB")
    assert found["jetson-nano"].standing is Standing.SERVES


@pytest.mark.parametrize("name", ["board", "format", "serves", "price"])
def test_a_network_may_be_called_as_a_column_is(dse, tmp_path: Path, name: str) -> None:
    path = tmp_path / "w.yaml"
    variants = "{network: resnet18}, {network: squeezenet}"
    path.write_text(f"networks:\n  - {{name: {name}, variants: [{variants}]}}\n")
    few = ("--groups", "1", "--max-evaluations", "20", "--draws", "5", "--jobs", "1")
    got = dse("choose", path, "-p", "jetson-tx2", *few, "-o", tmp_path / "o")
    assert got.status == 0, got.err
    rows = [line.split() for line in got.out.splitlines() if line.startswith("jetson-tx2* ")]
    assert {row[1] for row in rows} == {"resnet18", "squeezenet"}


def test_a_board_without_the_unit_is_named_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "w.yaml"
    path.write_text("networks:\n  - {network: squeezenet, pins: [{first: 0, unit: dla0}]}\n")
    found = paretosoc.choose(path, BOARDS, draws=5, groups=3, max_evaluations=20)
    assert found["jetson-orin-nano-8gb"].standing is Standing.REFUSED
    assert "dla0" in found["jetson-orin-nano-8gb"].reason
    assert repr(found) == "<dse.BoardChoice of w: 2 rows, first jetson-xavier-nx (yes)>"
    with pytest.raises(WorkloadError, match=r"no board .jetson-nano. .did you mean jetson"):
        found["jetson-nano"]
    assert found["jetson-xavier-nx"].standing is Standing.SERVES
    assert found.boards[0].name == "jetson-xavier-nx"


def test_sizes_of_dimensions_are_those_of_explore(dse, tmp_path: Path) -> None:
    effort = ("--max-evaluations", "100", "--draws", "20", "--groups", "3")
    board = ("--boards", "rk3588", "--dim", "sequence=16", "-o", tmp_path / "boards")
    assert dse("choose", "minilm-l6", *board, *effort).status == 0
    assert (
        "sequence=16" in dse("campaign", "table", tmp_path / "boards", "--rows", "dimensions").out
    )


def test_every_limit_of_the_option_is_one_of_the_explorations(dse, tmp_path: Path) -> None:
    """Beside the board's memory, which is a limit of its own."""
    call = ("choose", workload(tmp_path), "-o", tmp_path / "o", *COMMAND, "--boards", BOARDS[0])
    limits = {
        "memory-cap=300": "memory at most 300 MB",
        "max-misses:seen=1": "misses of seen at most 1",
        "deadline-95:told=50": "95th percentile of told at most 50 ms",
        "max-jitter=20": "jitter of told at most 20 ms",
        "energy-budget=900": "energy at most 900 mJ",
    }
    done = dse(*call, "--json", *(part for text in limits for part in ("--limit", text)))
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert set(limits.values()) <= set(found["requirements"])
    assert found["boards"][0]["memory_mb"] + found["boards"][0]["memory_left_mb"] == 300
    done = dse(*call, "--limit", "memory-cap=1")
    assert (done.status, "memory: at most 1 MB" in done.out) == (1, True)
    assert "serves" not in done.out


def test_what_no_board_can_run_is_an_error(dse, tmp_path: Path) -> None:
    (tmp_path / "n.onnx").write_bytes(b"no model")
    call = ("choose", tmp_path / "n.onnx", "-o", tmp_path / "o", "--boards", BOARDS[0])
    done = dse(*call, *COMMAND)
    assert (done.status, len(done.lines)) == (2, 1)
    assert "n: no board can run it; jetson-orin-nano-8gb: " in done.err
    assert "n.onnx" in done.err.partition("nano-8gb: ")[2]
    assert not (tmp_path / "o").exists()


def test_one_format_is_had_by_all_boards() -> None:
    chips = [load_platform(name) for name in platform_names()]
    formats = choose_formats(chips, [], None)
    assert {each.name for each in formats.values()} == {"fp16"}
    assert "hailo unused" in formats["raspberry-pi-5-hailo-8"].remark
    assert "as it has no FP16" in formats["raspberry-pi-5-hailo-8"].remark
    assert "gpu: not used by networks, as RKNN serves" in formats["rk3588"].remark
    pair = [load_platform("jetson-orin-nano-8gb"), load_platform("raspberry-pi-5-hailo-8")]
    with called_from(Door.COMMAND):
        found = {(each.name, each.reason) for each in choose_formats(pair, [], None).values()}
    reason = "the default of 1 of 2; --precision fp16 takes FP16 for all"
    assert found == {("int8", reason)}
    assert {each.reason for each in choose_formats(pair, ["int8"], None).values()} == {""}


def test_boards_without_the_format_are_left_out() -> None:
    chips = [load_platform(name) for name in ("jetson-nano", "jetson-xavier-nx", "rk3588")]
    formats = choose_formats(chips, ["int8", "rk3588=fp16"], None)
    assert formats["jetson-nano"].left_out == "has no INT8 (FP32, FP16)"
    assert formats["rk3588"].remark.endswith("; FP16 as asked for, INT8 elsewhere")
    assert formats["jetson-xavier-nx"].remark == ""


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (["int4"], r"precision: \[BOARD=\]FORMAT with one of fp16, int8 is required, got 'int4'"),
        (["rk3589=int8"], "precision: there is no board 'rk3589'"),
        (["=int8"], "there is no board ''"),
        (["rk3588=int8=fp16"], "there is no board 'rk3588=int8'"),
    ],
)
def test_formats_that_are_none(asked: list[str], words: str) -> None:
    with pytest.raises(WorkloadError, match=words):
        choose_formats([load_platform("rk3588")], asked, None)


def test_without_a_common_format_the_error_lists_all(tmp_path: Path) -> None:
    chips = [load_platform(name) for name in ("neurocube", "raspberry-pi-5-hailo-8")]
    # With the Hailo alone there is nothing in common.
    hailo = tuple(unit for unit in chips[1].units if unit.name == "hailo")
    only = [chips[0], replace(chips[1], units=hailo)]
    with called_from(Door.COMMAND), pytest.raises(WorkloadError) as error:
        choose_formats(only, [], None)
    assert "--precision: the boards have no number format in common" in str(error.value)
    assert "neurocube: fp16; raspberry-pi-5-hailo-8: int8" in str(error.value)


@pytest.mark.parametrize(
    ("share", "standing"),
    [(1, "yes"), (0.9, "yes"), (0.89, "open"), (0.11, "open"), (0.1, "no"), (0, "no")],
)
def test_near_neither_end_the_answer_is_open(share: float, standing: str) -> None:
    assert standing_of(share).value == standing


def test_prices_come_before_energy() -> None:
    def board(name: str, standing: Standing, **more: object) -> Board:
        return Board(name, name, standing, **more)  # type: ignore[arg-type]

    def uses(energy: float) -> dict[str, Figure]:
        return {ENERGY: Figure(energy, energy, energy)}

    boards = [
        board("left", Standing.LEFT_OUT, price=1.0),
        board("no", Standing.FAILS, probability=0.05, price=1.0, figures=uses(1)),
        board("likely", Standing.UNKNOWN, probability=0.8, figures=uses(3)),
        board("unlikely", Standing.UNKNOWN, probability=0.2, figures=uses(1)),
        board("unpriced", Standing.SERVES, probability=1.0, figures=uses(1)),
        board("dear", Standing.SERVES, probability=1.0, price=9.0, figures=uses(2)),
        board("hungry", Standing.SERVES, probability=0.9, price=5.0, figures=uses(4)),
        board("cheap", Standing.SERVES, probability=0.9, price=5.0, figures=uses(3)),
    ]
    names = [each.name for each in in_order(boards, ENERGY)]
    assert names == ["cheap", "hungry", "dear", "unpriced", "likely", "unlikely", "no", "left"]


COMMAND = ("--groups", "3", "--max-evaluations", "100", "--draws", "10", "--jobs", "1")


def test_the_command_writes_table_page_and_picture(dse, tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("currency: EUR\nboards: {jetson-xavier-nx: 450, jetson-tx2: 1}\n")
    out = tmp_path / "<b>"
    boards = ",".join([*BOARDS, "jetson-agx-thor"])
    call = ("choose", workload(tmp_path), "-o", out, *COMMAND, "--boards", boards)
    done = dse(*call, "--price", prices)
    assert done.status == 0, done.err
    assert "All boards compute in FP16, the " in done.out
    assert "power at most 8 W" in done.out
    order = "Sorted by serves: boards that do by price, then energy; others by how often, then"
    assert order in " ".join(done.out.split())
    document = json.loads((out / "boards.json").read_text())
    assert json.loads(dse(*call, "--price", prices, "--json").out) == document
    assert document["boards"][0]["name"] == "jetson-xavier-nx"
    assert document["currency"] == "EUR"
    lines = done.out.splitlines()
    for board in document["boards"]:
        (line,) = [line for line in lines if line.startswith(board["name"]) and ":" not in line]
        assert f"{board['standing']} {100 * board['probability']:.0f} %" in line
        assert ("*" in line) == bool(board["assumed"])
    page = (out / "boards.html").read_text()
    assert "<script" not in page
    assert all(board["name"] in page for board in document["boards"])
    picture = ElementTree.fromstring((out / "boards.svg").read_text())
    texts = [element.text for element in picture.iter() if element.tag.endswith("text")]
    assert {"limit 8", "limit 100"} <= set(texts)
    unpriced = " ".join(dse(*call).out.split())
    assert order.replace("price, then ", "") in unpriced
    # A campaign's commands read the folder.
    assert "3 runs: 0 waiting, 2 finished, 1 infeasible" in dse("campaign", "status", out).out


def test_prices_are_by_the_names_of_the_table(dse, tmp_path: Path) -> None:
    """That of a platform file is in the file, and a power mode costs what its board does."""
    own, mode = tmp_path / "file.json", "jetson-orin-nano-8gb@15W"
    own.write_text('{"extends": "jetson-xavier-nx", "name": "own"}')
    prices = tmp_path / "prices.json"
    prices.write_text(
        '{"currency": "EUR", "boards": {"own": 1450000, "jetson-orin-nano-8gb": 280}}'
    )
    call = ("choose", workload(tmp_path), "-o", tmp_path / "o", *COMMAND, "--price", prices)
    done = dse(*call, "--boards", f"{own},{mode}")
    assert done.status == 0, done.err
    assert "EUR" in done.out
    rows = {line.split()[0].rstrip("*"): line.split() for line in done.out.splitlines() if line}
    assert "1,450,000" in rows["own"]
    assert "280" in rows[mode]
    assert "price [EUR]" in (tmp_path / "o" / "boards.html").read_text()
    prices.write_text(json.dumps({"boards": {str(own): 1450}}))
    assert "there is no board" in dse(*call, "--boards", own).err


def test_a_terminal_of_80_columns_shows_every_figure(dse, tmp_path: Path, monkeypatch: Any) -> None:
    """What does not fit stands in a further table below, with the boards again."""
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps({"currency": "EUR", "boards": dict.fromkeys(BOARDS, 1450)}))
    call = ("choose", workload(tmp_path), "-o", tmp_path / "o", *COMMAND, "--price", prices)
    wide = dse(*call, "--boards", ",".join(BOARDS)).out.partition("serves: ")[0]
    monkeypatch.setenv("COLUMNS", "80")
    narrow = dse(*call, "--boards", ",".join(BOARDS)).out.partition("serves: ")[0]
    assert set(wide.replace("─", "").split()) == set(narrow.replace("─", "").split())
    assert max(map(len, narrow.splitlines())) <= 80


def test_large_figures_have_no_exponent() -> None:
    assert [three_digits(value) for value in (0.12345, 999.7, 3374.6, inf)] == [
        *("0.123", "1,000", "3,375", "∞")
    ]


def test_no_board_for_it_is_status_1(dse, tmp_path: Path) -> None:
    path = workload(tmp_path, cap=0.5)
    done = dse("choose", path, "-o", tmp_path / "o", *COMMAND, "-p", BOARDS[0])
    assert done.status == 1
    assert "With nominal costs: power: at most 0.5 W, lowest found" in done.out.replace("\n", " ")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--boards", "jetson-orin-nano"), "platform 'jetson-orin-nano'"),
        (("--boards", "rk3588,rk3588"), "--boards: 'rk3588' is there twice"),
        (("--boards", ","), "--boards: at least one platform is required, or 'all'"),
        (("--boards", "all,rk3588"), "platform 'all'"),
        (("--boards", "jetson-nano", "--precision", "int8"), "int8"),
        (("--power-cap", "nan"), "--power-cap"),
        (("--power-cap", "-1"), "--power-cap"),
        (("--limit", "min-rate=3"), "--limit min-rate: --free-running is required"),
        (("--deadline", "nobody=3"), "--deadline: there is no network 'nobody' in the workload"),
        (("--dim", "seen:nothing=3"), "'seen' has no dynamic dimension 'nothing' (its sizes are"),
        (("--dim", "nothing=3"), "--dim: no network has a dynamic dimension 'nothing' (their"),
        (("--price", "none.yaml"), "none.yaml"),
        (("--price", "{folder}/odd.yaml"), "there is no board 'rk3589'"),
        (("--price", "{folder}/text.yaml"), "boards.rk3588"),
        (("--price", "{folder}/less.yaml"), "boards.rk3588"),
        (("--price", "{folder}/more.yaml"), "'price'"),
        (("--price", "{folder}/list.json"), "boards"),
    ],
)
def test_bad_input_is_one_line(dse, tmp_path: Path, more: tuple[str, ...], words: str) -> None:
    for name, text in {
        "odd.yaml": "boards: {rk3589: 3}",
        "text.yaml": "boards: {rk3588: cheap}",
        "less.yaml": "boards: {rk3588: -1}",
        "more.yaml": "boards: {rk3588: 1}\nprice: 3",
        "list.json": '{"boards": [1]}',
    }.items():
        (tmp_path / name).write_text(text)
    more = tuple(text.format(folder=tmp_path) for text in more)
    given = () if "--boards" in more else ("--boards", BOARDS[0])
    done = dse("choose", workload(tmp_path), "-o", tmp_path / "o", *COMMAND, *given, *more)
    assert done.status == 2
    assert words in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"boards": 3}, "boards"),
        ({"units": "gpu"}, "choose: there is no argument 'units'"),
        ({"max_accuracy_loss_percent": 1}, "choose: there is no argument 'max_accuracy"),
        ({"draws": 0}, "draws"),
        ({"prices": {"rk3588": -1}}, "prices"),
        ({"prices": {"rk3589": 1}}, "there is no board 'rk3589'"),
        ({"power_cap_w": -1}, "power_cap_w"),
        ({"precision": 8}, "precision"),
    ],
)
def test_bad_arguments(given: dict[str, object], words: str) -> None:
    with pytest.raises(WorkloadError, match=words):
        paretosoc.choose("squeezenet", **{"boards": "rk3588", **given})  # type: ignore[arg-type]


def test_a_killed_run_is_resumed(dse, tmp_path: Path) -> None:
    boards = ",".join([*BOARDS, "jetson-agx-xavier", "jetson-orin-nx-16gb"])
    call = ["choose", str(workload(tmp_path)), *COMMAND, "--boards", boards, "--json"]
    whole = dse(*call, "-o", tmp_path / "whole").out
    folder = tmp_path / "killed"
    command = [sys.executable, "-m", "paretosoc.dse.cli.main", *call, "-o", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while process.poll() is None and not (before := finished(folder)):
            time.sleep(0.02)
    finally:
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert before
    assert not (folder / "boards.json").exists() or len(before) == 4
    assert dse(*call, "-o", folder).out == whole
    after = finished(folder)
    assert len(after) == 4
    assert before.items() <= after.items()


def finished(folder: Path) -> dict[str, float]:
    """When each run has finished."""
    path = folder / "campaign.sqlite"
    if not path.exists():
        return {}
    with sqlite3.connect(path) as database:
        try:
            rows = database.execute(
                "SELECT hash, finished_at FROM runs WHERE status = 'finished'"
            ).fetchall()
        except sqlite3.OperationalError:
            return {}
    return dict(rows)


def test_an_interrupt_ends_all_boards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exploration that was interrupted is no failure, after which it would be tried again."""
    searched = []

    def interrupted(*arguments: object, **options: object) -> Front:
        searched.append(options["platform"])
        front = explore_problem(*arguments, **options)
        return replace(front, provenance=replace(front.provenance, stopped_by="interrupt"))

    monkeypatch.setattr(exploration, "explore_problem", interrupted)
    with pytest.raises(KeyboardInterrupt):
        paretosoc.choose("squeezenet", BOARDS, folder=tmp_path / "boards", draws=10, **EFFORT)
    assert len(searched) == 1
    monkeypatch.undo()
    found = paretosoc.choose("squeezenet", BOARDS, folder=tmp_path / "boards", draws=10, **EFFORT)
    assert {board.name for board in found.boards} == set(BOARDS)
