"""The documentation: its links lead somewhere, its examples run, its tables are complete."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from fitness import simulate as timeline
from fitness.reference import timeline as plain_timeline
from results.export.result_folder import read_results
from results.problem.objectives import Objective, ObjectiveKind
from results.problem.problem import DesignPoint, Problem, ProblemDomain, ProblemNetwork, ProblemUnit

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGE_NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
MS = 10**9


def text_of(page: Path) -> str:
    return page.read_text("utf-8")


def without_code(text: str) -> str:
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Headings as their links spell them."""
    headings = re.findall(r"^#+ (.*)$", without_code(text_of(page)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def python_blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", text_of(page), re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=PAGE_NAMES)
def test_relative_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text_of(page))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), f"{target} does not exist"
        assert file.resolve().is_relative_to(ROOT), f"{target} leaves the repository"
        assert not anchor or anchor in anchors(file), f"{target}: no such heading"


@pytest.mark.parametrize("page", PAGES, ids=PAGE_NAMES)
def test_files_and_modules_that_are_named_exist(page: Path) -> None:
    text = text_of(page)
    for name in re.findall(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|json|md|xml|yaml))`", text):
        if not name.startswith("runs/"):
            assert (ROOT / name).is_file(), f"{name} does not exist"
    for module in re.findall(r"python -m ([\w.]+)", text):
        path = ROOT / module.replace(".", "/")
        found = path.with_suffix(".py").is_file() or (path / "__main__.py").is_file()
        assert found, f"there is no module {module}"


def test_every_page_is_reached_from_the_readme() -> None:
    linked = set(re.findall(r"\]\((docs/[\w]+\.md)", text_of(ROOT / "README.md")))
    assert linked == {name for name in PAGE_NAMES if name.startswith("docs/")}


def test_the_example_of_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = python_blocks(ROOT / "README.md")
    script = tmp_path / "readme.py"
    script.write_text(block, "utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script))
    (folder,) = (tmp_path / "runs").iterdir()
    front = read_results(folder)
    assert front.provenance.seed == 1
    assert (tmp_path / "front.pdf").read_bytes().startswith(b"%PDF")
    latency_ms, energy_mj = capsys.readouterr().out.split()[:2]
    assert float(latency_ms) == front.members[0].makespan_ps / 1e9
    assert float(energy_mj) == front.members[0].energy_fj / 1e12


def test_the_commands_of_the_readme_are_those_of_the_program() -> None:
    from dse.cli.commands import COMMANDS

    rows = re.findall(
        r"^\| (`dse [^|]*) \|", text_of(ROOT / "README.md").replace("\\|", "/"), re.MULTILINE
    )
    table = [name for row in rows for name in re.findall(r"dse ([a-z]+)", row)]
    assert sorted(table) == sorted(entry.name for entry in COMMANDS)


def test_every_objective_is_explained() -> None:
    explained = re.findall(
        r"^\| `([a-z][a-z-]*)`(?:, free-running only)? \|",
        text_of(ROOT / "docs/model.md"),
        re.MULTILINE,
    )
    assert set(explained) == {kind.value for kind in ObjectiveKind}


def test_the_citation_is_of_this_version() -> None:
    import tomllib

    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
    citation = yaml.safe_load(text_of(ROOT / "CITATION.cff"))
    assert citation["version"] == project["version"]
    assert citation["license"] == project["license"]
    assert f"## [{project['version']}]" in text_of(ROOT / "CHANGELOG.md")


def queueing_problem(first_ms: int) -> Problem:
    """The two networks of docs/model.md, ``first_ms`` for A's first group; times hold on any
    unit, nothing contends."""
    times = np.array([first_ms, 4, 2, 2, 5], dtype=np.int64)[:, None] * MS
    zero = np.zeros((5, 1), dtype=np.int64)
    none = np.zeros(1, dtype=np.int64)
    return Problem(
        networks=(
            ProblemNetwork("A", 0, ("A1", "A2")),
            ProblemNetwork("B", 2, ("B1", "B2", "B3")),
        ),
        edges=((0, 1), (2, 3), (3, 4)),
        transition_ps=np.zeros((3, 3, 3), dtype=np.int64),
        domains=(ProblemDomain("clock", (1000,), (None,), False, none, none == 0),),
        units=tuple(
            ProblemUnit(name, (0,), times, zero, zero, none, None) for name in ("cpu", "gpu", "dla")
        ),
        memory_domain=None,
        board_mw=0,
        allowed=np.ones((5, 3), dtype=np.bool_),
        objectives=(Objective(ObjectiveKind.LATENCY), Objective(ObjectiveKind.ENERGY)),
    )


@pytest.mark.parametrize(("first_ms", "makespan_ms"), [(3, 9), (1, 12)])
def test_a_faster_group_makes_all_of_it_slower(first_ms: int, makespan_ms: int) -> None:
    cpu, gpu, dla = range(3)
    design = DesignPoint(np.array([gpu, dla, cpu, dla, gpu]), np.array([0]))
    problem = queueing_problem(first_ms)
    for simulate in (plain_timeline.simulate, timeline.simulate):
        assert simulate(problem, design).frame_end_ps == (makespan_ms * MS,)
    section = text_of(ROOT / "docs/model.md").partition("### Why faster")[2].partition("\n## ")[0]
    assert f"**{first_ms} ms**" in section
    assert f"after {makespan_ms} ms" in section


def test_the_readme_names_the_python_that_is_required() -> None:
    import tomllib

    required = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]["requires-python"]
    assert f"Python {required.removeprefix('>=')}" in text_of(ROOT / "README.md")
    assert sys.version_info >= tuple(int(part) for part in required.removeprefix(">=").split("."))
