"""The documentation: its links lead somewhere, its examples run, its tables are complete."""

from __future__ import annotations

import json
import re
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from docs.site.commands import command_reference
from docs.site.diagrams import FOLDER, draw
from docs.site.gallery import draw_pictures, gallery_page
from docs.site.hooks import GENERATED, example_files, on_page_content, on_page_markdown
from docs.site.schemas import schema_files
from paretosoc.fitness import simulate as timeline
from paretosoc.fitness.check.members import frames as plain_timeline
from paretosoc.results.export.result_folder import read_results
from paretosoc.results.problem.objectives import Objective, ObjectiveKind
from paretosoc.results.problem.parts import ProblemDomain, ProblemNetwork, ProblemUnit
from paretosoc.results.problem.problem import DesignPoint, Problem

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]
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
        file = (page.parent / path).resolve() if path else page
        if file.is_relative_to(DOCS) and str(file.relative_to(DOCS)) in GENERATED:
            continue
        assert file.exists(), f"{target} does not exist"
        assert file.is_relative_to(ROOT), f"{target} leaves the repository"
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


def nav_pages(entry: Any) -> list[str]:
    """All pages of the site's navigation, in its order."""
    if isinstance(entry, str):
        return [entry]
    inner = entry.values() if isinstance(entry, dict) else entry
    return [page for part in inner for page in nav_pages(part)]


def test_every_page_is_in_the_navigation_once() -> None:
    config = yaml.safe_load(text_of(ROOT / "mkdocs.yml"))
    pages = [str(page.relative_to(DOCS)) for page in PAGES if page.is_relative_to(DOCS)]
    assert sorted(nav_pages(config["nav"])) == sorted([*pages, *GENERATED])


def test_the_site_needs_nothing_from_outside() -> None:
    config = yaml.safe_load(text_of(ROOT / "mkdocs.yml"))
    assert config["theme"]["font"] is False
    # Without one of this name the plugin for sites without a server would load it from elsewhere.
    (script,) = config["extra"]["polyfills"]
    assert "iframe-worker" in script
    assert (DOCS / script).exists()
    for page in PAGES:
        for target in re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", text_of(page)):
            assert not re.match(r"[a-z]+:", target), f"{target} is loaded from elsewhere"


def test_the_reference_names_the_whole_library_and_every_command() -> None:
    import paretosoc as dse
    from paretosoc.dse.cli.commands import COMMANDS
    from paretosoc.dse.cli.lazy import names_of

    named = re.findall(r"^::: paretosoc\.(\w+)$", text_of(DOCS / "reference/api.md"), re.MULTILINE)
    assert sorted(named) == sorted(dse.__all__)
    headings = re.findall(r"^### dse (.*)$", command_reference(), re.MULTILINE)
    for name in names_of(COMMANDS):
        assert any(heading == name or heading.startswith(f"{name} ") for heading in headings)
    assert (
        "| `--units` | Units to use, comma-separated. | all that the runtime serves |"
        in command_reference()
    )


def test_every_picture_of_the_gallery_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("docs.site.gallery.EVALUATIONS", 300)
    drawn = draw_pictures()
    assert set(drawn) == set(re.findall(r"images/gallery/[\w.]+", gallery_page()))
    for picture in drawn.values():
        assert b"<svg" in picture[:500]


def test_the_diagrams_are_those_of_their_script() -> None:
    assert {path.name: text_of(path) for path in FOLDER.iterdir()} == draw()


def test_every_schema_has_an_id_of_its_own() -> None:
    ids = [json.loads(text)["$id"] for text in schema_files().values()]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"urn:paretosoc:[a-z]+:[0-9]+", name) for name in ids)


def test_links_to_the_repository_become_names_or_downloads_in_the_site() -> None:
    class PageOfTheSite:
        class file:
            src_uri = "guides/workloads.md"

    text = "[one](../../examples/x.py), [two](../concepts/model.md), [six](../../examples/{})"
    changed = on_page_markdown(text.format("workloads/six.yaml"), PageOfTheSite())
    kept = "[two](../concepts/model.md), [six](../examples/workloads/six.yaml)"
    assert changed == f"one (`examples/x.py`), {kept}"
    assert b"networks:" in example_files()["examples/workloads/six.yaml"]
    assert on_page_content("see :class:<code>~dse.Front</code>") == "see <code>dse.Front</code>"


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


def test_the_readme_sets_up_by_two_commands_and_make_demo_is_its_front() -> None:
    from benchmarks.figures.commands import BY_NAME

    readme, makefile = text_of(ROOT / "README.md"), text_of(ROOT / "Makefile")
    assert "```sh\nmake demo\nmake test\n```" in readme
    hero = BY_NAME["camera"].line
    assert f"    {hero}\n" in readme
    assert f"    {BY_NAME['front'].line}\n" in readme
    demo = makefile.partition("\ndemo:")[2].partition("\n\n")[0].replace("\\\n", " ")
    assert hero.replace("runs/camera", "runs/demo --force") in " ".join(demo.split())


def test_no_page_writes_a_folder_that_another_command_has_written() -> None:
    """Whoever follows them would be told that it exists already."""
    commands: dict[str, set[str]] = {}
    for page in PAGES:
        text = re.sub(r" *\\\n *", " ", text_of(page))
        for command, folder in re.findall(r"^ *(dse .*-o (runs/[\w-]+).*)$", text, re.MULTILINE):
            if not re.search(r"--merge|dse (deploy|campaign run)", command):
                commands.setdefault(folder, set()).add(command)
    assert len(commands) > 20
    assert [names for names in commands.values() if len(names) > 1] == []


def test_every_objective_is_explained() -> None:
    explained = re.findall(
        r"^\| `([a-z][a-z0-9-]*)`(?:, free-running only)? \|",
        text_of(ROOT / "docs/concepts/model.md"),
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
    """The two networks of docs/concepts/model.md, ``first_ms`` for A's first group; times hold on
    any unit, nothing contends."""
    times = np.array([first_ms, 4, 2, 2, 5], dtype=np.int64)[:, None] * MS
    zero = np.zeros((5, 1), dtype=np.int64)
    none = np.zeros(1, dtype=np.int64)
    return Problem(
        networks=(
            ProblemNetwork("A", 0, group_names=("A1", "A2")),
            ProblemNetwork("B", 2, group_names=("B1", "B2", "B3")),
        ),
        edges=((0, 1), (2, 3), (3, 4)),
        transition_ps=np.zeros((3, 3, 3), dtype=np.int64),
        domains=(ProblemDomain("clock", (1000,), (None,), False, none, none == 0),),
        units=tuple(
            ProblemUnit(
                name=name,
                clocks=(0,),
                time_ps=times,
                demand_kbps=zero,
                dynamic_mw=zero,
                idle_mw=none,
                contention=None,
            )
            for name in ("cpu", "gpu", "dla")
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
    section = (
        text_of(ROOT / "docs/concepts/model.md")
        .partition("### Why faster")[2]
        .partition("\n## ")[0]
    )
    assert f"**{first_ms} ms**" in section
    assert f"after {makespan_ms} ms" in section


def test_the_readme_names_the_python_that_is_required() -> None:
    import tomllib

    required = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]["requires-python"]
    assert f"Python {required.removeprefix('>=')}" in text_of(ROOT / "README.md")
    assert sys.version_info >= tuple(int(part) for part in required.removeprefix(">=").split("."))
