"""Options that several commands share, as one parameter: a dataclass of annotated fields, or
options of the table of a problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from inspect import Parameter, signature
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from paretosoc.dse.inputs.kinds import Flag, PerName, Whole
from paretosoc.dse.workload.options import FIELDS, LIMITS, PAPERS, Options

Given = dict[str, Any]
"""Given values of the table's options, by name in the library. None if an option was not given."""


@dataclass(frozen=True)
class FromTable:
    """Names of options of the table that a parameter of a command stands for."""

    names: tuple[str, ...]


_ALL = tuple(name for name, field in FIELDS.items() if field.has_option)
ExploreGiven = Annotated[
    Given, FromTable((*(name for name in _ALL if name not in PAPERS), "limit"))
]
"""The options of ``dse explore``."""
PapersGiven = Annotated[Given, FromTable((*_ALL, "limit"))]
"""The options of ``dse papers explore``, which has those of single papers as well."""


def with_option_groups(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return the command as Typer has to see it: in place of a parameter whose type is a dataclass,
    the dataclass's fields as separate options, and of one that is :class:`FromTable` options of the
    table. The command is called with the dataclass, and a dictionary.
    """
    written = signature(command, eval_str=True)
    groups: dict[str, tuple[Callable[..., Any], list[Parameter]]] = {}
    parameters: list[Parameter] = []
    for name, parameter in written.parameters.items():
        kind = parameter.annotation
        if isinstance(kind, type) and is_dataclass(kind):
            groups[name] = (kind, _of_fields(kind))
        elif get_origin(kind) is Annotated and isinstance(get_args(kind)[1], FromTable):
            groups[name] = (dict, [_of_table(option) for option in get_args(kind)[1].names])
        else:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))
            continue
        parameters += groups[name][1]

    def call(**values: Any) -> Any:
        grouped = {
            name: make(**{entry.name: values.pop(entry.name) for entry in entries})
            for name, (make, entries) in groups.items()
        }
        return command(**values, **grouped)

    call.__name__, call.__doc__ = command.__name__, command.__doc__
    call.__annotations__ = {entry.name: entry.annotation for entry in parameters}
    call.__dict__["__signature__"] = written.replace(parameters=parameters)
    return call


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
            list[str] | None, typer.Option("--limit", metavar="NAME=VALUE", help=_limit_help())
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
    """Return an option of the table as Typer has it."""
    kind = FIELDS[name].kind
    bounds = (kind.least, kind.most) if isinstance(kind, Whole) else (None, None)
    return typer.Option(
        FIELDS[name].option,
        help=FIELDS[name].option_help,
        metavar=kind.form,
        min=bounds[0],
        max=bounds[1],
    )
