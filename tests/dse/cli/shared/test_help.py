"""Help texts."""

from __future__ import annotations

import pytest

from paretosoc.dse.cli.commands import COMMANDS
from paretosoc.dse.cli.lazy import names_of


@pytest.mark.parametrize("name", names_of(COMMANDS))
def test_no_help_is_cut_in_a_terminal_of_80_columns(dse, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    for option in ("--help", "--help-all"):
        assert "…" not in dse(*name.split(), option).out


def test_short_help_of_explore_names_options_that_exist(dse):
    shown = dse("explore", "--help").out
    for option in ("--output", "--max-evaluations", "--time-limit", "--seed", "--jobs", "--force"):
        assert option in shown
