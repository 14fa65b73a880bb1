"""The examples run as they are."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import jsonschema
import pytest
import yaml

from examples.hax import fig5, fig6, table6, table7, table8
from examples.hax.published import METHODS, experiments, pairs, standalone_ms
from examples.tang import fronts
from paretosoc.dse.certificate.verify.verify import exit_status, verify
from paretosoc.results.export.result_folder import read_results, write_results
from paretosoc.results.front.front import Front
from paretosoc.results.plots.picture import Picture, Text
from paretosoc.results.problem.execution import ChannelUse, ClosedForm, IdleTime

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_explore_two_networks(tmp_path: Path) -> None:
    folder = tmp_path / "two"
    done = subprocess.run(
        [sys.executable, EXAMPLES / "explore_two_networks.py", folder, "500"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    front = read_results(folder)
    fastest = front.members[0]
    assert [network.name for network in front.problem.networks] == ["vgg19", "resnet50"]
    first, *rest = done.stdout.splitlines()
    assert first.startswith(f"{len(front.members)} members; ")
    assert f"{fastest.makespan_ps / 1e9:.3f} ms" in first
    assert rest[0].startswith("units of VGG-19's groups: ")
    assert front.provenance.evaluations == 500


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("tang.fronts --output /dev/null/x", "argument --output: /dev/null/x: Not a directory"),
        ("mapformer --pictures /dev/null/x", "argument --pictures: /dev/null/x: Not a directory"),
        (
            "mapformer.omniboost_training data.npz -o /dev/null/x",
            "argument -o/--output: /dev/null/x: Not a directory",
        ),
        ("mapformer.table3 --data none.npz", "none.npz: cannot be read: it is not there"),
        ("prompt_lengths nonsense", "no network 'nonsense' in the catalogue"),
        ("prompt_lengths qwen2-0.5b nonsense", "platform 'nonsense': there is no chip"),
        ("explore_two_networks --help-me", "unrecognized arguments: --help-me"),
    ],
)
def test_arguments_that_cannot_be_used_are_an_error_in_a_line(words: str, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *f"examples.{words}".split()],
        capture_output=True, text=True, check=False, cwd=EXAMPLES.parent,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert said in done.stderr.splitlines()[-1]


def test_a_search_is_logged_to_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    from examples.log_to_mlflow import main

    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "store").as_uri())
    main(tmp_path / "two", 300)
    (run,) = mlflow.MlflowClient().search_runs(["0"])
    assert run.info.status == "FINISHED"
    growth = mlflow.MlflowClient().get_metric_history(run.info.run_id, "hypervolume")
    assert [point.step for point in growth] == sorted({point.step for point in growth})
    assert [point.value for point in growth] == sorted(point.value for point in growth)
    front = read_results(tmp_path / "two")
    fastest = run.data.metrics["fastest latency ms"]
    assert fastest == pytest.approx(front.members[0].makespan_ps / 1e9)
    kept = {entry.path for entry in mlflow.MlflowClient().list_artifacts(run.info.run_id)}
    assert {"front.json", "problem.json", "costs.json"} <= kept


@pytest.mark.parametrize("file", sorted(EXAMPLES.rglob("*.yaml")), ids=lambda file: file.name)
def test_yaml_files_follow_the_schema_that_editors_check(file: Path) -> None:
    first, *_ = text = file.read_text("utf-8").splitlines()
    named = re.fullmatch(r"# yaml-language-server: \$schema=(.+\.schema\.json)", first)
    assert named, first
    schema = json.loads((file.parent / named[1]).read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(yaml.safe_load("\n".join(text)))


def test_the_notebook_for_papers_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its ten cells as code, in order, without Jupyter."""
    cells = json.loads((EXAMPLES / "paper.ipynb").read_text("utf-8"))["cells"]
    assert len(cells) == 10
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: None)
    scope: dict[str, object] = {}
    for cell in cells:
        assert cell.get("outputs", []) == []
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), cell["id"], "exec"), scope)
    printed = capsys.readouterr().out
    assert printed.count("\\begin{tabular}") == 2
    assert "True ['" in printed
    assert all((tmp_path / name).exists() for name in ("attainment.pdf", "front.pdf"))


def test_a_dataflow_graph_is_explored_and_verified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from paretosoc.dse.cli.main import run

    folder = str(tmp_path / "h263")
    graph, board = EXAMPLES / "sdf" / "h263decoder.xml", EXAMPLES / "platforms/two_processors.json"
    goals = ("--objective", "throughput", "--objective", "energy")
    assert run(["explore", str(graph), "-p", str(board), *goals, "-o", folder]) == 0
    printed = capsys.readouterr().out
    assert "complete: no design point is missing from the 8 members" in printed
    page = (EXAMPLES.parent / "docs" / "guides" / "workloads.md").read_text("utf-8")
    rows = re.findall(r"^(\d +[\d.]+ +[\d.]+) .*arm0", page, re.MULTILINE)
    assert len(rows) == 7
    assert all(row in printed for row in rows), printed
    assert run(["verify", folder]) == 0
    # The software pipeline has an iteration in each largest load: the fastest member is that fast.
    graph = tmp_path / "m.xml"
    assert run(["analyze", "csdf", folder, "--member", "fastest", "-o", str(graph)]) == 0
    assert "Left out: initial tokens of h263decoder" in capsys.readouterr().out
    assert run(["sdf", str(graph)]) == 0
    fastest = read_results(Path(folder)).members[0].objectives[0]
    assert f"throughput: 1/{fastest} iterations per time unit" in capsys.readouterr().out
    assert run(["show", folder]) == 0
    assert "Errors of times at the fastest clocks, median and 90th " in capsys.readouterr().out
    copy = tmp_path / "DECODER.XML"
    copy.write_bytes((EXAMPLES / "sdf" / "h263decoder.xml").read_bytes())
    for arguments, words in (
        (("run", folder), "is a dataflow graph, which has no programs to run"),
        (("profile", str(copy), "-o", f"{folder}.json"), "is a dataflow graph, whose times are in"),
        (("network", str(copy)), "'dse sdf' shows it"),
        (("measure", "next", folder), "have no models to measure"),
        (("network", str(EXAMPLES / "workloads" / "camera.yaml")), "is a workload file"),
    ):
        assert run(list(arguments)) == 2
        assert words in capsys.readouterr().err


def test_an_image_processor_takes_tasks_alone(tmp_path: Path) -> None:
    from paretosoc.dse.cli.main import run

    workload, board = "workloads/application.yaml", "platforms/orin_nano_vic.json"
    folders = {name: tmp_path / name.partition("/")[0] for name in ("jetson-orin-nano-8gb", board)}
    fronts = {}
    for name, folder in folders.items():
        chip = str(EXAMPLES / name) if name == board else name
        command = ["explore", str(EXAMPLES / workload), "-p", chip, "--groups", "2", "-q"]
        assert run([*command, "--objective", "energy", "-o", str(folder)]) == 0
        fronts[name] = read_results(folder)
        assert run(["verify", str(folder)]) == 0
        assert fronts[name].is_complete
    (best,), (without,) = (fronts[name].members for name in (board, "jetson-orin-nano-8gb"))
    problem = fronts[board].problem
    vic = next(u for u, unit in enumerate(problem.units) if unit.name == "vic")
    tasks = {n.name: [best.design.units[g] == vic for g in n.groups] for n in problem.networks}
    assert [name for name, on_it in tasks.items() if any(on_it)] == ["resize"]
    assert best.objectives < without.objectives


def test_the_published_tables_of_hax_conn() -> None:
    rows = experiments()
    assert [row.number for row in rows] == list(range(1, 11))
    assert rows[0].published_ms == dict(
        zip(METHODS, (17.05, 16.05, 19.73, 16.55, 13.01), strict=True)
    )
    assert rows[4].title == "googlenet > resnet152 + fcn_resnet18"
    assert table6.published_best(rows[3]) == ("gpu-only", 0.0)
    cells = {pair.networks: pair for pair in pairs()}
    assert len(cells) == 55
    assert sum(pair.gain >= table8.NO_GAIN for pair in cells.values()) == 45
    assert cells["resnet18", "inception_resnet_v2"].gain == pytest.approx(0.32)
    assert cells["resnet152", "inception_v4"].best_baseline == "herald"
    assert standalone_ms("xavier")["densenet121"] == (7.84, None)
    above = table6.gpu_above_alone(rows)
    assert list(above) == [1, 2, 4, 6, 7, 8]
    assert above[1] == pytest.approx(17.05 / (5.95 + 7.7) - 1)


def test_table_6_has_an_experiment_predicted_with_contention_and_without() -> None:
    (experiment,) = [row for row in experiments() if row.number == 6]
    (result,) = results = table6.predicted([experiment])
    _, prediction, free = result
    # Table 5: 1.07 + 2.19 ms, one after the other.
    assert prediction.ms["gpu-only"] == pytest.approx(3.26, abs=0.001)
    assert min(prediction.ms.values()) == prediction.ms["optimum"]
    assert prediction.status == "certified"
    assert free.ms["gpu-and-dsa"] < prediction.ms["gpu-and-dsa"]
    assert table6.error(experiment, prediction, "gpu-only") == pytest.approx(3.26 / 3.95 - 1, 0.01)
    document = json.loads(json.dumps(table6.document(results)))
    assert document["median_error"]["with_contention"]["gpu-only"] == pytest.approx(0.175, abs=0.01)
    assert document["experiments"] == 1


def test_the_page_has_what_the_command_of_table_6_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    results = table6.predicted(experiments())
    monkeypatch.setattr(table6, "predicted", lambda rows: results)
    monkeypatch.setattr("sys.argv", ["table6"])
    table6.main()
    assert "…" not in capsys.readouterr().out
    page = (EXAMPLES.parent / "docs/papers/hax_conn.md").read_text()
    section = page.partition("### Table 6\n")[2].partition("\n### ")[0]
    # Marks of stored figures stand above tables.
    marked = (re.sub(r"^<!--.*-->\n", "", part) for part in section.split("\n\n"))
    tables = [part for part in marked if part.startswith("|")]
    assert "\n\n".join(tables) == table6.markdown(results)
    text = " ".join(section.split())
    figures = table6.figures(results)
    certified = [str(row.number) for row, made, _ in results if made.status == "certified"]
    for said in (
        f"optima of experiments {', '.join(certified[:-1])} and {certified[-1]} are certified",
        f"over all methods and experiments is {figures['rank_correlation']:.3f}",
        f"within an experiment it is {figures['rank_correlation_within']:.3f} on average",
        f"the published one in {figures['best_baseline_reproduced']} of 10 experiments",
        f"something to gain agrees in {figures['gain_above_0_reproduced']} of 10",
        f"4 (published: nothing, predicted: {100 * table6.own_gain(results[3][1]):.0f} %)",
    ):
        assert said in text


def test_a_cell_of_table_8_is_certified() -> None:
    (pair,) = [p for p in pairs() if p.networks == ("resnet18", "densenet121")]
    result = (pair, table8.predicted(pair))
    assert result[1].status == "certified"
    assert max(network.repeats for network in result[1].comparison.problem.networks) == 5
    (cell,) = table8.document([result])["cells"]
    assert cell["published"] == {"best_baseline": "gpu-and-dsa", "gain": pytest.approx(0.14)}
    assert cell["predicted"]["gain"] >= 0


def test_two_instances_slowdown_and_cpu_time() -> None:
    prediction = fig5.predicted("resnet18")
    assert prediction.status == "certified"
    assert fig5.gain(prediction) >= 0
    slowdown = fig6.predicted("resnet18")
    assert slowdown.naive > 0
    assert slowdown.optimum >= 0
    cost = table7.measured("resnet18")
    assert cost.status == "certified"
    assert 0 <= cost.until_optimum_s <= cost.until_proof_s


def test_a_front_of_tang_beats_tensorrt_where_t_is_the_period(tmp_path: Path) -> None:
    result, front = fronts.explored("bvlc_alexnet", IdleTime.PERIOD, generations=3)
    assert result.idle_time == "T = period"
    assert result.tensorrt_beaten == result.tensorrt_points > 10
    assert result.tensorrt_equalled == 0
    # Fig. 6: only with CPU cores beside the GPU are there more than 100 images/s.
    assert result.most_fps > 100 > result.tensorrt_most_fps
    assert result.mj_at_tensorrt_most_fps < result.tensorrt_mj_at_most_fps
    assert result.evaluations == 15_000
    write_results(tmp_path / "run", front)
    assert exit_status(list(verify(tmp_path / "run"))) == 0


def test_tang_by_eq_12_as_printed_beats_fewer_points_and_takes_more_energy() -> None:
    result, front = fronts.explored("bvlc_alexnet", IdleTime.SUM_OF_LOADS, generations=3)
    assert front.problem.execution == ClosedForm(ChannelUse.BETWEEN_UNITS, IdleTime.SUM_OF_LOADS)
    assert result.idle_time == "T = sum of loads"
    assert 0 < result.tensorrt_equalled < result.tensorrt_points
    # Fig. 6: more than 100 images/s.
    assert result.most_fps > 100
    # One unit's load is the sum of all loads.
    by_period, other = fronts.explored("bvlc_alexnet", IdleTime.PERIOD, generations=3)
    assert by_period.tensorrt_beaten > result.tensorrt_beaten
    assert by_period.most_fps == result.most_fps
    assert by_period.mj_at_most_fps < result.mj_at_most_fps
    assert by_period.tensorrt_mj_at_most_fps == result.tensorrt_mj_at_most_fps
    both = [
        {b.member.objectives for b in f.baselines if b.name == "tensorrt-style"}
        for f in (front, other)
    ]
    assert both[0] == both[1] != set()


def test_the_command_for_tang_names_t_in_table_and_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn: list[Picture] = []
    draw = fronts.picture

    def seen(both: Sequence[Front]) -> Picture:
        drawn.append(draw(both))
        return drawn[-1]

    monkeypatch.setattr(fronts, "PAPER", {"bvlc_alexnet": "Fig. 6"})
    monkeypatch.setattr(fronts, "picture", seen)
    fronts.main(["--output", str(tmp_path / "tang"), "--generations", "1"])
    text = capsys.readouterr().out
    assert "sum of loads is Eq. 12 as printed" in text
    rows = [line.split() for line in text.splitlines() if line.strip().startswith("bvlc_alexnet ")]
    assert [row[1] for row in rows] == ["period", "sum"]
    for suffix in (".svg", ".png"):
        assert (tmp_path / "tang" / f"bvlc_alexnet{suffix}").stat().st_size > 1_000
    words = [part.words for part in drawn[0].parts if isinstance(part, Text)]
    names = ("ours, T = period", "ours, T = sum of loads", "TensorRT-style, either T")
    assert all(name in words for name in names)
    for time in IdleTime:
        front = read_results(tmp_path / "tang" / f"bvlc_alexnet-{time.value}")
        assert front.problem.execution == ClosedForm(ChannelUse.BETWEEN_UNITS, time)
