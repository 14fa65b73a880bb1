"""Names that the program is imported by, and other distributions that own one of them."""

from __future__ import annotations

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from setuptools import find_packages

from paretosoc.dse.cli.main import run
from paretosoc.dse.version import owners_of_dse

ROOT = Path(__file__).parents[2]


def install(site: Path) -> None:
    """A distribution ``other`` with a package ``dse``."""
    info = site / "other-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (info / "RECORD").write_text("dse/__init__.py,,\n")
    (site / "dse").mkdir()
    (site / "dse" / "__init__.py").write_text("OTHER = True\n")


def test_another_package_dse_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert owners_of_dse() == ()
    install(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert owners_of_dse() == ("other",)
    assert run(["--version"]) == 0
    assert "`import dse` finds the package of other" in capsys.readouterr().err


def test_another_package_dse_comes_first(tmp_path: Path) -> None:
    """As in site-packages, with the wheel's ``dse.py`` beside it."""
    install(tmp_path)
    (tmp_path / "dse.py").write_bytes((ROOT / "dse.py").read_bytes())
    code = "import dse, paretosoc; print(dse.OTHER, paretosoc.Problem.__module__)"
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path[:0] = [{str(tmp_path)!r}]; {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "True paretosoc.dse.api.problem\n"


@pytest.mark.parametrize("inside", ["dse.py", "dse/__init__.py"])
def test_dse_is_the_same_modules(inside: str) -> None:
    """In the wheel and in a clone."""
    code = f"""
import importlib.util, sys
spec = importlib.util.spec_from_file_location("dse", {str(ROOT / inside)!r})
module = sys.modules["dse"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
import dse, paretosoc
from dse.dse.api.problem import Problem
assert dse is paretosoc and Problem is dse.Problem is paretosoc.Problem
assert sys.modules["dse.dse.api"] is sys.modules["paretosoc.dse.api"]
"""
    subprocess.run([sys.executable, "-I", "-c", code], check=True)


def test_dse_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "dse", "--version"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("dse ")


def test_the_wheel_has_one_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    packages = find_packages(str(ROOT), **project["packages"]["find"])
    assert {name.split(".")[0] for name in packages} == {"paretosoc"}
    assert {"paretosoc.dse.api", "paretosoc.results.problem", "paretosoc.sdf.onnx"} <= set(packages)
    assert project["py-modules"] == ["dse"]


def test_the_folders_are_one_package() -> None:
    for link in ROOT.joinpath("paretosoc").iterdir():
        if link.is_symlink():
            assert link.resolve() == ROOT / link.name
            room = importlib.import_module(f"paretosoc.{link.name}")
            assert Path(room.__file__ or "").parent == link
