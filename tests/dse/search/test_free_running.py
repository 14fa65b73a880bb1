"""Networks that run freely, from the command line to the files and back."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from paretosoc.dse.certificate.preconditions import check_provable
from paretosoc.dse.cli.main import run
from paretosoc.dse.engines.explore import default_evaluations
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem.build import build_problem
from paretosoc.dse.workload.options import Options, ThroughputModel
from paretosoc.dse.workload.workload import workload_of
from paretosoc.dse.workload.workload_file import read_workload
from paretosoc.fitness.execution import schedule_of, scheduled
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.results.errors import ResultError
from paretosoc.results.export.report import report_html
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.plots.gantt import draw_gantts
from paretosoc.results.plots.picture import Text
from paretosoc.results.problem.execution import FreeRunning, Pipeline
from paretosoc.results.text.rates import describe_shown_part
from paretosoc.results.text.schedule import activity, stretches

RECOMPUTE = Path(__file__).parents[2] / "support" / "recompute_front.py"
ASKED = ("throughput", "power", "efficiency")


def built(workload=None, **options):
    chosen = {"objectives": ("throughput", "power"), "groups": 2, "free_running": True, **options}
    return build_problem(
        workload or workload_of(["alexnet", "squeezenet"]),
        load_platform("jetson-agx-xavier"),
        Options(**chosen),
    ).problem


def explored(place: Path, *networks: str) -> Path:
    words = ["explore", *networks, "-p", "jetson-agx-xavier", "--free-running"]
    for name in ASKED:
        words += ["--objective", name]
    words += ["--power-cap", "12", "--groups", "2", "--units", "cpu,gpu,dla0", "--quiet"]
    words += ["--runtime", "none"]
    assert run([*words, "--max-evaluations", "60", "-o", str(place)]) == 0
    front = json.loads((place / "front.json").read_bytes())
    assert 2 <= len(front["members"]) <= 40
    return place


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return explored(tmp_path_factory.mktemp("free") / "run", "alexnet", "squeezenet*2")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One network, whose state recurs before 1000 executions have ended."""
    return explored(tmp_path_factory.mktemp("free") / "run", "alexnet")


def test_the_script_of_the_standard_library_agrees(folder: Path, alone: Path, capsys) -> None:
    for place in (folder, alone):
        assert runpy.run_path(str(RECOMPUTE))["main"](place) == 0, capsys.readouterr().out


def test_the_folder_is_verified_and_shown(folder: Path, dse) -> None:
    assert dse("verify", folder).status == 0
    shown = dse("show", folder, "--member", "0")
    assert shown.status == 0
    front = json.loads((folder / "front.json").read_bytes())
    member = front["members"][0]
    assert member["objectives"]["power_uw"] <= 12 * 10**6
    assert member["objectives"]["energy_per_image_fj"] == member["energy_fj"]
    mean = 10**12 / member["objectives"]["time_per_image_ps"]
    lines = [line for line in shown.out.splitlines() if line.startswith("throughput of ")]
    rates = [float(line.partition(": ")[2].split()[0]) for line in lines]
    assert len(rates) == 3
    assert sum(rates) / 3 == pytest.approx(mean, rel=1e-3)
    perfetto = "analyze", "export", "--to", "perfetto"
    for command, file in ((perfetto, "trace.json"), (("report",), "report.html")):
        assert dse(*command, folder, "-o", folder.parent / file).status == 0


def test_a_changed_figure_is_found(folder: Path, tmp_path: Path, dse) -> None:
    front = json.loads((folder / "front.json").read_bytes())
    front["members"][0]["objectives"]["time_per_image_ps"] += 1
    (tmp_path / "front.json").write_text(json.dumps(front))
    (tmp_path / "problem.json").write_bytes((folder / "problem.json").read_bytes())
    outcome = dse("verify", tmp_path, "--ignore-hashes")
    assert outcome.status == 1
    assert "time_per_image_ps" in outcome.out + outcome.err


Change = Callable[[dict[str, Any]], object]


CHANGES: dict[str, Change] = {
    "shown for longer": lambda member: member["free_run"].update(
        shown_ps=member["free_run"]["shown_ps"] - 1
    ),
    "another window": lambda member: member["free_run"]["window_ps"].__setitem__(
        0, member["free_run"]["window_ps"][0] + 1
    ),
    "another period": lambda member: member["free_run"]["frame_periods_ps"].update(
        alexnet=member["free_run"]["frame_periods_ps"]["alexnet"] + 1
    ),
    "no window": lambda member: member.update(free_run=None),
    "the makespan": lambda member: member.update(makespan_ps=member["makespan_ps"] + 1),
    "the energy of a unit": lambda member: member["energy_by_unit_fj"].update(
        gpu=member["energy_by_unit_fj"]["gpu"] - 1
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_free_run_is_found(folder: Path, name: str, tmp_path: Path, dse, capsys) -> None:
    """By verify, and by the script of the standard library."""
    front = json.loads((folder / "front.json").read_bytes())
    place = len(front["members"]) - 1
    CHANGES[name](front["members"][place])
    (tmp_path / "front.json").write_text(json.dumps(front))
    (tmp_path / "problem.json").write_bytes((folder / "problem.json").read_bytes())
    outcome = dse("verify", tmp_path, "--ignore-hashes")
    assert outcome.status == 1, outcome.out
    # The script looks at each member for itself: the changed one is enough.
    del front["members"][:place]
    (tmp_path / "front.json").write_text(json.dumps(front))
    capsys.readouterr()
    assert runpy.run_path(str(RECOMPUTE))["main"](tmp_path) == 1
    assert "member 0: " in capsys.readouterr().out


def test_a_window_moved_as_it_is_is_found(folder: Path, tmp_path: Path, dse) -> None:
    """Figures that agree with each other, but are not what the timeline gives."""
    front = json.loads((folder / "front.json").read_bytes())
    run = front["members"][0]["free_run"]
    run["shown_ps"] += 1
    run["window_ps"] = [instant + 1 for instant in run["window_ps"]]
    (tmp_path / "front.json").write_text(json.dumps(front))
    (tmp_path / "problem.json").write_bytes((folder / "problem.json").read_bytes())
    outcome = dse("verify", tmp_path, "--ignore-hashes")
    assert outcome.status == 1
    assert "member 0: the window is " in outcome.out


def test_what_is_shown_is_the_free_run(folder: Path, alone: Path) -> None:
    for place in (folder, alone):
        front = read_results(place)
        for member in front.members:
            schedule, run = schedule_of(front.problem, member.design), member.free_run
            assert run is not None
            assert max(row.frame for row in schedule.groups) >= 2
            assert all(row.start_ps < run.shown_ps for row in schedule.groups)
            assert run.shows_window == (place == alone)
            if not run.shows_window:
                assert 1000 <= len(schedule.groups) < 1000 + 2 * len(front.problem.units)


def test_every_view_says_what_it_shows(folder: Path, alone: Path, tmp_path: Path, dse) -> None:
    for index, place in enumerate((folder, alone)):
        front = read_results(place)
        member = front.members[0]
        picture = scheduled(front.problem, member)
        words = describe_shown_part(member.free_run)
        shown = dse("show", place, "--member", 0).out
        assert f"schedule: {words}" in " ".join(shown.split())
        assert ("more rows: --all" in shown) == (len(stretches(picture.schedule)) > 40)
        every = dse("show", place, "--member", 0, "--all").out
        assert len(every.splitlines()) >= len(stretches(picture.schedule))
        trace = tmp_path / f"{index}.json"
        assert (
            dse("analyze", "export", place, "--to", "perfetto", "--member", 0, "-o", trace).status
            == 0
        )
        events = json.loads(trace.read_bytes())["traceEvents"]
        executions = [e for e in events if e["ph"] == "X" and e["cat"] != "window"]
        assert len(executions) == len(picture.schedule.groups)
        (name,) = [e["args"]["name"] for e in events if e["name"] == "process_name"]
        assert name.endswith(words)
        windows = [e for e in events if e["name"] == "counted window"]
        begin, end = member.free_run.window_ps
        assert [(e["args"]["begin_ps"], e["args"]["end_ps"]) for e in windows] == (
            [(begin, end)] if begin < member.free_run.shown_ps else []
        )
        drawn = [item for item in draw_gantts([("", picture)]).items if isinstance(item, Text)]
        assert drawn[0].words == words


def test_evaluate_names_its_own_option_for_the_rest(folder: Path, dse) -> None:
    shown = dse("evaluate", "--from", folder, "--member", 0)
    assert shown.status == 0
    assert "more rows: --json" in shown.out
    assert "--all" not in shown.out


def test_the_power_over_the_window_is_the_energy_that_is_claimed(alone: Path) -> None:
    front = read_results(alone)
    for member in front.members:
        run = member.free_run
        figures = activity(front.problem, member)
        begin, end = run.window_ps
        energy = (sum(figures.idle_mw) + figures.base_mw) * (end - begin)
        for row in schedule_of(front.problem, member.design).groups:
            power = figures.dynamic_mw[row.group]
            energy += power * max(min(row.end_ps, end) - max(row.start_ps, begin), 0)
        (period,) = run.periods_ps
        assert energy * period // (end - begin) == member.energy_fj


def test_the_page_draws_the_free_run(alone: Path, open_page) -> None:
    front = read_results(alone)
    member = front.members[0]
    with open_page(report_html(front, schedule_of), hash="#a=0") as page:
        found = page.locator("article[data-side=a] g.bar[data-group]").evaluate_all(
            "bars => bars.map(bar => [Number(bar.dataset.start), Number(bar.dataset.group)])"
        )
        assert sorted(map(tuple, found)) == sorted(
            (row.start_ps, row.group) for row in schedule_of(front.problem, member.design).groups
        )
        assert page.locator("article[data-side=a] rect.window").count() == 1
        text = page.locator("article[data-side=a]").inner_text()
        assert describe_shown_part(member.free_run) in text
        assert "Throughput of alexnet" in text


def test_objectives_where_none_are_named(dse, tmp_path: Path) -> None:
    command = ("explore", "alexnet", "-p", "jetson-tx2", "--groups", "2", "--max-nodes", "0")
    limit = ("--max-evaluations", "20", "-o", tmp_path / "run")
    shown = dse(*command, "--free-running", *limit)
    assert "Objectives, since none were named: throughput, energy." in shown.out
    kinds = [entry.kind.value for entry in read_results(tmp_path / "run").problem.objectives]
    assert kinds == ["throughput", "energy"]


def test_a_workload_file_says_it_too() -> None:
    text = b"free_running: true\nnetworks: [{network: alexnet}, {network: squeezenet}]\n"
    problem = built(read_workload(text, "a.yaml"), free_running=False)
    assert problem.execution == FreeRunning(2)
    with pytest.raises(WorkloadError, match="free_running"):
        read_workload(b"free_running: 1\nnetworks: [{network: alexnet}]\n", "a.yaml")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"objectives": ("latency", "power")}, "the objective latency exclude each other"),
        ({"objectives": ("throughput", "latency:alexnet")}, "the objective latency:alexnet"),
        ({"objectives": ("throughput", "inverse-latency")}, "the objective inverse-latency"),
        ({"objectives": ("throughput", "stretch")}, "the objective stretch"),
        ({"deadline_ms": ((None, Fraction(5)),)}, "deadline_ms"),
        ({"frames_per_second": Fraction(30)}, "frames_per_second exclude each other"),
        ({"throughput_model": ThroughputModel.ANALYTIC}, "throughput_model='analytic'"),
    ],
)
def test_options_of_a_common_frame_are_refused_by_name(options, words) -> None:
    with pytest.raises(WorkloadError, match=words):
        built(**options)


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("waits_for: [alexnet]", "waits_for .*'squeezenet' waits for 'alexnet'"),
        ("arrival_ms: 1", "arrival_ms .of 'squeezenet'"),
        ("deadline_ms: 9", "deadline_ms .of 'squeezenet'"),
    ],
)
def test_keys_of_a_common_frame_are_refused_by_name(extra, words) -> None:
    text = f"networks: [{{network: alexnet}}, {{network: squeezenet, {extra}}}]"
    with pytest.raises(WorkloadError, match=words):
        built(read_workload(text.encode(), "a.yaml"))


def test_frames_in_flight_win_over_the_file() -> None:
    text = b"free_running: true\nframes_in_flight: 4\nnetworks: [{network: alexnet}]\n"
    assert built(read_workload(text, "a.yaml")).execution == FreeRunning(4)
    assert built(read_workload(text, "a.yaml"), frames_in_flight=3).execution == FreeRunning(3)
    pipeline = built(objectives=("throughput", "energy"), free_running=False, frames_in_flight=1)
    assert pipeline.execution == Pipeline(1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"objectives": ("latency", "energy"), "free_running": False}, "the objective throughput"),
        ({"free_running": False, "throughput_model": ThroughputModel.ANALYTIC}, "on the timeline"),
        ({"frames_in_flight": 9}, "from 1 to 8 is required, got 9"),
    ],
)
def test_frames_in_flight_that_mean_nothing_are_refused(options, words) -> None:
    with pytest.raises(WorkloadError, match=words):
        built(**{"frames_in_flight": 2, **options})


def test_frames_in_flight_on_the_command_line(dse, tmp_path: Path) -> None:
    words = ["explore", "alexnet", "squeezenet", "-p", "jetson-tx2", "--groups", "2", "-q"]
    words += ["--objective", "throughput", "--objective", "energy", "--engine", "mobile-i"]
    words += ["--max-evaluations", "40", "--max-nodes", "0"]
    assert dse(*words, "--frames-in-flight", "5", "-o", tmp_path / "run").status == 0
    assert read_results(tmp_path / "run").problem.execution == Pipeline(5)
    outcome = dse(*words, "--frames-in-flight", "9", "-o", tmp_path / "other")
    assert outcome.status == 2
    assert "--frames-in-flight" in outcome.err


def test_balance_is_refused(dse, tmp_path: Path) -> None:
    outcome = dse(
        *("papers", "explore", "alexnet", "squeezenet", "-p", "jetson-agx-xavier"),
        *("--free-running", "--balance", "--objective", "throughput", "--objective", "power"),
        *("-o", tmp_path / "run"),
    )
    assert outcome.status == 2
    assert "--balance and free-running networks exclude each other" in outcome.err


def test_nothing_is_proved_about_them() -> None:
    with pytest.raises(ResultError, match="of free-running networks"):
        check_provable(built(), [0])


def test_ten_of_the_heaviest_networks_fit_at_all_clocks() -> None:
    names = ["vit_h_14", "vit_l_16", "vit_l_32", "swin_b", "regnet_y_128gf", "convnext_large"]
    names += ["efficientnet_b7", "maxvit_t", "efficientnet_v2_l", "densenet201"]
    problem = built(workload_of(names), groups=20)
    assert len(problem.networks) == 10
    # Only the host has clocks that are not offered.
    fixed = [domain.name for domain in problem.domains if not domain.allowed.all()]
    assert fixed == ["cpu"]


def test_free_running_networks_have_a_small_budget_of_their_own() -> None:
    assert default_evaluations(built()) == 300
    assert default_evaluations(built(free_running=False)) == 100_000
