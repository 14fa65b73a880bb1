"""Options that several commands share, as one parameter: a dataclass of annotated fields, or
options of the table of a problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from inspect import Parameter, signature
from typing import Annotated, Any, get_args, get_type_hints

import click

from paretosoc.dse.cli.shared.parameters import Command, Option, click_parameter
from paretosoc.dse.inputs.kinds import Flag, Whole
from paretosoc.dse.inputs.kinds_by_name import PerName
from paretosoc.dse.workload.options import FIELDS, LIMITS, PAPERS, Options

Given = dict[str, Any]
"""Given values of the table's options, by name in the library. None if an option was not given."""


@dataclass(frozen=True)
class FromTable:
    """Names of options of the table that a parameter of a command stands for."""

    names: tuple[str, ...]


# Of several with one option the last has its help.
_ALL = tuple({each.option: name for name, each in FIELDS.items() if each.has_option}.values())
ExploreGiven = Annotated[
    Given, FromTable((*(name for name in _ALL if name not in PAPERS), "limit"))
]
"""The options of ``dse explore``."""
PapersGiven = Annotated[Given, FromTable((*_ALL, "limit"))]
"""The options of ``dse papers explore``, which has those of single papers as well."""


def command_of(name: str, function: Callable[..., Any]) -> click.Command:
    """Return a function as a command.

    In place of a parameter whose type is a dataclass, the command has the dataclass's fields as
    options, and of one that is :class:`FromTable` options of the table. The function is called with
    the dataclass, and a dictionary.
    """
    groups: dict[str, tuple[Callable[..., Any], list[Parameter]]] = {}
    parameters: list[Parameter] = []
    for key, parameter in signature(function, eval_str=True).parameters.items():
        kind = parameter.annotation
        if isinstance(kind, type) and is_dataclass(kind):
            groups[key] = (kind, _of_fields(kind))
        elif isinstance(get_args(kind)[1], FromTable):
            groups[key] = (dict, [_of_table(option) for option in get_args(kind)[1].names])
        else:
            parameters.append(parameter)
            continue
        parameters += groups[key][1]

    def call(**given: Any) -> Any:
        # Click has an empty tuple for an option that may be repeated, and was not given.
        values = {
            key: (list(value) or None) if isinstance(value, tuple) else value
            for key, value in given.items()
        }
        grouped = {
            key: make(**{entry.name: values.pop(entry.name) for entry in entries})
            for key, (make, entries) in groups.items()
        }
        return function(**values, **grouped)

    return Command(
        name,
        callback=call,
        params=[click_parameter(parameter) for parameter in parameters],
        help=function.__doc__,
    )


def _of_fields(group: type[Any]) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]


def _of_table(name: str) -> Parameter:
    if name == "limit":
        kind: Any = Annotated[
            list[str] | None, Option("--limit", metavar="NAME=VALUE", help=_limit_help())
        ]
        return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind)
    field = FIELDS[name]
    default = getattr(Options(), name, None) or None
    argument: Any = field.kind.argument
    if field.repeatable and argument != list[str]:
        argument = list[argument]
    if isinstance(field.kind, Flag):
        default = False
    elif default is None:
        argument = argument | None
    return Parameter(
        name,
        Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[argument, table_option(name)],
    )


def _limit_help() -> str:
    """Return the help of ``--limit``. No word is longer than a narrow terminal's column."""
    by_owner: dict[str, list[str]] = {}
    for field in LIMITS.values():
        each: Any = field.kind
        owner = "NAME=VALUE"
        if isinstance(field.kind, PerName):
            each, owner = field.kind.each, f"NAME[:{field.kind.of}]=VALUE"
        by_owner.setdefault(owner, []).append(f"{field.limit} ({each.metavar})")
    forms = "; ".join(f"{form} with {', '.join(names)}" for form, names in by_owner.items())
    return f"Limit: {forms}. Repeatable; the strictest holds."


def table_option(name: str) -> Any:
    """Return the option of a command for a field of the table."""
    kind = FIELDS[name].kind
    bounds = (kind.least, kind.most) if isinstance(kind, Whole) else (None, None)
    return Option(
        FIELDS[name].option,
        help=FIELDS[name].option_help,
        metavar=kind.form,
        min=bounds[0],
        max=bounds[1],
    )
