"""Options and arguments of commands as annotations, and as click has them."""

from __future__ import annotations

from collections import Counter
from enum import Enum
from inspect import Parameter
from math import isnan
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin

import click
from click.core import ParameterSource

from paretosoc.common.text import did_you_mean
from paretosoc.dse.errors import WorkloadError


class Option:
    """What the command line needs to know of a parameter, beside its type and its default.

    Args:
        names: ``--name``, ``-n``. None: from the name of the parameter.
    """

    def __init__(
        self,
        *names: str,
        help: str = "",
        metavar: str | None = None,
        min: float | None = None,
        max: float | None = None,
        show_default: bool = True,
    ) -> None:
        self.names, self.help, self.metavar = names, help, metavar
        self.min, self.max, self.show_default = min, max, show_default


class Argument(Option):
    """The same for a parameter that is given by its place."""


class Command(click.Command):
    """A command that refuses a second value of an option that has one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments. Click alone would keep the last value silently."""
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        for option, count in Counter(order).items():
            is_one = isinstance(option, click.Option) and not (option.multiple or option.is_flag)
            if is_one and count > 1:
                raise click.UsageError(f"{option.opts[0]}: is taken once, got {count}", ctx)
        return super().parse_args(ctx, args)


def refuse_options(why: str, *names: str) -> None:
    """Refuse options that would have no effect.

    Args:
        names: of parameters of the command that runs.

    Raises:
        WorkloadError: on the first of them that the command line gives.
    """
    context = click.get_current_context()
    for parameter in context.command.params:
        name = str(parameter.name)
        if name in names and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise WorkloadError(f"{parameter.opts[0]}: {why}")


class _Whole(click.IntRange):
    name = "integer"


class _Number(click.FloatRange):
    name = "float"

    def convert(self, value: Any, *place: Any) -> float:
        number = float(super().convert(value, *place))
        if isnan(number):
            # It compares with no limit of a range.
            self.fail("a number is required, got nan", *place)
        return number


class _Choice(click.Choice[str]):
    """Values of an enumeration."""

    def __init__(self, kind: type[Enum]) -> None:
        super().__init__([member.value for member in kind])
        self._kind = kind

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        hint = did_you_mean(str(value), self.choices, "")
        return super().get_invalid_choice_message(value, ctx).rstrip(".") + f"; {hint}" * bool(hint)

    def convert(self, value: Any, *place: Any) -> Any:
        return self._kind(super().convert(value, *place))


def click_parameter(parameter: Parameter) -> click.Parameter:
    """Return the option or argument of a parameter that is annotated with a type and an
    :class:`Option`."""
    kind, mark = get_args(parameter.annotation)
    if NoneType in get_args(kind):
        kind = next(part for part in get_args(kind) if part is not NoneType)
    is_list = get_origin(kind) is list
    form = _form(get_args(kind)[0] if is_list else kind, mark)
    default = parameter.default
    own: dict[str, Any] = {"type": form, "help": mark.help, "metavar": mark.metavar}
    if default is Parameter.empty:
        own["required"] = True
    elif not is_list:
        own["default"] = default.value if isinstance(default, Enum) else default
    if isinstance(mark, Argument):
        return click.Argument([parameter.name], nargs=-1 if is_list else 1, **own)
    names = mark.names or (f"--{parameter.name.replace('_', '-')}",)
    own |= {"multiple": is_list}
    if kind is bool:
        # With False, click takes an option without its value, and a value like -1 for an option.
        own["is_flag"] = True
    own["show_default"] = mark.show_default and kind is not bool
    return click.Option([*names, parameter.name], **own)


def _form(kind: Any, mark: Option) -> Any:
    if kind is int:
        whole: Any = (mark.min, mark.max)
        return _Whole(*whole)
    if kind is float:
        return _Number(mark.min, mark.max)
    if kind is Path:
        return click.Path(path_type=Path)
    return _Choice(kind) if issubclass(kind, Enum) else kind
