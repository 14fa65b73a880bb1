"""The command ``dse``: its commands, and how their errors reach the user."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from dse import (
    command_baselines,
    command_calibrate,
    command_campaign,
    command_certify,
    command_compare,
    command_contention,
    command_costs,
    command_csdf,
    command_deploy,
    command_evaluate,
    command_explore,
    command_fidelity,
    command_import,
    command_learn,
    command_lists,
    command_network,
    command_platform,
    command_plot,
    command_profile,
    command_replay,
    command_report,
    command_robustness,
    command_run,
    command_sdf,
    command_show,
    command_trace,
)


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
command_explore.register(app)
command_show.register(app)
command_baselines.register(app)
command_report.register(app)
command_trace.register(app)
command_plot.register(app)
command_calibrate.register(app)
command_certify.register(app)
command_costs.register(app)
command_deploy.register(app)
command_csdf.register(app)
command_evaluate.register(app)
command_replay.register(app)
command_robustness.register(app)
command_campaign.register(app)
command_compare.register(app)
command_lists.register(app)
command_network.register(app)
command_platform.register(app)
command_import.register(app)
command_learn.register(app)
command_profile.register(app)
command_run.register(app)
command_fidelity.register(app)
command_contention.register(app)
command_sdf.register(app)

BAD_INPUT = 2
INFEASIBLE = 3
INTERNAL_ERROR = 70
INTERRUPTED = 130


def main() -> None:
    """Runs a command; leaves with 0, 2 (input that cannot be used), 3 (no feasible design point),
    70 (internal error) or 130 (Ctrl-C)."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Runs a command and returns its exit status; errors are one line on stderr."""
    from dse.errors import InfeasibleError, InternalError

    try:
        status = app(arguments, prog_name="dse", standalone_mode=False)
    except typer.Exit as end:
        return end.exit_code
    except (typer.Abort, KeyboardInterrupt, _Interrupted):
        return _report("interrupted", INTERRUPTED)
    except InfeasibleError as error:
        return _report(str(error), INFEASIBLE)
    except InternalError as error:
        return _report(f"internal error: {error}", INTERNAL_ERROR)
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
