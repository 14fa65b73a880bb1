"""The figures of the README and of pages are those that the commands print which they name."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.figures.commands import COMMANDS, FOLDER, ROOT, Command
from benchmarks.figures.pages import PAGES, Mark, differences, marks_of, numbers, unmarked

MARKS = [mark for page in PAGES for mark in marks_of(page)]
AGAIN = "python -m benchmarks.figures NAME prints and stores them anew"


@pytest.mark.parametrize("mark", MARKS, ids=lambda mark: f"{mark.page.stem}-{mark.words[0]}")
def test_figures_of_pages_are_those_of_stored_runs(mark: Mark) -> None:
    outputs = {command.name: command.stored() for command in COMMANDS}
    assert differences(mark, outputs.__getitem__) == [], AGAIN


@pytest.mark.parametrize(
    "command", [one for one in COMMANDS if one.is_quick], ids=lambda one: one.name
)
def test_quick_commands_print_these_figures_today(command: Command, tmp_path: Path) -> None:
    """Also the figures of the stored run that no page names."""
    output, stored = command.run(tmp_path), command.stored()
    for name in command.figures:
        assert command.figure(name, output) == command.figure(name, stored), AGAIN
    for mark in MARKS:
        if mark.commands == {command.name}:
            assert differences(mark, lambda _: output) == [], AGAIN


def test_every_figure_of_the_readme_has_a_command() -> None:
    assert unmarked(ROOT / "README.md") == []


def test_every_stored_run_is_of_a_command_that_a_page_names() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == {command.name for command in COMMANDS}
    named = {name for mark in MARKS for name in mark.commands}
    assert named == {command.name for command in COMMANDS}


def mark(kind: str, words: str, text: str) -> Mark:
    return Mark(Path("page.md"), kind, tuple(words.split()), text)


PRINTED = """
 #  latency  energy
 0    6.710   214.4  fastest
 1    8.280   165.6  knee
 below Memolution (a)  17.54%  22.35%
│ below Memolution (a) │ 3 of 9 │
| a | 1.5 |
"""


@pytest.mark.parametrize(
    ("kind", "words", "text", "wrong"),
    [
        ("figures", "front.fastest_ms =50 front.knee_mj", "VGG-19: 6.710 ms, 50 times 165.6", 0),
        ("figures", "front.fastest_ms front.knee_mj", "6.71 ms and 165.6 mJ", 1),
        ("figures", "front.fastest_ms front.knee_mj", "165.6 mJ and 6.710 ms", 2),
        ("figures", "front.fastest_ms", "6.710 ms and 165.6 mJ", 1),
        ("rows", "front", "| | x |\n|---|---|\n| below Memolution (a) | 22.35 | 3 |", 0),
        ("rows", "front", "| | x |\n|---|---|\n| below Memolution (a) | 3 | 22.35 |", 1),
        ("rows", "front", "| | x |\n|---|---|\n| below Memolution (b) | 22.35 |", 1),
        ("lines", "front", "| a | 1.5 |", 0),
        ("lines", "front", "| a | 1.6 |", 1),
        ("lines", "front", "```\n| a | 1.5 |\n```", 0),
    ],
)
def test_a_figure_that_is_not_printed_is_found(
    kind: str, words: str, text: str, wrong: int
) -> None:
    assert len(differences(mark(kind, words, text), lambda _: PRINTED)) == wrong


def test_figures_are_numbers_outside_names_links_and_code() -> None:
    text = "On Jetson-2 `a 5` ResNet-50 takes **6.710 ms**, 1,024 times, by Eq. 5 to 8 and Table 6."
    assert numbers(text) == ["6.710", "1,024"]
    assert numbers("[x](page_3.md#4): Hailo-8L, FP16, 8.") == ["8"]


def test_a_figure_that_differs_between_lines_is_refused() -> None:
    command = Command("x", "dse", {"ms": "takes # ms"})
    with pytest.raises(ValueError, match=r"one value is required, got \['1', '2'\]"):
        command.figure("ms", "takes 1 ms\ntakes 2 ms")


def test_a_comment_that_is_no_mark_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- figure: front.knee_ms -->\n8.280 ms\n", "utf-8")
    with pytest.raises(ValueError, match="a comment is no mark"):
        marks_of(page)
    page.write_text("<!-- figures: back.knee_ms -->\n8.280 ms\n", "utf-8")
    with pytest.raises(ValueError, match="no command is called back"):
        marks_of(page)
