"""What is printed is what was written: names of files and networks are no markup."""

from __future__ import annotations

import pytest

from paretosoc.common.tables import plain_table
from paretosoc.dse.cli.shared.terminal import show


def test_brackets_and_colons_of_names_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    table = plain_table("net[bold].onnx", ">[ms]")
    table.add_row("a:gem:b", "[/x]")
    show("runs/[red]: :smile:", table)
    printed = capsys.readouterr().out
    for text in ("runs/[red]: :smile:", "net[bold].onnx", "[ms]", "a:gem:b", "[/x]"):
        assert text in printed
