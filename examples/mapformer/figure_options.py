"""Options of the commands of MapFormer's figures."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from paretosoc.results.plots.style import PICTURE_MAKERS

MIXES = 10
"""Mixes of each kind in the paper."""


@dataclass(frozen=True)
class FigureOptions:
    """``mixes``: of each kind. ``as_json``: print all answers. ``picture``: a file, or none."""

    mixes: int
    as_json: bool
    picture: Path | None


def figure_options(
    title: str, arguments: Sequence[str] | None, *, mixes: int = MIXES, drawn: bool = True
) -> FigureOptions:
    """From the words of a command line; None: of this process's own. What cannot be used ends the
    program at once, not after the minutes that a figure takes.

    Args:
        mixes: the default number.
        drawn: whether there is a picture.
    """
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--json", action="store_true", help="all answers, for programs")
    parser.add_argument("--mixes", type=mix_count, default=mixes, help="mixes of each kind")
    if drawn:
        parser.add_argument("--picture", type=picture_file, help="also draws it: SVG, PDF or PNG")
    given = parser.parse_args(arguments)
    return FigureOptions(given.mixes, given.json, given.picture if drawn else None)


def mix_count(text: str) -> int:
    """How many mixes are asked for.

    Raises:
        argparse.ArgumentTypeError: where it is no whole number from 1.
    """
    if not (text.isdecimal() and int(text) >= 1):
        raise argparse.ArgumentTypeError(f"a whole number from 1 is required, got {text!r}")
    return int(text)


def picture_file(text: str) -> Path:
    """A file that a figure can be drawn into.

    Raises:
        argparse.ArgumentTypeError: where its ending is another one, or its folder is missing.
    """
    path = Path(text)
    if path.suffix not in PICTURE_MAKERS:
        raise argparse.ArgumentTypeError(
            f"a file that ends in {' or '.join(PICTURE_MAKERS)} is required, got {text!r}"
        )
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {str(path.parent)!r}")
    return path
