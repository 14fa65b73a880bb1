"""Distributions that own one of our import names."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from common.distributions import IMPORT_NAMES, foreign_owners
from dse.cli.main import run


def test_another_owner_of_an_import_name_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = foreign_owners()
    info = tmp_path / "other_results-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-results\nVersion: 1.0\n")
    # Python 3.12 leaves out files that are not there. With an __init__.py it would hide our own.
    (info / "RECORD").write_text("results/other.py,,\n")
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "other.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert foreign_owners() == {**before, "results": ("other-results",)}
    assert run(["--version"]) == 0
    assert "other-results also installed a package 'results'" in capsys.readouterr().err


def test_the_names_are_the_packages_of_the_project() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    ours = project["tool"]["setuptools"]["packages"]["find"]["include"]
    assert sorted(IMPORT_NAMES) == sorted(name.removesuffix("*") for name in ours)
