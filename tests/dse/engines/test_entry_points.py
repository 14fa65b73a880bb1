"""Optimizers that other packages register."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from paretosoc.common import plugins
from paretosoc.dse.engines.optimizer_registry import OPTIMIZERS, optimizer_named
from paretosoc.dse.errors import WorkloadError

ROOT = Path(__file__).parents[3]


def test_an_installed_package_adds_an_engine(tmp_path):
    # As pip installs it: the module, and its metadata with the entry point.
    plugin, site = ROOT / "examples/plugin", tmp_path / "site"
    project = tomllib.loads((plugin / "pyproject.toml").read_text("utf-8"))["project"]
    metadata = site / "paretosoc_hill_climber-0.1.0.dist-info"
    metadata.mkdir(parents=True)
    shutil.copy(plugin / "hill_climber.py", site)
    (metadata / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    ((name, target),) = project["entry-points"][OPTIMIZERS.group].items()
    (metadata / "entry_points.txt").write_text(f"[{OPTIMIZERS.group}]\n{name} = {target}\n")
    command = [
        sys.executable,
        "-m",
        "paretosoc",
        "explore",
        "alexnet",
        "-p",
        "jetson-agx-xavier",
        "-q",
    ]
    command += ["--groups", "3", "--engine", "hill-climber", "--max-evaluations", "300"]
    paths = [str(site), str(ROOT), os.environ.get("PYTHONPATH", "")]
    subprocess.run(
        [*command, "-o", "front"],
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    front = json.loads((tmp_path / "front/front.json").read_text("utf-8"))
    assert front["provenance"]["engine"] == "hill-climber"
    assert front["members"]


def test_the_papers_are_registered_and_not_built_in():
    papers = {"kang-ga", "la-mcts", "mobile-i", "mosaic", "odmdef", "omniboost", "omniboost-star"}
    assert papers <= set(OPTIMIZERS.names())
    assert not papers & set(OPTIMIZERS.own)
    assert all(optimizer_named(name).name == name for name in papers)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("no_such_module:X", "cannot be loaded: ModuleNotFoundError"),
        ("json:no_such_name", "cannot be loaded: AttributeError"),
        ("json:loads", "an object with start"),
    ],
)
def test_what_is_registered_wrongly_is_named(monkeypatch, target, words):
    entry = EntryPoint("mine", target, OPTIMIZERS.group)
    monkeypatch.setattr(plugins, "_registered", lambda _: {"mine": entry})
    with pytest.raises(WorkloadError, match="--engine mine: .*" + words):
        optimizer_named("mine")


def test_the_nearest_name_is_suggested():
    with pytest.raises(WorkloadError, match="'nsg2'; did you mean nsga2"):
        optimizer_named("nsg2")
