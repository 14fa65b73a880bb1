"""What the commands of MapFormer's figures can be told."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MIXES = 10
"""Mixes of each kind in the paper."""


@dataclass(frozen=True)
class FigureOptions:
    """``mixes``: of each kind. ``as_json``: print all answers. ``picture``: a file, or none."""

    mixes: int
    as_json: bool
    picture: Path | None


def figure_options(title: str, arguments: Sequence[str] | None) -> FigureOptions:
    """From the words of a command line; None: of this process's own."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--json", action="store_true", help="all answers, for programs")
    parser.add_argument("--mixes", type=int, default=MIXES, help="mixes of each kind")
    parser.add_argument("--picture", type=Path, help="also draws it, as SVG or PNG")
    given = parser.parse_args(arguments)
    return FigureOptions(given.mixes, given.json, given.picture)
