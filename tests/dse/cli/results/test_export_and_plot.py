"""``dse analyze export`` and ``dse plot``: what they write and what they refuse."""

import json
import re
from dataclasses import replace

import optuna
import pytest

from paretosoc.dse.api.front import Front
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.export.trace import node_data


def test_trace_of_two_members(dse, pair_folder, tmp_path):
    file = tmp_path / "trace.json"
    outcome = dse(
        "analyze",
        "export",
        pair_folder,
        "--to",
        "perfetto",
        "-o",
        file,
        "--member",
        "fastest",
        "--member",
        "lowest-energy",
    )
    assert outcome.status == 0
    events = json.loads(file.read_text("utf-8"))["traceEvents"]
    front = read_results(pair_folder)
    assert sum(event["ph"] == "X" for event in events) == 2 * front.problem.group_count
    assert "(fastest)" in outcome.out
    assert dse("analyze", "export", pair_folder, "--to", "perfetto", "-o", file).status == 2


def test_missing_folders_of_a_file_are_made_with_it(dse, pair_folder, tmp_path):
    file = tmp_path / "new" / "pictures" / "x.svg"
    assert dse("plot", "front", pair_folder, "nothing", "-o", file).status == 2
    assert list(tmp_path.iterdir()) == []
    outcome = dse("plot", "front", pair_folder, "-o", file)
    assert outcome.status == 0, outcome.err
    assert "<svg" in file.read_text("utf-8")
    below = dse("plot", "front", pair_folder, "-o", file / "y.svg")
    assert below.status == 2
    assert "Not a directory" in below.err


def test_node_data_have_every_layer_with_its_unit(dse, pair_folder, tmp_path):
    file = tmp_path / "nodes.json"
    outcome = dse("analyze", "export", pair_folder, "--to", "model-explorer", "-o", file)
    assert outcome.status == 0, outcome.err
    front = Front.load(pair_folder)
    trace = json.loads(front.trace()[0])["traceEvents"]
    runs = {event["name"].partition(":")[0]: event["args"] for event in trace if event["ph"] == "X"}
    for network, origin in zip(front.problem.networks, front.costs.networks, strict=True):
        found = json.loads((tmp_path / f"nodes.{network.name}.json").read_text("utf-8"))["results"]
        assert list(found) == [layer for group in origin.groups for layer in group.layers]
        units = [front["fastest"].mapping[network.name][g] for g in range(len(origin.groups))]
        for unit, group in zip(units, origin.groups, strict=True):
            assert {found[layer]["value"].split(",")[0] for layer in group.layers} == {unit}
        for g, group in enumerate(origin.groups):
            run = runs[f"{network.name} {g}"]
            took_ps = run["end_ps"] - run["start_ps"]
            values = re.findall(r"[\d.e+-]+(?= m[sJ])", found[group.layers[0]]["value"])
            expected = (took_ps / 1e9, took_ps * run["dynamic_mw"] / 1e12)
            assert list(map(float, values)) == pytest.approx(expected, rel=1e-3)
    names, index = [n.name for n in front.problem.networks], front["fastest"].index
    written = [
        f"Written to {tmp_path / f'nodes.{name}.json'}: {name} of member {index}" for name in names
    ]
    assert outcome.out.splitlines() == written
    assert dse("analyze", "export", pair_folder, "--to", "model-explorer", "-o", file).status == 2


def test_node_data_of_layers_that_are_not_shown(pair_folder):
    """Beside a fast network a slow one that runs freely ends no frame in the part that is shown."""
    front = Front.load(pair_folder)
    shown = front["fastest"].scheduled
    cut = replace(shown.schedule, groups=shown.schedule.groups[:1])
    data = node_data(replace(shown, schedule=cut), front.costs)
    name = front.problem.networks[1].name
    unit = front["fastest"].mapping[name][0]
    first = front.costs.networks[1].groups[0].layers[0]
    found = json.loads(data[name])["results"][first]["value"]
    assert found == f"{unit}, starts after the shown part"


def test_a_study_has_all_members_as_its_best_trials(dse, pair_folder, tmp_path):
    file = tmp_path / "study.db"
    outcome = dse("analyze", "export", pair_folder, "--to", "optuna", "-o", file)
    assert outcome.status == 0, outcome.err
    study = optuna.load_study(storage=f"sqlite:///{file}", study_name=pair_folder.name)
    front = Front.load(pair_folder)
    assert [trial.values for trial in study.trials] == front.values.tolist()
    assert {t.number for t in study.best_trials} == set(range(len(front)))
    assert study.metric_names == list(front.objectives)
    fastest = study.trials[front["fastest"].index]
    assert "fastest" in fastest.user_attrs["name"]
    clocks = {name: mhz or 0 for name, mhz in front["fastest"].clocks_mhz.items()}
    assert {key.removesuffix(" MHz"): v for key, v in fastest.params.items() if "MHz" in key} == (
        pytest.approx(clocks)
    )
    told = dse("analyze", "export", pair_folder, "--to", "optuna", "-o", file, "--member", "knee")
    assert (told.status, len(told.lines)) == (2, 1)


@pytest.mark.parametrize(
    ("what", "suffix"),
    [
        *(("front", ".pdf"), ("gantt", ".png"), ("convergence", ".svg"), ("energy", ".svg")),
        ("roofline", ".svg"),
    ],
)
def test_every_plot_of_one_and_of_two_results(dse, pair_folder, tmp_path, what, suffix):
    for folders in ([pair_folder], [pair_folder, pair_folder]):
        file = tmp_path / f"{len(folders)}{suffix}"
        labels = [part for n in range(len(folders)) for part in ("--label", f"run {n}")]
        outcome = dse("plot", what, *folders, "-o", file, *labels)
        assert outcome.status == 0, outcome.err
        assert file.stat().st_size > 3000


def test_rooflines_of_networks_need_no_folder(dse, tmp_path):
    file = tmp_path / "roofs.svg"
    board = ("-p", "jetson-agx-xavier", "-o", file)
    sizes = ("--dim", "qwen2-0.5b:sequence=16")
    outcome = dse("plot", "roofline", "alexnet", "qwen2-0.5b", *board, *sizes)
    assert outcome.status == 0, outcome.err
    drawn = file.read_text("utf-8")
    for unit in ("cpu (cpu 2266 MHz", "gpu (gpu 1377 MHz", "dla0, dla1 (dla 1395 MHz"):
        assert f"fastest: {unit}" in drawn
    outcome = dse("plot", "gantt", "alexnet", *board, "--force")
    assert (outcome.status, len(outcome.lines)) == (2, 1)
    assert "--platform: is for roofline" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["front", "-o", "a.gif"], ".svg, .pdf or .png is required"),
        (["front", "-o", "a.svg", "--member", "knee"], "is for gantt, energy, roofline"),
        (["front", "-o", "a.svg", "--dim", "a=3"], "--dim: is for roofline with --platform"),
        (["gantt", "-o", "a.svg", "--label", "a", "--label", "b"], "--label: 1 required, got 2"),
        (["gantt", "-o", "a.svg", "--member", "best"], "a number from 0"),
        (["pie", "-o", "a.svg"], "pie"),
    ],
)
def test_refused_in_a_line(dse, pair_folder, tmp_path, monkeypatch, arguments, told):
    monkeypatch.chdir(tmp_path)
    what, *options = arguments
    outcome = dse("plot", what, pair_folder, *options)
    assert outcome.status == 2
    assert told in outcome.err
    assert len(outcome.lines) == 1
    assert list(tmp_path.iterdir()) == []
