"""The command ``dse``: its commands, and how their errors reach the user."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from dse.cli.campaign import campaign
from dse.cli.catalogue import lists, network, platform, sdf
from dse.cli.measure import calibrate, contention, fidelity, import_profile, profile
from dse.cli.measure import run as run_command
from dse.cli.results import compare, costs, csdf, deploy, plot, report, show, trace
from dse.cli.search import baselines, certify, evaluate, explore, learn, replay, robustness


class _Interrupted(Exception):
    """Ctrl-C in a command."""


class _Commands(TyperGroup):
    """Typer would turn Ctrl-C into a bare exit status, which commands also return by themselves."""

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Runs the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise _Interrupted from None


app = typer.Typer(
    name="dse",
    cls=_Commands,
    help="Pareto fronts of latency, throughput and energy for neural networks that share a chip.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
explore.register(app)
show.register(app)
baselines.register(app)
report.register(app)
trace.register(app)
plot.register(app)
calibrate.register(app)
certify.register(app)
costs.register(app)
deploy.register(app)
csdf.register(app)
evaluate.register(app)
replay.register(app)
robustness.register(app)
campaign.register(app)
compare.register(app)
lists.register(app)
network.register(app)
platform.register(app)
import_profile.register(app)
learn.register(app)
profile.register(app)
run_command.register(app)
fidelity.register(app)
contention.register(app)
sdf.register(app)

BAD_INPUT = 2
INFEASIBLE = 3
INTERRUPTED = 130


def main() -> None:
    """Runs a command; leaves with 0, 2 (input that cannot be used), 3 (no feasible design point)
    or 130 (Ctrl-C)."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Runs a command and returns its exit status; errors are one line on stderr."""
    from dse.errors import InfeasibleError

    try:
        status = app(arguments, prog_name="dse", standalone_mode=False)
    except typer.Exit as end:
        return end.exit_code
    except (typer.Abort, KeyboardInterrupt, _Interrupted):
        return _report("interrupted", INTERRUPTED)
    except InfeasibleError as error:
        return _report(str(error), INFEASIBLE)
    except BrokenPipeError:
        # Whoever read our output has gone; Python would complain once more when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ValueError, OSError) as error:
        return _report(_told(error), BAD_INPUT)
    except Exception as error:
        # Typer's own errors (an unknown option, a missing argument) share no public base class.
        if not hasattr(error, "format_message"):
            raise
        message = error.format_message()
        # Without a command there is its help, and nothing to add.
        return _report(message, BAD_INPUT) if message else BAD_INPUT
    return status if isinstance(status, int) else 0


def _told(error: ValueError | OSError) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'file'}: {error.strerror}"
    return str(error)


def _report(message: str, status: int) -> int:
    print(f"dse: {message}", file=sys.stderr)
    return status


if __name__ == "__main__":
    main()
