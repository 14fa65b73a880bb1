"""``dse measure next`` and ``take``: a plan of measurements on a board, and what they decide."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import paretosoc as dse
from paretosoc.common.tables import plain_table
from paretosoc.common.text import printable
from paretosoc.common.units import PS_PER_MS
from paretosoc.dse.api.deployment import MOST_MINUTES, decisions
from paretosoc.dse.cli.results.confidence import Goal
from paretosoc.dse.cli.shared import options as opt
from paretosoc.dse.cli.shared.parameters import Argument, Option
from paretosoc.dse.cli.shared.terminal import busy, print_json, print_wrapped, show
from paretosoc.dse.tools.deploy.searched_inputs import parse_models
from paretosoc.dse.tools.measuring.experiments import compared_with
from paretosoc.dse.tools.measuring.plan_folder import PLAN_FOLDER
from paretosoc.results.deploy.deployment import require_origins
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import REPORT_FILE
from paretosoc.results.front.choices import STOP_BEST, STOP_LOSS, ChoiceConfidence, choose
from paretosoc.results.front.named_members import member_title
from paretosoc.results.io.canonical_json import finite_or_none


def next(
    folder: opt.Folder,
    output: Annotated[
        Path | None, Option("--output", "-o", help="Folder of the plan. [default: DIR-plan]")
    ] = None,
    goal: Goal = None,
    minutes: Annotated[
        float, Option(min=0.1, max=MOST_MINUTES, help="Time on the board in minutes.")
    ] = 30.0,
    platform: opt.BoardFile = None,
    model: opt.ModelFiles = None,
    draws: opt.Draws = 1000,
    seed: opt.Seed = 0,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
) -> None:
    """Plan measurements on a board, to be surer which member to take.

    Writes a folder with a script, measure.py, that runs the measurements there.
    """
    target = _beside(folder, "-plan") if output is None else output
    refused: ResultError | None = None
    try:
        PLAN_FOLDER.check(target, overwrite=force)
    except ResultError as error:
        # The plan is worth reading without its folder.
        refused = error
    front = dse.load(folder)
    with busy("planning measurements"):
        plan = dse.plan_measurements(
            front, goal=goal, minutes=minutes, platform=platform, draws=draws, seed=seed
        )
    notes: list[str] = []
    if plan.experiments and refused is None:
        notes = plan.save(target, models=parse_models(model), overwrite=force)
    if as_json:
        written = str(target) if plan.experiments and refused is None else None
        print_json({"folder": written, **_document(plan)})
        if plan.experiments and refused is not None:
            raise refused
        return
    print_wrapped(decision_lines(front, plan.now))
    co_runs = (
        "How networks slow each other is another question: 'dse measure co-runs', a quarter of an "
        f"hour, could bring the loss to {_losses(plan.co_runs)}, if it told all."
    )
    if not plan.experiments:
        print("No measurement within this time would change that much: nothing is written.")
        print_wrapped([co_runs] if plan.co_runs else [])
        return
    headings = [f">loss after:\n{goal}" for goal in plan.now]
    table = plain_table("experiment", ">min", "decides between members", *headings)
    for entry in plan.experiments:
        losses = [f"{100 * entry.losses[goal]:.1f} %" for goal in plan.now]
        pairs = dict.fromkeys(" or ".join(map(str, sorted(p))) for p in entry.decides.values())
        decides = ", ".join(pairs) or "-"
        table.add_row(entry.experiment.words, f"{entry.minutes:g}", decides, *losses)
    show(table)
    print_wrapped(
        [
            f"{plan.minutes:g} minutes in all: on the board, as root, 'python3 measure.py' in "
            f"{target}, then 'dse measure take {folder} {target}/results.json'.",
            *([co_runs] if plan.co_runs else []),
            *notes,
        ][refused is not None :]
    )
    if refused is not None:
        raise refused


def _beside(folder: Path, ending: str) -> Path:
    """Return ``DIR-plan`` beside a folder. It is absolute if the folder has no name, as ``.``."""
    named = folder if folder.name not in ("", "..") else folder.resolve()
    return named.parent / f"{named.name}{ending}"


def decision_lines(front: dse.Front, taken: Mapping[str, ChoiceConfidence]) -> Iterable[str]:
    """Yield which member is to be taken for each goal, which choice of the tables stands for it,
    and whether that is sure enough."""
    choice_of = {
        member: choice.member
        for choice in choose(front.numeric).entries
        for member in choice.stands_for
    }
    for goal, entry in taken.items():
        odds = entry.goals[goal]
        figures = ", ".join(
            f"{name.replace(' [', ' ').removesuffix(']')} {low:.4g} to {high:.4g}"
            for name, (low, high) in entry.intervals.items()
        )
        enough = (
            "sure enough"
            if odds.is_sure
            else f"not sure enough ({100 * STOP_BEST:g} %, or a loss below {100 * STOP_LOSS:g} %)"
        )
        choice = choice_of[entry.member]
        stands = "" if choice == entry.member else f", for which {choice} stands in tables"
        yield (
            f"{goal}: take {member_title(front.numeric, entry.member)}{stands}: within 1 % of the "
            f"best with {100 * odds.near_best:.0f} %, expected loss {100 * odds.loss:.2g} %: "
            f"{enough}. {figures}."
        )


def _losses(losses: Mapping[str, float]) -> str:
    return ", ".join(f"{100 * loss:.1f} % ({goal})" for goal, loss in losses.items())


def _document(plan: dse.MeasurementPlan) -> dict[str, Any]:
    return {
        "minutes": plan.minutes,
        "now": decisions_document(plan.now),
        "experiments": [
            {
                "experiment": entry.experiment.words,
                "minutes": entry.minutes,
                "decides": {goal: list(pair) for goal, pair in entry.decides.items()},
                "loss_after": dict(entry.losses),
            }
            for entry in plan.experiments
        ],
        "loss_after_co_runs": dict(plan.co_runs),
    }


def decisions_document(taken: Mapping[str, ChoiceConfidence]) -> dict[str, Any]:
    """Return the decisions as plain data."""
    return {
        goal: {
            "member": entry.member,
            "near_best": entry.goals[goal].near_best,
            "loss": entry.goals[goal].loss,
            "is_sure": entry.goals[goal].is_sure,
            "intervals": {
                name: list(map(finite_or_none, i)) for name, i in entry.intervals.items()
            },
        }
        for goal, entry in taken.items()
    }


def take(
    folder: opt.Folder,
    results: Annotated[Path, Argument(help="What measure.py wrote.", metavar="RESULTS.json")],
    goal: Goal = None,
    draws: opt.Draws = 1000,
    seed: opt.Seed = 0,
    as_json: opt.AsJson = False,
) -> None:
    """Read what a board measured, and say which member to take and whether to stop.

    The measurements are added to costs.json. Members and proofs stay: they are of the costs before.
    """
    before = dse.load(folder)
    front = before.update(results)
    taken = decisions(front, goal=goal, draws=draws, seed=seed)
    new = require_origins(front.costs).measured[len(require_origins(before.costs).measured) :]
    rows = compared_with(before.stated_errors, new)
    front.save(folder, overwrite=True, report=(folder / REPORT_FILE).exists())
    # Update has checked the file.
    failed = [printable(text) for text in json.loads(results.read_bytes())["failed"]]
    is_sure = all(entry.goals[goal].is_sure for goal, entry in taken.items())
    if as_json:
        document = {
            "measured": [
                {
                    "time_ms": row.measurement.time_ps / PS_PER_MS,
                    "stated_ms": row.stated_ps / PS_PER_MS,
                }
                for row in rows
            ],
            "failed": failed,
            "decisions": decisions_document(taken),
            "stop": is_sure,
        }
        print_json(document)
        return
    table = plain_table("measured", ">ms", ">stated ms", ">off", ">W above idle", ">stated W")
    for row in rows:
        of = row.measurement
        power = None if of.power_mw is None or of.idle_mw is None else of.power_mw - of.idle_mw
        table.add_row(
            of.words,
            f"{of.time_ps / PS_PER_MS:.4g}",
            f"{row.stated_ps / PS_PER_MS:.4g}",
            f"{100 * row.slower:+.1f} %",
            "-" if power is None else f"{power / 1000:.3g}",
            f"{row.stated_mw / 1000:.3g}",
        )
        if of.beside is not None:
            slower = of.beside.time_ps / of.time_ps
            table.add_row(
                f"    beside {of.beside.words}, times as long",
                f"{slower:.3f}",
                f"{row.stated_slowdown:.3f}",
                f"{100 * (slower / row.stated_slowdown - 1):+.1f} %",
                *("-", "-"),
            )
    show(table)
    print_wrapped([f"Not measured: {text}" for text in failed])
    print_wrapped(decision_lines(front, taken))
    number = 2
    while (free := _beside(folder, f"-plan-{number}")).exists():
        number += 1
    more = f"'dse measure next {folder} -o {free}' plans more"
    print_wrapped(
        [
            "Sure enough: stop." if is_sure else f"Not sure enough: {more}.",
            "Objectives in tables, and proofs, are of the costs before the measurements; these "
            "figures and 'dse analyze confidence' know them.",
        ]
    )
