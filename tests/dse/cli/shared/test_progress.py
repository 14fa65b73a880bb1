"""The line that shows how far a command is."""

from __future__ import annotations

import pytest
from rich.progress import TextColumn

from paretosoc.dse.cli.shared.progress import ProgressLine


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
    assert told.err.rstrip().endswith("7/7 7 of them"), "all that there was to do"


def test_quiet_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with line(quiet=True) as on_progress:
        on_progress(4)
    assert capsys.readouterr() == ("", "")


def test_what_is_refused_before_it_begins_leaves_no_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(ValueError, match="refused"), line(quiet=False):
        raise ValueError("refused")
    assert capsys.readouterr() == ("", "")

    def fail_later() -> None:
        with line(quiet=False) as on_progress:
            on_progress(4)
            raise ValueError("later")

    with pytest.raises(ValueError, match="later"):
        fail_later()
    assert "4/9 4 of them" in capsys.readouterr().err
