"""Marks in pages, and the check that the marked figures are those of a command.

A mark is a comment before a paragraph or a table, in one of three forms::

    <!-- figures: front.fastest_ms front.fastest_mj =12 -->
    <!-- rows: mobile-i -->
    <!-- lines: hax-table6 -->

The first names all figures of the paragraph in their order. ``=12`` is a number of another kind.
The numbers in a row of a table after the second are those of the output's rows with the same first
cell, in this order, though not all of them. The lines after the third are lines of the output, the
fences of a block of code aside.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures.commands import BY_NAME, ROOT

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
_MARK = re.compile(r"^<!-- (figures|rows|lines): (.*?) -->\n(.*?)(?:\n\s*\n|\Z)", re.M | re.S)
_CODE = re.compile(r"^(```|~~~).*?^\1|^    .*?$|<!--.*?-->", re.M | re.S)
_NO_FIGURE = re.compile(
    r"`[^`]*`|\]\([^)]*\)"
    r"|\b(?:Eq\.|Figs?\.|Figures?|Tables?|Section|experiments?) \d+(?:(?:, | and | to )\d+)*"
    r"|\bPython [\d.]+"
)
_NUMBER = re.compile(r"(?<![\w.-])\d[\d,]*(?:\.\d+)?(?![\w-]|\.\d)")
_TABLE_RULE = re.compile(r"[│┃|]")


@dataclass(frozen=True)
class Mark:
    """A mark, and the paragraph or table after it."""

    page: Path
    kind: str
    words: tuple[str, ...]
    text: str

    @property
    def commands(self) -> frozenset[str]:
        """Names of the commands that the mark names."""
        return frozenset(word.partition(".")[0] for word in self.words if not word.startswith("="))


def marks_of(page: Path) -> list[Mark]:
    """Return all marks of a page.

    Raises:
        ValueError: on a mark that is not understood.
    """
    text = page.read_text("utf-8")
    found = [
        Mark(page, kind, tuple(words.split()), block) for kind, words, block in _MARK.findall(text)
    ]
    if len(found) != len(re.findall(r"^<!--(?! (?:end of )?options -->)", text, re.M)):
        raise ValueError(f"{page}: a comment is no mark, or no paragraph follows it")
    for mark in found:
        if unknown := mark.commands - BY_NAME.keys():
            raise ValueError(f"{page}: no command is called {', '.join(sorted(unknown))}")
    return found


def numbers(text: str) -> list[str]:
    """Return the figures of a text: numbers without those in code, names, links and references to
    equations, tables and pictures."""
    return [found.rstrip(",") for found in _NUMBER.findall(_NO_FIGURE.sub(" ", text))]


def unmarked(page: Path) -> list[str]:
    """Return the paragraphs of a page that have figures and no mark, without code and headings."""
    text = _CODE.sub("", _MARK.sub("\n", page.read_text("utf-8")))
    paragraphs = re.split(r"\n\s*\n", text)
    return [part for part in paragraphs if not part.lstrip().startswith("#") and numbers(part)]


def differences(mark: Mark, output_of: Callable[[str], str]) -> list[str]:
    """Compare marked text with the outputs of commands. Return the differences."""
    match mark.kind:
        case "figures":
            return _figures(mark, output_of)
        case "rows":
            return _rows(mark, "\n".join(output_of(word) for word in mark.words))
        case _:
            printed = output_of(mark.words[0]).splitlines()
            said = [line for line in mark.text.splitlines() if line != "```"]
            return [f"not printed: {line}" for line in said if line not in printed]


def _figures(mark: Mark, output_of: Callable[[str], str]) -> list[str]:
    wanted = []
    for word in mark.words:
        if word.startswith("="):
            wanted.append(word[1:])
        else:
            command, _, name = word.partition(".")
            wanted.append(BY_NAME[command].figure(name, output_of(command)))
    said = numbers(mark.text)
    if len(said) != len(wanted):
        return [f"{len(wanted)} figures are marked, {len(said)} are there: {said}"]
    return [
        f"{word}: the command prints {right}, the page says {text}"
        for word, right, text in zip(mark.words, wanted, said, strict=True)
        if text != right
    ]


def _rows(mark: Mark, output: str) -> list[str]:
    printed: dict[str, list[str]] = {}
    for line in output.splitlines():
        label, cells = _split(line)
        if label:
            printed.setdefault(label, []).extend(cells)
    found = []
    _head, _rule, *rows = mark.text.splitlines()
    for line in rows:
        label, cells = _split(line)
        values = iter(printed.get(label, ()))
        missing = [cell for cell in cells if cell not in values]
        if missing:
            found.append(f"{label}: not printed, or not in this order: {', '.join(missing)}")
    return found


def _split(line: str) -> tuple[str, list[str]]:
    """Return the first cell of a row, and the numbers of the others."""
    if _TABLE_RULE.search(line):
        first, *rest = [cell.strip() for cell in _TABLE_RULE.split(line.strip().strip("│┃|"))]
    else:
        first, *rest = re.split(r" {2,}", line.strip())
    label = re.sub(r"[`\\]", "", first)
    return label, re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", " ".join(rest))
