"""Fronts whose deadlines hold for all times in a tolerance."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import paretosoc as dse
from benchmarks.oracles.planned_play import play, stand_alone_ps
from benchmarks.problems.random_problem import random_design
from paretosoc.dse.cli.main import run
from paretosoc.dse.search.surrogate.lower_bounds import make_lower_bounds
from paretosoc.dse.space.members import make_members
from paretosoc.fitness.check.members.frames import simulate
from paretosoc.fitness.check.members.guarantee import plain_guarantee
from paretosoc.fitness.guarantee import first_come
from paretosoc.fitness.guarantee.first_come import guarantee_figures
from paretosoc.fitness.objectives import make_outcomes
from paretosoc.fitness.warm_up import smallest_problem
from paretosoc.results.export.result_folder import read_results, write_results
from paretosoc.results.problem.execution import Periodic
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.parts import ProblemNetwork
from paretosoc.results.problem.problem import DesignPoint, Problem
from paretosoc.results.text.rates import guarantee_lines
from tests.fitness.guarantee.test_guarantee import drawn
from tests.support.recomputed import recomputed, recomputed_members

PAIR = ("squeezenet", "bvlc_alexnet")
GUARANTEE = ("--tolerance", "0.7..1.05", "--deadline", "6")
TOLERANCE = ("--tolerance", "0.9..1")
OBJECTIVES = ("--objective", "guaranteed-latency", "--objective", "energy")


def explore(folder: Path, *more: str) -> int:
    return run(
        [
            *("explore", *PAIR, "-p", "jetson-agx-xavier", "-o", str(folder), "--quiet"),
            *("--groups", "6", "--max-evaluations", "1500", "--runtime", "none", *more),
        ]
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("guarantee") / "pair"
    assert explore(path, *GUARANTEE, *OBJECTIVES, "--max-nodes", "0") == 0
    return path


def test_members_keep_their_deadlines_for_all_times(folder: Path) -> None:
    front = read_results(folder)
    assert front.problem.tolerance_permille == (700, 1050)
    assert len(front.members) > 2
    for member in front.members:
        schedule = simulate(front.problem, member.design).schedule
        bound = plain_guarantee(front.problem, member.design, schedule, (700, 1050))
        assert member.objectives[0] == bound.makespan_ps
        assert bound.makespan_ps > member.makespan_ps
        assert max(bound.latency_ps) <= 6 * 10**9
    assert run(["verify", str(folder)]) == 0
    assert recomputed(folder) == 0


def test_show_says_what_is_guaranteed_and_what_first_come_first_served_does(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["show", str(folder)]) == 0
    heads = capsys.readouterr().out
    assert "nominal" in heads
    assert "come ms" in heads
    assert run(["show", str(folder), "--member", "0"]) == 0
    shown = capsys.readouterr().out
    assert "guaranteed latency of squeezenet: " in shown
    assert "with first come, first served up to" in shown
    assert run(["show", str(folder), "--json", "--all"]) == 0
    front = read_results(folder)
    for row in json.loads(capsys.readouterr().out):
        member = front.members[row["member"]]
        assert row["guarantee"]["makespan_ps"] == member.objectives[0]
        assert row["guarantee"]["first_come_ps"] >= member.makespan_ps


def test_first_come_first_served_can_miss_what_a_plan_keeps() -> None:
    """The example of docs/concepts/model.md: 9 ms become 12 ms if one group takes a third."""
    problem, design = anomaly()
    (figures,) = guarantee_figures(problem, [design])
    assert figures.makespan_ps == 9 * 10**9
    assert figures.first_come_ps == 11_999 * 10**6
    assert figures.late(problem) == ["B"]
    assert guarantee_lines(problem, figures)[-1].endswith("; misses the deadline of B")
    periodic = dataclasses.replace(problem, execution=Periodic(11 * 10**9))
    assert guarantee_lines(periodic, figures)[-1].endswith(
        "; misses the deadline of B; does not fit the period"
    )


@pytest.mark.parametrize("seed", [800, 801, 803, 804, 805, 807])
def test_first_come_first_served_is_seen_on_units_of_all_dispatches(seed: int) -> None:
    """The latest of the same plays by another simulator."""
    _, problem, design, tolerance = drawn(seed)
    problem = dataclasses.replace(problem, tolerance_permille=tolerance)
    (figures,) = guarantee_figures(problem, [design])
    alone = stand_alone_ps(problem, design)
    latest, of_networks = 0, [0] * len(problem.networks)
    for factors in first_come.play_factors(problem.group_count, tolerance).tolist():
        times = {run: time * factors[run[1]] // 1000 for run, time in alone.items()}
        end = play(problem, design, times).end
        latest = max(latest, *end.values())
        for (repeat, group), instant in end.items():
            n = problem.network_of[group]
            since = instant - problem.release_ps(n, repeat - 1)
            of_networks[n] = max(of_networks[n], since)
    assert figures.first_come_ps == latest
    assert list(figures.first_come_latency_ps) == of_networks


def anomaly() -> tuple[Problem, DesignPoint]:
    """Return the two networks of that example, with a deadline of 10 ms."""
    times = {0: (3, 4), 1: (2, 2, 5)}
    units = {0: (0, 1), 1: (2, 1, 0)}
    flat = [time * 10**9 for row in times.values() for time in row]
    (unit,), (domain,) = smallest_problem().units, smallest_problem().domains
    table = np.array(flat, dtype=np.int64).reshape(-1, 1)
    networks, first = [], 0
    for name, row in zip("AB", times.values(), strict=True):
        names = tuple(f"g{k}" for k in range(len(row)))
        networks.append(ProblemNetwork(name, first, deadline_ps=10**10, group_names=names))
        first += len(row)
    problem = dataclasses.replace(
        smallest_problem(),
        networks=tuple(networks),
        domains=(domain,),
        edges=((0, 1), (2, 3), (3, 4)),
        transition_ps=np.zeros((3, 3, 3), dtype=np.int64),
        units=tuple(
            dataclasses.replace(unit, name=name, time_ps=table, demand_kbps=table, dynamic_mw=table)
            for name in ("gpu", "dla", "cpu")
        ),
        allowed=np.ones((5, 3), dtype=np.bool_),
        tolerance_permille=(333, 1000),
        guarantee=True,
    )
    mapping = [u for row in units.values() for u in row]
    return problem, DesignPoint(np.array(mapping, dtype=np.int64), np.zeros(1, dtype=np.int64))


def test_a_guarantee_that_is_too_good_is_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    front = read_results(folder)
    first, *others = front.members
    better = dataclasses.replace(first, objectives=(first.objectives[0] - 1, first.objectives[1]))
    write_results(tmp_path / "run", dataclasses.replace(front, members=(better, *others)))
    assert run(["verify", str(tmp_path / "run")]) == 1
    assert "guaranteed_latency_ps" in capsys.readouterr().out


@pytest.mark.parametrize("seed", range(700, 712))
def test_a_third_program_recomputes_guarantees_of_all_dispatches(seed: int, tmp_path: Path) -> None:
    rng, problem, _, tolerance = drawn(seed)
    kind = ObjectiveKind.GUARANTEED_LATENCY
    of_networks = (Objective(kind, n) for n in range(len(problem.networks)))
    objectives = (Objective(kind), *of_networks)
    problem = dataclasses.replace(problem, objectives=objectives, tolerance_permille=tolerance)
    rows = np.stack([random_design(rng, problem).row for _ in range(2)])
    members = make_members(problem, rows, make_outcomes(problem)(rows).objectives)
    assert recomputed_members(tmp_path, problem, members) == 0
    values = list(members[0].objectives)
    values[seed % len(objectives)] -= 1
    tampered = dataclasses.replace(members[0], objectives=tuple(values))
    assert recomputed_members(tmp_path, problem, [tampered]) == 1


def test_only_bounds_are_proved_of_guaranteed_deadlines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "proved"
    assert explore(folder, *GUARANTEE, *OBJECTIVES) == 0
    assert sorted(path.name for path in folder.glob("*.tree")) == []
    assert read_results(folder).bounds is not None
    assert run(["verify", str(folder)]) == 0
    assert "bounds: within" in capsys.readouterr().out


def test_stand_alone_times_bound_guaranteed_latencies_from_below() -> None:
    for seed in range(500, 520):
        rng, problem, _, tolerance = drawn(seed)
        objectives = [Objective(ObjectiveKind.GUARANTEED_LATENCY)]
        objectives += [Objective(objectives[0].kind, n) for n in range(len(problem.networks))]
        problem = dataclasses.replace(
            problem, objectives=tuple(objectives), tolerance_permille=tolerance
        )
        rows = np.stack([random_design(rng, problem).row for _ in range(5)])
        guaranteed = make_outcomes(problem)(rows).objectives
        assert (make_lower_bounds(problem)(rows).objectives <= guaranteed).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--objective", "guaranteed-latency"), "guaranteed-latency: --tolerance is required"),
        (("--tolerance", "1.1..1.2"), "LEAST..MOST with 0 <= LEAST <= 1 <= MOST <= 10"),
        (("--tolerance", "0.9"), "LEAST..MOST with 0 <= LEAST <= 1 <= MOST <= 10"),
        (
            (*TOLERANCE, "--free-running", "--objective", "energy"),
            "free-running networks and --tolerance exclude",
        ),
        ((*GUARANTEE, "--objective", "throughput"), "frames of a pipeline overlap"),
    ],
)
def test_what_cannot_be_guaranteed_is_said(
    options: tuple[str, ...], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert explore(tmp_path / "run", *options) == 2
    assert words in capsys.readouterr().err


def test_responses_of_networks_with_rates_are_guaranteed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workload, folder = tmp_path / "rates.yaml", tmp_path / "run"
    networks = [{"network": PAIR[0], "rate_hz": 100, "deadline_ms": 6}]
    networks.append({"network": PAIR[1], "rate_hz": 50})
    workload.write_text(json.dumps({"networks": networks}))
    command = [
        *("explore", str(workload), "-p", "jetson-agx-xavier", "-o", str(folder), "--quiet"),
        *(
            "--groups",
            "5",
            "--runtime",
            "none",
            "--max-evaluations",
            "600",
            "--tolerance",
            "0.8..1.1",
        ),
        *("--objective", "guaranteed-response", "--objective", "power"),
    ]
    assert run(command) == 0
    front = read_results(folder)
    for member in front.members:
        schedule = simulate(front.problem, member.design).schedule
        bound = plain_guarantee(front.problem, member.design, schedule, (800, 1100))
        assert member.objectives[0] == max(bound.latency_ps) >= max(member.latencies_ps)
        assert bound.latency_ps[0] <= 6 * 10**9
        assert bound.makespan_ps <= 20 * 10**9
    assert run(["verify", str(folder)]) == 0
    assert recomputed(folder) == 0
    assert run(["show", str(folder), "--member", "0"]) == 0
    assert "guaranteed response of squeezenet: " in capsys.readouterr().out
    late = [*command[:-4], "--limit", "max-misses=1", *command[-4:], "--force"]
    assert run(late) == 2
    assert "exclude each other" in capsys.readouterr().err


LATE_CAMERA = """\
tasks:
  - {{name: camera, rate_hz: 50, jitter_ms: {jitter}, times: [{{unit: cpu, ms: 1}}]}}
networks:
  - {{name: detect, network: squeezenet, rate_hz: 50, waits_for: [camera], deadline_ms: 14}}
  - {{name: plan, network: alexnet, rate_hz: 25}}
"""
EXACT = ("--tolerance", "1..1")


def explored_late(folder: Path, jitter: float, *more: str) -> int:
    path = folder / f"{jitter}.yaml"
    path.write_text(LATE_CAMERA.format(jitter=jitter))
    names = ("-p", "jetson-orin-nano-8gb", "--groups", "1", "--max-evaluations", "300")
    call = ["explore", str(path), *names, *more, "-o", str(folder / str(jitter)), "-q", "--force"]
    return run(call)


def test_late_releases_are_guaranteed_and_bound_chains(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    aims = ("--objective", "guaranteed-response:detect", "--objective", "power")
    fastest, reactions = {}, {}
    for jitter in (0, 4):
        assert explored_late(tmp_path, jitter, *EXACT, *aims) == 0
        folder = tmp_path / str(jitter)
        assert run(["verify", str(folder)]) == 0
        assert recomputed(folder) == 0
        front = dse.load(folder)
        member = front.numeric.members[0]
        fastest[jitter] = member.objectives[0]
        reactions[jitter] = front[0].reaction_ms(["camera", "detect"])
        # The next release of the camera, and the response of what waits for it.
        assert reactions[jitter] == pytest.approx(20 + member.objectives[0] / 10**9)
        assert max(m.objectives[0] for m in front.numeric.members) <= 14 * 10**9
    # The camera may end at 4 + 1 ms.
    assert fastest[4] > 5 * 10**9 > fastest[0]
    capsys.readouterr()
    assert explored_late(tmp_path, 4, *aims) == 2
    assert run(["show", str(tmp_path / "4"), "--chain", "camera,detect", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)[0]
    assert first["reactions_ms"]["camera,detect"] == pytest.approx(reactions[4])
    assert explored_late(tmp_path, 13, *EXACT, *aims) == 3


@pytest.mark.parametrize(
    ("entry", "options", "words"),
    [
        ("rate_hz: 50, jitter_ms: 4", (), "jitter_ms (of 'a'): only guaranteed responses"),
        ("jitter_ms: 4", EXACT, "network 'a': jitter_ms needs rate_hz"),
        ("rate_hz: 50, jitter_ms: -1", EXACT, "jitter_ms"),
    ],
)
def test_jitter_that_nothing_accounts_for_is_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    entry: str,
    options: tuple[str, ...],
    words: str,
) -> None:
    path = tmp_path / "w.yaml"
    path.write_text(f"networks: [{{name: a, network: squeezenet, {entry}}}]")
    call = ["explore", str(path), "-p", "jetson-orin-nano-8gb", "-o", str(tmp_path / "o")]
    assert run([*call, *options]) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1
