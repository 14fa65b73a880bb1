"""``dse import tegrastats``, ``demand`` and ``transitions``."""

from __future__ import annotations

import typer


def register(group: typer.Typer) -> None:
    """Adds the subcommands."""
