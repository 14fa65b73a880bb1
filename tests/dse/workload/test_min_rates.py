"""Least rates and fairness of networks that run freely, from the command line to the files."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paretosoc.dse.cli.main import run
from paretosoc.dse.engines.diagnose_infeasible import explain_infeasible
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.problem.constraint_status import ConstraintState
from paretosoc.dse.search.base import Violation
from paretosoc.dse.search.driver import Budget, SearchResult, StoppedBy, search
from paretosoc.dse.search.optimizers.nsga2 import Nsga2Engine
from paretosoc.dse.search.optimizers.plain import ExhaustiveEngine
from paretosoc.dse.search.surrogate.free_running_seeds import free_running_seeds
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload import workload_of
from paretosoc.dse.workload.workload_file import read_workload
from paretosoc.fitness.check.members.outcome import plain_outcome
from paretosoc.fitness.execution import schedule_of
from paretosoc.fitness.objectives import Outcomes, make_outcomes
from paretosoc.fitness.simulate_long_run import make_long_run_evaluator
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.export.report import report_html
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.front.choices import choose
from paretosoc.results.front.dominance import non_dominated
from paretosoc.results.io.canonical_json import canonical_bytes
from paretosoc.results.problem.limits import RATE, Constraint, constraints_of
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.rates import member_relative_ppm, times_alone_ps
from paretosoc.results.text.compare_fronts import compare_fronts
from paretosoc.results.text.front_rows import table_rows
from tests.dse.search.surrogate.test_free_running_seeds import free_space
from tests.support.problems.small_spaces import enumerated

RECOMPUTE = Path(__file__).parents[2] / "support" / "recompute_front.py"
NETWORKS = ("vgg16", "squeezenet", "densenet169")
ONCE = (1, 1, 1)
"""Images of a frame."""
MIN_HZ = 9


def explored(folder: Path, *more: str) -> Path:
    words = ["explore", *NETWORKS, "-p", "jetson-agx-xavier", "--free-running", "--groups", "4"]
    words += ["--objective", "throughput", "--objective", "power", "--power-cap", "15", "--quiet"]
    words += ["--runtime", "none", "--max-transitions", "any"]
    assert run([*words, "--max-evaluations", "60", *more, "-o", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def starved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return explored(tmp_path_factory.mktemp("starved") / "run")


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return explored(tmp_path_factory.mktemp("limited") / "run", "--limit", f"min-rate={MIN_HZ}")


@pytest.fixture(scope="module")
def fair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("fair") / "run"
    rates = ("--limit", "min-rate=2", "--limit", "min-rate:densenet169=3")
    return explored(place, *rates, "--objective", "fairness")


def smallest_rates(folder: Path) -> list[int]:
    return [min(member.free_run.rates_uhz(ONCE)) for member in read_results(folder).members]


def test_no_member_starves_a_network(starved: Path, limited: Path) -> None:
    """Without a least rate there are members that run a network at most at 65 % of it."""
    assert min(smallest_rates(starved)) < 0.65 * MIN_HZ * 10**6
    assert min(smallest_rates(limited)) >= MIN_HZ * 10**6
    assert len(smallest_rates(limited)) >= 2


@pytest.mark.parametrize("name", ["limited", "fair"])
def test_the_folder_is_verified(name: str, request: pytest.FixtureRequest, dse, capsys) -> None:
    folder = request.getfixturevalue(name)
    assert dse("verify", folder).status == 0
    assert runpy.run_path(str(RECOMPUTE))["main"](folder) == 0, capsys.readouterr().out


def test_fairness_is_the_smallest_relative_rate(fair: Path) -> None:
    front = read_results(fair)
    alone = times_alone_ps(front.problem)
    smallest = []
    for member in front.members:
        rates, periods = member.free_run.rates_uhz(ONCE), member.free_run.periods_ps
        assert min(rates) >= 2 * 10**6
        assert rates[2] >= 3 * 10**6
        shares = [10**6 * time // period for time, period in zip(alone, periods, strict=True)]
        assert member_relative_ppm(front.problem, member) == tuple(shares)
        assert member.objectives[2] == -min(shares)
        smallest.append(min(shares))
    assert max(smallest) > 10 * min(smallest), "a fair member, and one that is not"


Change = Callable[[dict[str, Any], dict[str, Any]], object]


def member_of(front: dict[str, Any]) -> dict[str, Any]:
    return front["members"][-1]


def another_period(front: dict[str, Any], problem: dict[str, Any]) -> None:
    periods = member_of(front)["free_run"]["frame_periods_ps"]
    periods["squeezenet"] -= 1
    periods["vgg16"] += 1


CHANGES: dict[str, tuple[Change, str]] = {
    "a higher limit": (
        lambda front, problem: problem["networks"][2].update(min_rate_uhz=10**9),
        "rate of densenet169 is",
    ),
    "a fairer figure": (
        lambda front, problem: member_of(front)["objectives"].update(negative_fairness_ppm=-1),
        "negative_fairness_ppm",
    ),
    "periods that have moved": (another_period, "periods_ps"),
    "a limit in a common frame": (
        lambda front, problem: problem["execution"].update(model="pipeline"),
        "fairness is an objective of the execution models free-running only",
    ),
    "no limit at all": (
        lambda front, problem: problem["networks"][2].pop("min_rate_uhz"),
        "min_rate_uhz",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_folder_is_found(fair: Path, name: str, tmp_path: Path, dse) -> None:
    change, words = CHANGES[name]
    front, problem = (
        json.loads((fair / file).read_bytes()) for file in ("front.json", "problem.json")
    )
    front["baselines"] = []
    change(front, problem)
    (tmp_path / "front.json").write_bytes(canonical_bytes(front))
    (tmp_path / "problem.json").write_bytes(canonical_bytes(problem))
    outcome = dse("verify", tmp_path, "--ignore-hashes")
    assert outcome.status == 1, outcome.out
    assert words in " ".join((outcome.out + outcome.err).split())


def test_every_view_shows_who_stands_back(starved: Path, limited: Path, fair: Path, dse) -> None:
    front = read_results(starved)
    slow = min(
        range(len(front.members)), key=lambda i: min(front.members[i].free_run.rates_uhz(ONCE))
    )
    member = front.members[slow]
    shares = member_relative_ppm(front.problem, member)
    worst = NETWORKS[shares.index(min(shares))]
    text = " ".join(dse("show", starved, "--member", slow).out.split())
    for network, ppm in zip(NETWORKS, shares, strict=True):
        assert f"throughput of {network}: " in text
        assert f"{ppm / 10**4:.4g}"[:4] in text
    assert text.count("% of its rate alone") == 3
    table = dse("show", starved).out
    assert "slowest" in table
    assert worst in table
    assert "rate alone" in table
    (row,) = (row for row in table_rows(front, choose(front, 0)) if row["member"] == slow)
    assert row["rates"][worst] == {
        "images_uhz": member.free_run.rates_uhz(ONCE)[NETWORKS.index(worst)],
        "relative_ppm": min(shares),
    }
    # Where fairness is an objective its column says it, and a note says what it means.
    said, _, _ = " ".join(dse("show", fair).out.split()).partition("Other methods")
    assert "rate alone" not in said.replace("as a share of its rate alone", "")
    compared = dse("compare", starved, limited)
    assert f"least rate of vgg16: none and {MIN_HZ} images/s" in compared.out
    assert "slowest network, of its rate alone" in compared.out
    sides = compare_fronts(front, read_results(limited))
    assert sides.first.fairness_ppm[0] == min(
        min(member_relative_ppm(front.problem, m)) for m in front.members
    )
    assert sides.first.fairness_ppm[0] <= sides.second.fairness_ppm[0]


def test_the_page_shows_it_too(limited: Path, open_page) -> None:
    front = read_results(limited)
    (share, *_) = member_relative_ppm(front.problem, front.members[0])
    with open_page(report_html(front, schedule_of), hash="#a=0") as page:
        text = page.locator("article[data-side=a]").inner_text()
    assert f"% of its rate alone, at least {MIN_HZ}" in text
    assert f"{share / 10**4:.3g}"[:3] in text


def test_a_mapping_that_starves_a_network_is_told(starved: Path, dse) -> None:
    slow = min(enumerate(smallest_rates(starved)), key=lambda pair: pair[1])[0]
    asked = [*NETWORKS, "-p", "jetson-agx-xavier", "--free-running", "--groups", "4"]
    asked += ["--runtime", "none", "--max-transitions", "any"]
    asked += [
        "--objective",
        "throughput",
        "--limit",
        f"min-rate={MIN_HZ}",
        "--from",
        starved,
        "--member",
        slow,
    ]
    outcome = dse("evaluate", *asked)
    assert outcome.status == 3
    words = "asked for: "
    assert any(
        line.startswith("FAILS rate of ") and f"at least {MIN_HZ} images/s {words}" in line
        for line in outcome.out.splitlines()
    )
    assert "images/s too little" in outcome.out
    document = json.loads(dse("evaluate", *asked, "--json").out)
    missed = [entry for entry in document["constraints"] if not entry["met"]]
    assert missed
    for entry in missed:
        assert (entry["bound"], entry["limit"], entry["unit"]) == ("least", MIN_HZ * 10**6, "uHz")
        assert entry["excess"] == MIN_HZ * 10**6 - entry["value"] > 0


def test_a_state_in_words() -> None:
    limit = Constraint(RATE, "rate of a", -5_000_000, 0)
    assert ConstraintState(limit, -5_000_000).describe() == (
        "rate of a: 5 images/s, at least 5 images/s asked for: 0 images/s to spare"
    )
    assert ConstraintState(limit, -70_000).describe() == (
        "rate of a: 0.07 images/s, at least 5 images/s asked for: 4.93 images/s too little"
    )


def test_what_cannot_be_met_ends_with_the_reason(tmp_path: Path, dse) -> None:
    outcome = dse(
        *("explore", *NETWORKS, "-p", "jetson-agx-xavier", "--free-running", "--groups", "4"),
        *("--objective", "throughput", "--objective", "power", "--limit", "min-rate:vgg16=4000"),
        *("--max-evaluations", "40", "--quiet", "-o", tmp_path / "run"),
    )
    assert outcome.status == 3
    assert outcome.lines[-2].startswith("dse: no feasible design point")
    assert "rate of vgg16: at least 4000 images/s asked for, highest found " in outcome.err
    assert "alone on its best unit it reaches 119" in outcome.err


def test_limits_that_are_met_one_by_one_are_listed() -> None:
    problem = built(min_rate_hz=((None, Fraction(5)), ("vgg16", Fraction(6))))
    count = len(constraints_of(problem))
    found = SearchResult(
        rows=np.zeros((0, 1), dtype=np.int64),
        objectives=np.zeros((0, 2), dtype=np.int64),
        least_constraint_values=np.full(count, -(10**9)),
        evaluations=7,
        seconds=1.0,
        stopped_by=StoppedBy.BUDGET,
    )
    lines = explain_infeasible(problem, found, seed=0)
    assert "each constraint was met alone, but not all together" in lines
    assert "rate of vgg16: at least 6 images/s asked for, highest found 1000 images/s" in lines


def built(workload=None, **options):
    chosen = {"objectives": ("throughput", "power"), "groups": 2, "free_running": True, **options}
    return build_problem(
        workload or workload_of(NETWORKS), load_platform("jetson-agx-xavier"), Options(**chosen)
    ).problem


def test_the_stricter_limit_holds_and_nothing_passes_by_rounding() -> None:
    text = b"""free_running: true
networks:
  - {network: vgg16, min_rate_hz: 2.5}
  - {network: squeezenet, copies: 2, min_rate_hz: 30}
  - {network: alexnet}
"""
    workload = read_workload(text, "a.yaml")
    assert [n.min_rate_hz for n in workload.networks] == [Fraction(5, 2), 30, 30, None]
    rates = [n.min_rate_uhz for n in built(workload, free_running=False).networks]
    assert rates == [2_500_000, 30_000_000, 30_000_000, None]
    asked = ((None, Fraction(10)), ("vgg16", Fraction(1, 3)), ("alexnet", Fraction(100, 7)))
    rates = [n.min_rate_uhz for n in built(workload, min_rate_hz=asked).networks]
    assert rates == [10_000_000, 30_000_000, 30_000_000, 14_285_715]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"min_rate_hz": ((None, Fraction(5)),)}, "min_rate_hz: free_running is required"),
        ({"objectives": ("fairness", "power")}, "the objective fairness: free_running is"),
    ],
)
def test_rates_need_networks_that_run_freely(options, words) -> None:
    with pytest.raises(WorkloadError, match=words):
        built(free_running=False, **options)
    assert not built(**options).execution.has_frame


def test_a_workload_file_with_rates_in_a_common_frame_is_refused() -> None:
    text = b"networks: [{network: alexnet, min_rate_hz: 3}]"
    with pytest.raises(WorkloadError, match=r"min_rate_hz \(of 'alexnet'\): free_running"):
        built(read_workload(text, "a.yaml"), free_running=False)


def test_a_network_that_is_not_there_is_refused() -> None:
    with pytest.raises(WorkloadError, match="min_rate_hz: there is no network 'vgg19'"):
        built(min_rate_hz=(("vgg19", Fraction(3)),))


def test_the_nearer_a_rate_is_to_its_limit_the_smaller_the_violation() -> None:
    problem = built(min_rate_hz=((None, Fraction(5)),), power_cap_w=Fraction(10))
    limits = [entry.limit for entry in constraints_of(problem)]
    least = [entry.is_least for entry in constraints_of(problem)]
    figures = np.tile(np.array(limits, dtype=np.int64), (6, 1))
    one, two, _ = np.flatnonzero(least)
    power = limits.index(10**7)
    figures[1, one] = -4_000_000
    figures[2, one] = -70_000
    figures[3, one] = -700
    figures[4, [one, two]] = -700
    figures[5, power] = 15 * 10**6
    outcomes = Outcomes(
        possible=np.ones(6, dtype=np.bool_),
        objectives=np.zeros((6, 2), dtype=np.int64),
        constraint_values=figures,
        feasible=np.array([True, False, False, False, False, False]),
    )
    violation = Violation(problem)(outcomes)
    assert violation[0] == 0.0
    assert np.all(np.diff(violation[:5]) > 0)
    # A network at a fifth of a per cent of its rate is a greater fault than half again the power.
    assert violation[3] > violation[5] > violation[1]


@pytest.mark.parametrize("objective", ["power", "fairness"])
def test_the_first_rows_keep_least_rates(objective: str) -> None:
    problem = built(
        objectives=("throughput", objective),
        groups=6,
        min_rate_hz=((None, Fraction(5)),),
        power_cap_w=Fraction(15),
    )
    space = DesignSpace(problem)
    evaluate = make_outcomes(problem)
    rows = free_running_seeds(space, np.random.default_rng(0))
    drawn = space.random(np.random.default_rng(0), 200)
    kept, by_chance = (evaluate(some).feasible.mean() for some in (rows, drawn))
    assert kept > 0.6 > by_chance


def test_fair_rows_are_fairer() -> None:
    fair = built(objectives=("throughput", "fairness"), groups=6)
    plain = replace(fair, objectives=built().objectives)
    best = [
        make_outcomes(fair)(free_running_seeds(DesignSpace(case), np.random.default_rng(0)))
        .objectives[:, 1]
        .min()
        for case in (fair, plain)
    ]
    assert best[0] < 1.3 * best[1] < 0


@pytest.mark.parametrize("seed", range(2))
def test_engines_find_the_front_that_plain_enumeration_has(seed: int) -> None:
    """Fairness against power, each network at its median rate at least."""
    shape = {"networks": (2, 2), "groups": (1, 2), "units": (2, 3), "points": (1, 2)}
    # Few rows: the plain evaluator takes long for free runs.
    spaces = (free_space([seed, draw], contention=True, **shape) for draw in count())
    base = next(space.problem for space in spaces if 15 < space.combinations < 40)
    base = replace(
        base, objectives=(Objective(ObjectiveKind.FAIRNESS), Objective(ObjectiveKind.POWER))
    )
    rows = enumerated(DesignSpace(base))
    medians = np.sort(make_long_run_evaluator(base)(rows).rate_uhz, axis=0)[len(rows) // 2]
    networks = tuple(
        replace(entry, min_rate_uhz=max(int(rate), 1))
        for entry, rate in zip(base.networks, medians, strict=True)
    )
    problem = replace(base, networks=networks)
    outcomes = [plain_outcome(problem, problem.design_of(row)) for row in rows]
    kept = np.array([o.objectives for o in outcomes if not o.broken], dtype=np.int64)
    assert 0 < len(kept) < len(rows)
    front = {tuple(row) for row in kept[non_dominated(kept)].tolist()}
    for engine in (ExhaustiveEngine, Nsga2Engine):
        searching = engine(DesignSpace(problem), seed=seed)
        result = search(searching, make_outcomes(problem), Budget(4 * len(rows) + 400))
        assert {tuple(row) for row in result.objectives.tolist()} == front, engine.name
