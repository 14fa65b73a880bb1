"""Objects that other packages register: of the example, and broken ones."""

import csv
import json
import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import numpy as np
import pytest

from paretosoc.common import plugins
from paretosoc.dse.cli.measure.import_profile import IMPORTERS, command
from paretosoc.dse.engines.optimizers import OPTIMIZERS, optimizer_named
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.tools.deploy.formats import FORMATS
from paretosoc.fitness.profiles.profile_file import COST_MODELS
from paretosoc.platforms.errors import PlatformError
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import OTHER_RESULTS
from paretosoc.results.io.document import check_against_schema
from paretosoc.results.problem.own_objective import OWN_OBJECTIVES
from paretosoc.sdf.catalogue.catalogue import load_network

ROOT = Path(__file__).parents[2]
EXPLORE = ("explore", "alexnet", "-p", "jetson-agx-xavier", "-q", "--groups", "3")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Install the example as pip does: its modules, and its metadata with the entry points."""
    plugin, site = ROOT / "examples/plugin", tmp_path_factory.mktemp("site")
    project = tomllib.loads((plugin / "pyproject.toml").read_text("utf-8"))["project"]
    metadata = site / "paretosoc_plugin-0.1.0.dist-info"
    metadata.mkdir(parents=True)
    for module in plugin.glob("*.py"):
        shutil.copy(module, site)
    (metadata / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    groups = project["entry-points"].items()
    (metadata / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in entries.items())
            for group, entries in groups
        )
    )
    return site


def run(site, folder, *arguments):
    paths = [str(site), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return subprocess.run(
        [sys.executable, "-m", "paretosoc", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
    )


def test_an_installed_package_adds_an_engine_and_a_cost_model(installed, tmp_path):
    limits = ("--engine", "hill-climber", "--max-evaluations", "300", "--max-nodes", "0")
    done = run(installed, tmp_path, *EXPLORE, *limits, "-o", "cold")
    assert done.returncode == 0, done.stderr
    front = json.loads((tmp_path / "cold/front.json").read_text("utf-8"))
    assert front["provenance"]["engine"] == "hill-climber"
    assert front["members"]
    done = run(installed, tmp_path, *EXPLORE, *limits, "--profile", "warm-board", "-o", "warm")
    assert done.returncode == 0, done.stderr
    cold, warm = (
        np.array(json.loads((tmp_path / name / "problem.json").read_text())["units"][0]["time_ps"])
        for name in ("cold", "warm")
    )
    assert (warm == np.where(cold > 0, cold * 105 // 100, -1)).all()


def test_campaigns_have_objectives_of_installed_packages(installed, tmp_path):
    (tmp_path / "c.yaml").write_text(
        "networks: [alexnet]\nplatforms: [jetson-agx-xavier]\ngroup_counts: [3]\n"
        "objectives: ['latency, energy-delay']\nevaluations: [20]\n"
    )
    ran = run(installed, tmp_path, "campaign", "run", "c.yaml", "-o", "c", "-q")
    assert (ran.returncode, ran.stderr) == (0, "")
    table = run(installed, tmp_path, "campaign", "table", "c", "--value", "energy-delay", "--json")
    assert table.returncode == 0, table.stderr
    (((best,),),) = (json.loads(table.stdout)["cells"],)
    within = "energy-delay@latency=1000"
    table = run(installed, tmp_path, "campaign", "table", "c", "--value", within, "--json")
    assert json.loads(table.stdout)["cells"] == [[best]]
    for members in ((), ("--members",)):
        out = f"{len(members)}.csv"
        ran = run(installed, tmp_path, "campaign", "export", "c", "-o", out, *members)
        assert ran.returncode == 0, ran.stderr
        row = next(csv.DictReader((tmp_path / out).read_text().splitlines()))
        assert float(row["energy_delay_mJ ms"]) >= best > 0
    ran = run(installed, tmp_path, "campaign", "report", "c")
    assert ran.returncode == 0, ran.stderr
    assert "energy-delay" in (tmp_path / "c" / "report.html").read_text()


def test_an_installed_package_adds_an_objective(installed, tmp_path):
    goals = ("--objective", "latency", "--objective", "energy-delay")
    limits = ("--max-evaluations", "300", "--max-nodes", "0")
    done = run(installed, tmp_path, *EXPLORE, *limits, *goals, "-o", "own")
    assert done.returncode == 0, done.stderr
    done = run(installed, tmp_path, "show", "own", "--member", "least-energy-delay")
    assert (done.returncode, "mJ ms" in done.stdout) == (0, True), done.stderr
    done = run(installed, tmp_path, "verify", "own")
    assert done.returncode in (0, 4), done.stdout + done.stderr
    alone = run(tmp_path, tmp_path, "show", "own")
    assert alone.returncode == 2
    assert "registers it under paretosoc.objectives; got 'energy-delay'" in alone.stderr


def test_an_installed_package_adds_an_importer_and_a_deployment(installed, tmp_path):
    layer = next(a.layer.name for a in load_network("alexnet").graph.actors if a.layer)
    (tmp_path / "times.txt").write_text(f"{layer} 0.5\n")
    what = ("-n", "alexnet", "-p", "jetson-agx-xavier", "--at", "max")
    done = run(installed, tmp_path, "import", "stopwatch", "times.txt", *what, "-o", "profile.json")
    assert done.returncode == 0, done.stderr
    profile = json.loads((tmp_path / "profile.json").read_text())
    assert profile["networks"][0]["layers"] == [{"name": layer, "ms": {"gpu": 0.5}}]
    limits = ("--engine", "random", "--max-evaluations", "50", "--max-nodes", "0")
    done = run(installed, tmp_path, *EXPLORE, *limits, "--profile", "profile.json", "-o", "front")
    assert done.returncode == 0, done.stderr
    done = run(installed, tmp_path, "deploy", "front", "--to", "placement-list", "-o", "board")
    assert done.returncode == 0, done.stderr
    assert "placement.txt has" in done.stdout
    lines = (tmp_path / "board/placement.txt").read_text().splitlines()
    assert lines[-1].startswith("alexnet group")
    document = json.loads((tmp_path / "board/deployment.json").read_text())
    assert document["target"] == "placement-list"
    check_against_schema(document, "deployment")


def test_a_failure_of_an_importer_is_named(installed, tmp_path):
    (tmp_path / "times.txt").write_text("conv1 fast\n")
    what = ("-n", "alexnet", "-p", "jetson-agx-xavier", "--at", "max")
    done = run(installed, tmp_path, "import", "stopwatch", "times.txt", *what, "-o", "profile.json")
    assert done.returncode == 2
    words = "dse: dse import stopwatch: ValueError: could not convert string to float: "
    assert done.stderr.startswith(words)


@pytest.mark.parametrize("target", ["builtins:print", "json:loads"])
def test_an_importer_that_is_no_command_leaves_the_others(monkeypatch, target):
    entry = EntryPoint("mine", target, IMPORTERS.group)
    monkeypatch.setattr(plugins, "_registered", lambda _: {"mine": entry})
    group = command()
    assert {"mine", *IMPORTERS.own} == set(group.commands)
    with pytest.raises(PlatformError, match=r"dse import: parameters annotated as .* mine: "):
        group.main(["mine", "times.txt", "-n", "alexnet"], standalone_mode=False)


def test_what_is_installed_has_the_entry_points_of_the_sources():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    for group, entries in project["entry-points"].items():
        found = {entry.name: entry.value for entry in entry_points(group=group)}
        assert found.items() >= entries.items(), "install again: make setup"


def test_the_papers_are_registered_and_not_built_in():
    papers = {"kang-ga", "la-mcts", "mobile-i", "mosaic", "odmdef", "omniboost", "omniboost-star"}
    assert papers <= set(OPTIMIZERS.names())
    assert not papers & set(OPTIMIZERS.own)
    assert all(optimizer_named(name).name == name for name in papers)


@pytest.mark.parametrize(
    ("registry", "error"),
    [
        (OPTIMIZERS, WorkloadError),
        (COST_MODELS, PlatformError),
        (IMPORTERS, PlatformError),
        (FORMATS, ResultError),
        (OTHER_RESULTS, ResultError),
        (OWN_OBJECTIVES, ResultError),
    ],
)
@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("no_such_module:X", "cannot be loaded: ModuleNotFoundError"),
        ("json:no_such_name", "cannot be loaded: AttributeError"),
        ("json:__doc__", "is required, json:__doc__ is "),
    ],
)
def test_what_is_registered_wrongly_is_named(monkeypatch, registry, error, target, words):
    entry = EntryPoint("mine", target, registry.group)
    monkeypatch.setattr(plugins, "_registered", lambda _: {"mine": entry})
    with pytest.raises(error, match="--option mine: .*" + words):
        registry.get("mine", "--option")


@pytest.mark.parametrize("target", ["builtins:print", "builtins:max", "builtins:divmod"])
def test_a_cost_model_that_fails_is_named(monkeypatch, target):
    entry = EntryPoint("mine", target, COST_MODELS.group)
    monkeypatch.setattr(plugins, "_registered", lambda _: {"mine": entry})
    from paretosoc import Problem

    with pytest.raises(PlatformError, match="cost model 'mine' of another package: alexnet: "):
        Problem(["alexnet"], "jetson-agx-xavier", groups=3, profile="mine")


def test_the_nearest_name_is_suggested():
    with pytest.raises(WorkloadError, match="'nsg2'; did you mean nsga2"):
        optimizer_named("nsg2")
