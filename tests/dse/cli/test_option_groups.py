"""Groups of options: what the command line has, and what the command gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from click.testing import CliRunner

from paretosoc.dse.cli.shared.option_groups import command_of
from paretosoc.dse.cli.shared.parameters import Argument, Option


@dataclass(frozen=True)
class Shared:
    speed: Annotated[int, Option("--speed", help="How fast.")]
    tags: Annotated[list[str] | None, Option("--tag")] = None


def test_a_group_is_options_outside_and_one_value_inside():
    got = []

    def command(
        name: Annotated[str, Argument()],
        *,
        shared: Shared,
        loud: Annotated[bool, Option("--loud")] = False,
    ) -> int:
        """Does it."""
        got.append((name, shared, loud))
        return 3

    app = command_of("do", command)
    runner = CliRunner()
    arguments = ["x", "--speed", "7", "--tag", "a", "--tag", "b", "--loud"]
    assert runner.invoke(app, arguments).exception is None
    assert runner.invoke(app, ["y", "--speed", "1"]).exception is None
    assert got == [("x", Shared(7, ["a", "b"]), True), ("y", Shared(1, None), False)]
    missing = runner.invoke(app, ["y"])
    assert missing.exit_code == 2
    help_text = runner.invoke(app, ["--help"]).output
    assert "Does it." in help_text
    assert "--speed" in help_text
    assert "How fast." in help_text
    assert "shared" not in help_text
