"""Options that several commands share, as one parameter: a frozen dataclass of annotated fields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from inspect import Parameter, signature
from typing import Any, get_type_hints


def with_option_groups(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return the command as Typer has to see it: in place of every parameter whose type is a
    dataclass, the dataclass's fields as separate options. The command is called with the dataclass.
    """
    written = signature(command, eval_str=True)
    groups: dict[str, type[Any]] = {
        name: parameter.annotation
        for name, parameter in written.parameters.items()
        if isinstance(parameter.annotation, type) and is_dataclass(parameter.annotation)
    }
    parameters: list[Parameter] = []
    for name, parameter in written.parameters.items():
        if name in groups:
            parameters += _of_fields(groups[name])
        else:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))

    def call(**values: Any) -> Any:
        grouped = {
            name: group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
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
