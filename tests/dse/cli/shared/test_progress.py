"""The line that shows how far a command is."""

from __future__ import annotations

import pytest
from rich.progress import TextColumn

from dse.cli.shared.progress import ProgressLine


def line(quiet: bool) -> ProgressLine[int]:
    return ProgressLine(
        TextColumn("{task.completed:.0f}/{task.total} {task.fields[words]}"),
        show=lambda done: {"completed": done, "words": f"{done} of them"},
        quiet=quiet,
        total=9,
        words="none",
    )


def test_it_follows_events_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with line(quiet=False) as on_progress:
        on_progress(4)
        on_progress(7)
    told = capsys.readouterr()
    assert told.out == ""
    assert "7/9 7 of them" in told.err


def test_quiet_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with line(quiet=True) as on_progress:
        on_progress(4)
    assert capsys.readouterr() == ("", "")
