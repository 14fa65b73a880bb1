"""The command reference, from the commands themselves."""

from __future__ import annotations

import re
from typing import Any

from paretosoc.dse.cli.commands import COMMANDS, Entry
from paretosoc.dse.cli.lazy import LazyCommand


def command_reference() -> str:
    """A page with all commands, in the order of ``dse --help``."""
    parts = [
        "# Commands",
        "",
        "Made from the commands themselves: `dse COMMAND --help` prints the same. Errors are one",
        "message on stderr, with an [exit status](../concepts/search.md#seeds-and-budgets).",
    ]
    panel = None
    for entry in COMMANDS:
        if entry.panel != panel:
            panel = entry.panel
            parts += ["", f"## {panel}"]
        parts += _of_entry(entry, "dse")
    return "\n".join(parts) + "\n"


def _of_entry(entry: Entry, prefix: str) -> list[str]:
    name = f"{prefix} {entry.name}"
    if entry.commands:
        return [line for inner in entry.commands for line in _of_entry(inner, name)]
    return _of_command(LazyCommand(entry).load(), name, entry.help)


def _of_command(command: Any, name: str, short: str) -> list[str]:
    inner = getattr(command, "commands", {})
    if inner:
        return [
            line for key, one in inner.items() for line in _of_command(one, f"{name} {key}", short)
        ]
    context = command.context_class(command, info_name=name)
    lines = ["", f"### {name}", "", _plain(command.help or short), ""]
    usage = " ".join(command.collect_usage_pieces(context))
    lines += [f"    {name} {usage}", ""]
    rows = [row for parameter in command.params if (row := _row(parameter, context))]
    if rows:
        lines += ["| option | meaning | default |", "|---|---|---|", *rows]
    return lines


def _row(parameter: Any, context: Any) -> str | None:
    if parameter.name == "help":
        return None
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    if parameter.param_type_name == "argument":
        names = f"`{' '.join(parameter.get_usage_pieces(context))}`"
    text = _plain(parameter.help or "")
    found = re.search(r" ?\[default: ([^\]]*)\]$", text)
    default = found[1] if found else _default(parameter)
    text = text[: found.start()] if found else text
    required = "required" if parameter.required else default
    return f"| {names} | {text} | {required} |"


def _default(parameter: Any) -> str:
    value = parameter.default
    if value is None or value is False or callable(value) or "UNSET" in repr(value):
        return ""
    return f"`{getattr(value, 'value', value)}`"


def _plain(text: str) -> str:
    """One line that Markdown leaves as it is."""
    return re.sub(r"([|*<_])", r"\\\1", " ".join(text.split()))
