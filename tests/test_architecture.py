"""The architecture page names the rooms and modules that there are."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "development" / "architecture.md").read_text("utf-8")
PACKAGES = ("dse", "fitness", "results", "platforms", "sdf")
_NAME = re.compile(rf"`((?:{'|'.join(PACKAGES)}|common)(?:\.\w+)+)`")


def drawing() -> dict[str, str]:
    """Package -> its part of the drawing."""
    parts: dict[str, str] = {}
    package = ""
    for line in PAGE.partition("```\n")[2].partition("```")[0].splitlines():
        # platforms and sdf share a line.
        for piece in line.split("|"):
            first = piece.split()[0] if piece.split() else ""
            if first in (*PACKAGES, "common") and (piece is not line or not line.startswith("  ")):
                package = first
            parts[package] = parts.get(package, "") + f" {piece}"
    return parts


def rooms(package: str) -> set[str]:
    return {
        path.name
        for path in (ROOT / package).iterdir()
        if (path / "__init__.py").exists() and path.name != "data"
    }


@pytest.mark.parametrize("package", PACKAGES)
def test_every_room_is_in_the_drawing(package: str) -> None:
    assert rooms(package) <= set(re.findall(r"\w+", drawing()[package]))


@pytest.mark.parametrize("package", ["fitness", "results", "platforms", "sdf"])
def test_the_drawing_has_no_room_that_is_not_there(package: str) -> None:
    modules = {path.stem for path in (ROOT / package).glob("*.py")}
    named = set(re.findall(r"\w+", drawing()[package])) - {package}
    assert named <= rooms(package) | modules


def exists(name: str) -> bool:
    """Whether a dotted name is a module, or an attribute of one."""
    module, _, attribute = f"paretosoc.{name}".rpartition(".")
    try:
        found = find_spec(f"{module}.{attribute}")
    except ModuleNotFoundError:
        found = None
    return found is not None or hasattr(import_module(module), attribute)


def test_the_modules_that_are_named_exist() -> None:
    names = set(_NAME.findall(PAGE)) - {"dse.DseError"}
    assert len(names) > 30
    assert [name for name in sorted(names) if not exists(name)] == []


def test_statements_of_rules_are_as_many_as_are_named() -> None:
    rows = re.findall(r"^ *\| ([A-Z][^|]*) \| ([^|]*`[^|]*) \| (\d+) \|$", PAGE, re.MULTILINE)
    assert len(rows) >= 3
    for rule, statements, number in rows:
        assert len(set(_NAME.findall(statements))) == int(number), rule
