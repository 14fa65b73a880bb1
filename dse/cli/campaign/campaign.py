"""``dse campaign``: many explorations from one file, in a store that survives."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from paretosoc.common.text import pluralize
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Argument, Option, refuse_options
from paretosoc.dse.cli.shared.terminal import print_json, say
from paretosoc.dse.workload.options import AXES

if TYPE_CHECKING:
    from paretosoc.dse.cli.shared.progress import ProgressLine
    from paretosoc.dse.tools.campaign.execute.planning import Probe
    from paretosoc.dse.tools.campaign.execute.runner import CampaignProgress
    from paretosoc.dse.tools.campaign.plan.plan import PlanSize


CampaignFile = Annotated[Path, Argument(help="A campaign file (.yaml, .json).", metavar="FILE")]


def check(
    file: CampaignFile,
    names: Annotated[bool, Option("--names", help="Print the name of every run.")] = False,
    no_probe: Annotated[bool, Option("--no-probe", help="Skip the time estimate.")] = False,
    as_json: opt.AsJson = False,
) -> int:
    """Count the runs that a campaign file describes, and estimate how long they take. Exit status 1
    if a short run fails."""
    from paretosoc.dse.tools.campaign.execute.planning import probe
    from paretosoc.dse.tools.campaign.plan.campaign_file import load_plan, load_size
    from paretosoc.dse.tools.campaign.plan.plan import PlanSize
    from paretosoc.dse.tools.campaign.plan.run_inputs import inputs_of, program_identity

    size = PlanSize(load_plan(file), {}) if names else load_size(file)
    plan = size.plan
    inputs = inputs_of(plan, program_identity())
    tried = None if no_probe else probe(size, inputs)
    status = 1 if tried is not None and tried.errors else 0
    if as_json:
        document = {
            "title": plan.title,
            "runs": size.runs,
            "workloads": size.workloads,
            "problems": size.problems,
            "evaluations": size.evaluations,
            "core_seconds": None if tried is None else tried.core_seconds,
            "probe_errors": [] if tried is None else list(tried.errors),
        }
        print_json(document | ({"names": [run.name for run in plan.runs]} if names else {}))
        return status
    if names:
        for planned in plan.runs:
            print(planned.name)
    print("\n".join(_size_lines(size)))
    if tried is not None:
        _print_probe(tried)
    return status


def _size_lines(size: PlanSize) -> list[str]:
    from paretosoc.dse.tools.campaign.plan.plan import MAX_RUNS

    lines = [
        size.plan.title,
        f"{pluralize(size.runs, 'run')}, {pluralize(size.evaluations, 'evaluation')} in all; "
        f"{pluralize(size.problems, 'different problem')}",
        f"  workload: {size.workloads}",
    ]
    for name in AXES:
        values = size.values(name)
        if len(values) > 1:
            texts = ["none" if value is None else str(value) for value in values[:80]]
            shown = ("; " if any(", " in text for text in texts) else ", ").join(texts)
            shown = shown if len(shown) < 80 else shown[:77] + "..."
            lines.append(f"  {name}: {len(values)} ({shown})")
    started = size.times(sum(run.after is not None for run in size.plan.runs))
    if started:
        lines.append(f"  {started:,} begin with the front of another one")
    if size.runs > MAX_RUNS:
        lines.append(f"  more than {MAX_RUNS:,} are too many for 'dse campaign run'")
    return lines


def _print_probe(tried: Probe) -> None:
    for error in tried.errors:
        say(f"a short run failed: {error}")
    if tried.core_seconds is not None:
        cores = os.cpu_count() or 1
        print(
            f"About {_duration(tried.core_seconds / cores)} on {cores} cores "
            f"({_duration(tried.core_seconds)} of one core; tried with "
            f"{pluralize(tried.runs, 'run')}, short, in {tried.seconds:.1f} s)"
        )


def run(
    file: CampaignFile,
    output: Annotated[
        Path, Option("--output", "-o", help="Campaign folder. An existing campaign is resumed.")
    ],
    jobs: opt.Processes = None,
    dask: opt.DaskAddress = None,
    attempts: Annotated[
        int, Option(min=1, max=100, help="Maximum number of attempts per run.")
    ] = 3,
    retry_failed: Annotated[
        bool, Option("--retry-failed", help="Retry runs that failed before.")
    ] = False,
    live: opt.Live = False,
    quiet: opt.Quiet = False,
) -> int:
    """Run all runs of a campaign that are not done. Exit status 1 if a run has failed."""
    from paretosoc.dse.cli.shared.progress import check_live, live_view
    from paretosoc.dse.tools.campaign.execute.dask_workers import DaskWorkers
    from paretosoc.dse.tools.campaign.execute.exploration import explore_run
    from paretosoc.dse.tools.campaign.execute.planning import plan_store
    from paretosoc.dse.tools.campaign.execute.runner import do_missing
    from paretosoc.dse.tools.campaign.execute.workers import LocalWorkers, Workers

    if dask is not None:
        refuse_options("is for this machine; a Dask cluster has its own workers", "jobs")
    view = None
    if live:
        check_live()
        from paretosoc.dse.server.live.explore import LiveCampaign

        view = LiveCampaign(output)
    # A cluster that does not answer leaves no campaign behind.
    cluster = None if dask is None else DaskWorkers(explore_run, dask)
    with plan_store(file, output) as store, live_view(view, output):
        if retry_failed:
            store.retry_failed()
        workers: Workers = cluster or LocalWorkers(explore_run, jobs or os.cpu_count() or 1)
        try:
            also = None if view is None else view.running
            with campaign_line(quiet=quiet, also=also) as progress:
                standing = do_missing(store, workers, max_attempts=attempts, on_progress=progress)
        except KeyboardInterrupt:
            say(
                f"interrupted; what is finished is kept in {output}, and the same command "
                "computes the rest"
            )
            return 130
        finally:
            workers.close()
            if view is not None:
                view.ended()
    if not quiet:
        print(
            f"{standing.finished:,} finished, {standing.infeasible:,} infeasible, "
            f"{standing.failed:,} failed; {standing.done_here:,} of them now. "
            f"dse campaign table {output} shows them"
        )
    if standing.failed:
        runs = pluralize(standing.failed, "run")
        say(f"{runs} failed: dse campaign status {output}")
    return 1 if standing.failed else 0


def extract(
    folder: opt.CampaignFolder,
    run_name: Annotated[
        str, Argument(help="Name of a run, or the beginning of its hash.", metavar="RUN")
    ],
    output: opt.Output,
    force: opt.Force = False,
) -> None:
    """Write one run's result as a folder for dse show, report, verify and the others."""
    from paretosoc.dse.tools.campaign.store.store import Store
    from paretosoc.results.export.result_folder import check_output_folder, write_folder

    check_output_folder(output, overwrite=force)
    with Store(folder) as store:
        record = store.find(run_name)
        files = store.files(record)
    write_folder(output, files, overwrite=force)
    print(f"Written to {output}: {', '.join(sorted(files))}")


def campaign_line(
    *, quiet: bool, also: Callable[[CampaignProgress], None] | None
) -> ProgressLine[CampaignProgress]:
    """Return the progress line: runs, failures and time left."""
    from rich.progress import BarColumn, TextColumn

    from paretosoc.dse.cli.shared.progress import ProgressLine

    return ProgressLine(
        BarColumn(),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f} runs"),
        TextColumn("{task.fields[words]}"),
        show=_describe_progress,
        quiet=quiet,
        also=also,
        words="starting",
        visible=False,
    )


def _describe_progress(standing: CampaignProgress) -> dict[str, object]:
    parts = [f"{standing.running} at work"]
    if standing.infeasible:
        parts.append(f"{standing.infeasible:,} infeasible")
    if standing.failed:
        parts.append(f"{standing.failed:,} failed")
    if standing.waiting:
        left = standing.seconds_left
        parts.append("time left unknown" if left is None else f"{_duration(left)} left")
    return {
        "completed": standing.total - standing.waiting,
        "total": standing.total,
        "words": ", ".join(parts),
        "visible": True,
    }


def _duration(seconds: float) -> str:
    """Format a duration: ``40 s``, ``12 min``, ``3.5 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
