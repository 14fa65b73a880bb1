"""The command ``dse``: its commands, and how their errors reach the user."""

from __future__ import annotations

import gc
import io
import os
import sys
import warnings
from typing import Any

import click

from paretosoc.common.options import Door, called_from
from paretosoc.common.text import has_control_characters, printable
from paretosoc.dse.cli.commands import COMMANDS
from paretosoc.dse.cli.lazy import LazyGroup, names_of
from paretosoc.dse.errors import DseError, InfeasibleError

_NOT_ON_WINDOWS = ("fcntl", "grp", "pwd", "resource")
"""Modules of Python for locks, users and limits."""
_OFF = "--no-"


class _Interrupted(Exception):
    """Ctrl-C in a command."""


class _Commands(LazyGroup):
    """Click would turn Ctrl-C into a bare exit status, which commands also return by themselves."""

    entries = COMMANDS

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise _Interrupted from None


def _print_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from paretosoc.dse.version import VERSION, owners_of_dse

        print(f"dse {VERSION}")
        if owners := owners_of_dse():
            print(
                f"dse: warning: `import dse` finds the package of {', '.join(owners)}: "
                "write `import paretosoc as dse`",
                file=sys.stderr,
            )
        context.exit()


_VERSION = click.Option(
    ["--version", "-V"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version.",
)
_APP = _Commands(
    "dse",
    help="Find certified Pareto fronts for neural networks that share a chip.",
    params=[_VERSION],
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


BAD_INPUT = 2
INFEASIBLE = 3
INTERNAL_ERROR = 70
INTERRUPTED = 130


def main() -> None:
    """Run a command. Exit with 0, 2 (input that cannot be used), 3 (no feasible design point), 70
    (internal error) or 130 (Ctrl-C)."""
    # A command leaves few cycles behind. Looking for them in all that was imported and read, again
    # and again and once more at the end, takes a third of a short command's time.
    gc.set_threshold(500_000)
    if not sys.warnoptions:
        # Warnings of libraries are for programmers. A command prints its own.
        warnings.simplefilter("ignore")
    _prepare_streams()
    if not sys.stdout.isatty():
        # Rich would assume 80 columns of a pipe, and tables would lose some of theirs.
        os.environ.setdefault("COLUMNS", "200")
    status = run(sys.argv[1:])
    gc.freeze()
    sys.exit(status)


def _prepare_streams() -> None:
    """Replace closed streams by the null device, and print ``?`` for characters that standard
    output cannot show."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    # A locale that lacks a character of a table is no reason to print no table.
    escaped = ("strict", "surrogateescape")
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in escaped:
        sys.stdout.reconfigure(errors="replace")


@called_from(Door.COMMAND)
def run(arguments: list[str]) -> int:
    """Run a command and return its exit status. Errors are one line on stderr."""
    for argument in arguments:
        # Bytes that are in no character of the system's encoding.
        if any("\udc80" <= letter <= "\udcff" for letter in argument):
            encoding = sys.getfilesystemencoding()
            return _report(
                f"arguments must be text in the encoding of the locale ({encoding}), got "
                f"{argument!a}; PYTHONUTF8=1 reads UTF-8 in every locale",
                BAD_INPUT,
            )
        if has_control_characters(argument):
            return _report(
                f"arguments must not have control characters, got {argument!r}", BAD_INPUT
            )
    try:
        status = _APP(arguments, prog_name="dse", standalone_mode=False, obj=("dse", *arguments))
        sys.stdout.flush()
    except (click.Abort, KeyboardInterrupt, _Interrupted):
        return _report("interrupted", INTERRUPTED)
    except InfeasibleError as error:
        return _report(str(error), INFEASIBLE)
    except BrokenPipeError:
        # The reader of our output has gone.
        _discard_output()
        return 1
    except DseError as error:
        return _report(str(error), BAD_INPUT)
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message())
        return BAD_INPUT
    except click.UsageError as error:
        path = f" (see '{error.ctx.command_path} --help')" if error.ctx else ""
        return _report(printable(_with_nearest(error)) + path, BAD_INPUT)
    except OSError as error:
        if error.filename is None:
            _discard_output()
        # Files are named by whoever reads or writes them.
        where = error.filename or "standard output"
        return _report(printable(f"{where}: {error.strerror or error}"), BAD_INPUT)
    except MemoryError:
        return _report("not enough memory", BAD_INPUT)
    except Exception as error:
        if "failed to map segment" in str(error):
            return _report("not enough memory", BAD_INPUT)
        if isinstance(error, ModuleNotFoundError) and error.name in _NOT_ON_WINDOWS:
            return _report("Linux or macOS is required; on Windows use WSL 2", BAD_INPUT)
        if str(error) == "can't start new thread":
            return _report("cannot start a thread: memory or processes are limited", BAD_INPUT)
        return _report_bug(error)
    return status if isinstance(status, int) else 0


def _with_nearest(error: click.UsageError) -> str:
    """Return the message with the nearest command or option if the one typed does not exist."""
    if isinstance(error, click.NoSuchOption):
        from paretosoc.dse.workload.options import LIMITS

        limit = LIMITS.get(error.option_name.removeprefix("--"))
        near = f"--limit {limit.limit_form}" if limit else _nearest_option(error)
    elif isinstance(error, click.NoSuchCommand):
        import difflib

        assert error.ctx is not None, "the group"
        entries = getattr(error.ctx.command, "entries", ())
        # A command of a group may be typed without it: 'dse costs' for 'dse analyze costs'.
        names = {name.split()[-1]: name for name in names_of(entries)}
        names |= {entry.name: entry.name for entry in entries}
        near = "".join(
            names[name] for name in difflib.get_close_matches(error.command_name, names, n=1)
        )
    else:
        return error.format_message().rstrip(".")
    message = error.message.rstrip(".")
    return f"{message}; did you mean {near}?" if near else message


def _nearest_option(error: click.NoSuchOption) -> str:
    """Return the nearest option, or nothing. One that turns something off is meant by ``--no-``."""
    import difflib

    names = list(error.possibilities or ())
    if error.option_name.startswith(_OFF) and error.ctx is not None:
        options = [name for option in error.ctx.command.params for name in option.opts]
        names = [name for name in options if name.startswith(_OFF)] or names
    # Click sorts near names by the alphabet. A name that begins as typed is the nearest.
    names = [name for name in names if name.startswith(error.option_name)] or names
    return "".join(difflib.get_close_matches(error.option_name, names, n=1, cutoff=0.0))


def _discard_output() -> None:
    """Discard buffered output, since Python would complain again when it flushes it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report_bug(error: Exception) -> int:
    """Return one line about an internal error, whose traceback goes to a file."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile(
        "w", prefix="dse-bug-", suffix=".txt", delete=False, encoding="utf-8", errors="replace"
    ) as file:
        file.write("".join(traceback.format_exception(error)))
    text = printable(" ".join(str(error).split()))[:200]
    return _report(
        f"internal error, please report it: {type(error).__name__}: {text} "
        f"(traceback in {file.name})",
        INTERNAL_ERROR,
    )


def _report(message: str, status: int) -> int:
    print(f"dse: {message}", file=sys.stderr)
    return status


if __name__ == "__main__":
    main()
