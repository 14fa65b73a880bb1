"""Commands that are imported when they run, so that ``dse --help`` answers at once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from paretosoc.dse.cli.commands import Entry

_HELP_ALL = "--help-all"


class LazyCommand(TyperCommand):
    """Name and help of a command. Its module is imported when its context is made."""

    def __init__(self, entry: Entry) -> None:
        super().__init__(
            entry.name,
            help=entry.help,
            short_help=entry.help,
            rich_help_panel=entry.panel or None,
        )
        self._entry = entry

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """Return the context of the real command."""
        command, common = self.load(), self._entry.common
        _without_types(
            command.get_params(typer.Context(command, info_name=info_name, parent=parent))
        )
        if common and _HELP_ALL in args:
            args = ["--help" if text == _HELP_ALL else text for text in args]
        elif common:
            command.epilog = f"Options that are used less: dse {self.name} {_HELP_ALL}"
            for parameter in command.params:
                if getattr(parameter, "hidden", True) is False:
                    parameter.hidden = parameter.name not in (*common, "platform")
        return command.make_context(info_name, args, parent, **extra)

    def load(self) -> Any:
        """Return the real command."""
        # Imported here: with the table of options, which 'dse --help' does not need.
        from paretosoc.dse.cli.shared.option_groups import with_option_groups

        module = import_module(f"paretosoc.dse.cli.{self._entry.module}")
        app = typer.Typer(add_completion=False)
        if hasattr(module, "register"):
            module.register(app)
        else:
            function = getattr(module, self._entry.name.replace("-", "_"))
            app.command(self._entry.name)(with_option_groups(function))
        found: Any = get_command(app)
        command = getattr(found, "commands", {}).get(self._entry.name, found)
        _without_types(command.params)
        return command


class LazyGroup(TyperGroup):
    """A group whose commands are those of a table."""

    entries: tuple[Entry, ...] = ()

    def get_params(self, ctx: Any) -> Any:
        """Return its options, the help among them."""
        return _without_types(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        """Names in the order of the table."""
        return [entry.name for entry in self.entries]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command, imported only if its help is not known, or None if there is none."""
        entry = next((entry for entry in self.entries if entry.name == cmd_name), None)
        if entry is None:
            return None
        if entry.commands:
            return group_of(entry)
        return LazyCommand(entry) if entry.help else LazyCommand(entry).load()


def _without_types(parameters: Any) -> Any:
    """Return the parameters without their types, beside which Typer would print <bool> for each
    flag."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
        if getattr(parameter, "help", None):
            # Rich would take "[default: all]" for a style.
            parameter.help = re.sub(r"(?<!\\)\[(?=[a-z])", r"\[", parameter.help)
    return parameters


def group_of(entry: Entry) -> LazyGroup:
    """Return a group of commands inside another one."""
    group = LazyGroup(
        name=entry.name,
        help=entry.help,
        short_help=entry.help,
        no_args_is_help=True,
        rich_help_panel=entry.panel or None,
    )
    group.entries = entry.commands
    return group


def names_of(entries: Iterable[Entry], prefix: str = "") -> list[str]:
    """Return all commands with their groups: ``explore``, ``measure fidelity``, ..."""
    names = []
    for entry in entries:
        name = f"{prefix}{entry.name}"
        names += names_of(entry.commands, f"{name} ") if entry.commands else [name]
    return names
