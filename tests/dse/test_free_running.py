"""Networks that run freely, from the command line to the files and back."""

from __future__ import annotations

import json
import runpy
from fractions import Fraction
from pathlib import Path

import pytest

from dse.cli import run
from dse.errors import WorkloadError
from dse.explore import default_evaluations
from dse.options import Options, parse_deadline
from dse.problem_builder import build_problem
from dse.provable import refuse_unprovable
from dse.workload import workload_of
from dse.workload_file import read_workload
from platforms.platform_file import load_platform
from results.errors import ResultError
from results.pipeline_model import ThroughputModel

RECOMPUTE = Path(__file__).parents[1] / "results" / "recompute_front.py"
ASKED = ("throughput", "power", "efficiency")


def built(workload=None, **options):
    chosen = {"objectives": ("throughput", "power"), "groups": 2, "free_running": True, **options}
    return build_problem(
        workload or workload_of(["alexnet", "squeezenet"]),
        load_platform("jetson-agx-xavier"),
        Options(**chosen),
    ).problem


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("free") / "run"
    words = ["explore", "alexnet", "squeezenet*2", "-p", "jetson-agx-xavier", "--free-running"]
    for name in ASKED:
        words += ["--objective", name]
    words += ["--power-cap", "12", "--groups", "2", "--units", "cpu,gpu,dla0", "--quiet"]
    assert run([*words, "--max-evaluations", "60", "-o", str(place)]) == 0
    front = json.loads((place / "front.json").read_bytes())
    assert 2 <= len(front["members"]) <= 40
    return place


def test_the_script_of_the_standard_library_agrees(folder: Path, capsys) -> None:
    assert runpy.run_path(str(RECOMPUTE))["main"](folder) == 0, capsys.readouterr().out


def test_the_folder_is_verified_and_shown(folder: Path, dse) -> None:
    assert dse("verify", folder).status == 0
    shown = dse("show", folder, "--member", "0")
    assert shown.status == 0
    front = json.loads((folder / "front.json").read_bytes())
    member = front["members"][0]
    assert member["objectives"]["power_uw"] <= 12 * 10**6
    assert member["objectives"]["energy_per_inference_fj"] == member["energy_fj"]
    mean = 8 * 10**12 / member["objectives"]["window_of_8_frames_ps"]
    lines = [line for line in shown.out.splitlines() if line.startswith("throughput of ")]
    rates = [float(line.partition(": ")[2].split()[0]) for line in lines]
    assert len(rates) == 3
    assert sum(rates) / 3 == pytest.approx(mean, rel=1e-3)
    for command, ending in (("trace", "json"), ("report", "html")):
        assert dse(command, folder, "-o", folder.parent / f"{command}.{ending}").status == 0


def test_a_changed_figure_is_found(folder: Path, tmp_path: Path, dse) -> None:
    front = json.loads((folder / "front.json").read_bytes())
    front["members"][0]["objectives"]["window_of_8_frames_ps"] += 1
    (tmp_path / "front.json").write_text(json.dumps(front))
    (tmp_path / "problem.json").write_bytes((folder / "problem.json").read_bytes())
    outcome = dse("verify", tmp_path, "--ignore-hashes")
    assert outcome.status != 0
    assert "window_of_8_frames_ps" in outcome.out + outcome.err


def test_a_workload_file_says_it_too() -> None:
    text = b"free_running: true\nnetworks: [{network: alexnet}, {network: squeezenet}]\n"
    problem = built(read_workload(text, "a.yaml"), free_running=False)
    assert problem.free_running
    assert problem.frames_in_flight == 2
    with pytest.raises(WorkloadError, match="free_running"):
        read_workload(b"free_running: 1\nnetworks: [{network: alexnet}]\n", "a.yaml")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"objectives": ("latency", "power")}, "the objective latency exclude each other"),
        ({"objectives": ("throughput", "latency:alexnet")}, "the objective latency:alexnet"),
        ({"objectives": ("throughput", "inverse-latency")}, "the objective inverse-latency"),
        ({"objectives": ("throughput", "stretch")}, "the objective stretch"),
        ({"deadlines_ms": (parse_deadline("5"),)}, "--deadline"),
        ({"frames_per_second": Fraction(30)}, r"a frame rate \(--fps\)"),
        ({"throughput_model": ThroughputModel.ANALYTIC}, "--throughput-model analytic"),
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


def test_balance_is_refused(dse, tmp_path: Path) -> None:
    outcome = dse(
        *("explore", "alexnet", "squeezenet", "-p", "jetson-agx-xavier", "--free-running"),
        *("--balance", "--objective", "throughput", "--objective", "power"),
        *("-o", tmp_path / "run"),
    )
    assert outcome.status != 0
    assert "--balance and free-running networks exclude each other" in outcome.err


def test_nothing_is_proved_about_them() -> None:
    with pytest.raises(ResultError, match="throughput of free-running networks"):
        refuse_unprovable(built(), [0])


def test_ten_of_the_heaviest_networks_fit_at_all_clocks() -> None:
    names = ["vit_h_14", "vit_l_16", "vit_l_32", "swin_b", "regnet_y_128gf", "convnext_large"]
    names += ["efficientnet_b7", "maxvit_t", "efficientnet_v2_l", "densenet201"]
    problem = built(workload_of(names), groups=20)
    assert len(problem.networks) == 10
    assert all(domain.allowed.all() for domain in problem.domains)


def test_free_running_networks_have_a_small_budget_of_their_own() -> None:
    assert default_evaluations(built()) == 300
    assert default_evaluations(built(free_running=False)) == 100_000
