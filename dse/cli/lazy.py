"""Commands that are imported when they run, so that ``dse --help`` answers at once."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

import click

from paretosoc.dse.cli.commands import Entry

_HELP_ALL = "--help-all"


class LazyCommand(click.Command):
    """Name and help of a command. Its module is imported when its context is made."""

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry.name, help=entry.help)
        self._entry = entry

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """Return the context of the real command."""
        command, common = self.load(), self._entry.common
        if common and _HELP_ALL in args:
            args = ["--help" if text == _HELP_ALL else text for text in args]
        elif common:
            command.epilog = f"Options that are used less: dse {self.name} {_HELP_ALL}"
            for parameter in command.params:
                if isinstance(parameter, click.Option):
                    parameter.hidden = parameter.name not in (*common, "platform")
        return command.make_context(info_name, args, parent, **extra)

    def load(self) -> click.Command:
        """Return the real command."""
        # Imported here: with the table of options, which 'dse --help' does not need.
        from paretosoc.dse.cli.shared.option_groups import command_of

        module = import_module(f"paretosoc.dse.cli.{self._entry.module}")
        if hasattr(module, "command"):
            group: click.Command = module.command()
            return group
        name = self._entry.name
        return command_of(name, getattr(module, name.replace("-", "_")))


class LazyGroup(click.Group):
    """A group whose commands are those of a table."""

    entries: tuple[Entry, ...] = ()

    def list_commands(self, ctx: Any) -> list[str]:
        """Names in the order of the table."""
        return [entry.name for entry in self.entries]

    def get_command(self, ctx: Any, cmd_name: str) -> click.Command | None:
        """Return the command, imported only if its help is not known, or None if there is none."""
        entry = next((entry for entry in self.entries if entry.name == cmd_name), None)
        if entry is None:
            return None
        if entry.commands:
            return group_of(entry)
        return LazyCommand(entry) if entry.help else LazyCommand(entry).load()

    def format_commands(self, ctx: Any, formatter: click.HelpFormatter) -> None:
        """Write the commands below the headings of the table."""
        rows: dict[str, list[tuple[str, str]]] = {}
        for entry in self.entries:
            command = self.get_command(ctx, entry.name)
            assert command is not None, entry.name
            shown = command.get_short_help_str(formatter.width)
            rows.setdefault(entry.panel or "Commands", []).append((entry.name, shown))
        for panel, commands in rows.items():
            with formatter.section(panel):
                formatter.write_dl(commands)


def group_of(entry: Entry) -> LazyGroup:
    """Return a group of commands inside another one."""
    group = LazyGroup(name=entry.name, help=entry.help, no_args_is_help=True)
    group.entries = entry.commands
    return group


def names_of(entries: Iterable[Entry], prefix: str = "") -> list[str]:
    """Return all commands with their groups: ``explore``, ``measure fidelity``, ..."""
    names = []
    for entry in entries:
        name = f"{prefix}{entry.name}"
        names += names_of(entry.commands, f"{name} ") if entry.commands else [name]
    return names
