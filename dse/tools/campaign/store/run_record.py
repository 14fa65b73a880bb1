"""One row of the store, and the texts in it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from paretosoc.dse.tools.campaign.plan.plan import PlannedRun
from paretosoc.dse.tools.campaign.plan.run_inputs import RunInputs
from paretosoc.dse.tools.campaign.plan.settings import Choice, RunSettings
from paretosoc.dse.tools.campaign.store.run import BaselineFigures, FrontFigures, RunStatus


@dataclass(frozen=True)
class RunRecord:
    """A run as stored. None stands for unknown values."""

    hash: str
    name: str
    workload: str
    networks: tuple[str, ...]
    """Their names, copies numbered."""
    tags: Mapping[str, Choice]
    inputs: RunInputs
    status: RunStatus
    attempts: int
    error: str | None
    seconds: float | None
    cpu_seconds: float | None
    search_cpu_seconds: float | None
    finished_at: float | None
    evaluations: int | None
    members: int | None
    problem_sha256: str | None
    pack_sha256: str | None
    figures: FrontFigures | None

    @property
    def settings(self) -> RunSettings:
        """Return the run's settings."""
        return self.inputs.settings


def run_document(run: PlannedRun, inputs: RunInputs) -> str:
    """Return all but the hash of a planned run, as JSON."""
    return _text(
        {
            "settings": run.settings.to_document(),
            "contents": inputs.contents,
            "program": inputs.program,
            "keep": inputs.keep,
            "workload": run.workload.name,
            "networks": run.workload.members,
            "tags": dict(run.tags),
        }
    )


def run_inputs(document: str, after: str | None) -> RunInputs:
    """Return the inputs back from it."""
    content = json.loads(document)
    return RunInputs(
        settings=RunSettings.from_document(content["settings"]),
        contents=tuple((what, digest) for what, digest in content["contents"]),
        program=content["program"],
        keep=tuple(content["keep"]),
        starts_from=after,
    )


def figures_text(figures: FrontFigures) -> str:
    """Return the numbers of a front as JSON."""
    return _text(
        {
            "names": figures.names,
            "objectives": figures.objectives,
            "rows": figures.rows,
            "baselines": [
                [entry.name, entry.objectives, entry.keeps_constraints]
                for entry in figures.baselines
            ],
        }
    )


def record_of(row: sqlite3.Row) -> RunRecord:
    """Return a run from a row of the database."""
    content = json.loads(row["document"])
    return RunRecord(
        hash=row["hash"],
        name=row["name"],
        workload=content["workload"],
        networks=tuple(content["networks"]),
        tags=content["tags"],
        inputs=run_inputs(row["document"], row["after"]),
        status=RunStatus(row["status"]),
        attempts=row["attempts"],
        error=row["error"],
        seconds=row["seconds"],
        cpu_seconds=row["cpu_seconds"],
        search_cpu_seconds=row["search_cpu_seconds"],
        finished_at=row["finished_at"],
        evaluations=row["evaluations"],
        members=row["members"],
        problem_sha256=row["problem_sha256"],
        pack_sha256=row["pack_sha256"],
        figures=_figures(row["figures"]),
    )


def _figures(text: str | None) -> FrontFigures | None:
    if text is None:
        return None
    content = json.loads(text)
    return FrontFigures(
        names=tuple(content["names"]),
        objectives=tuple(map(tuple, content["objectives"])),
        rows=tuple(map(tuple, content["rows"])),
        baselines=tuple(
            BaselineFigures(name, tuple(objectives), keeps)
            for name, objectives, keeps in content["baselines"]
        ),
    )


def _text(content: object) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))
