"""Input and output of a worker, the tables of the store, one row of it, and the texts in it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass
from enum import Enum
from pathlib import Path

from paretosoc.dse.tools.campaign.plan.plan import PlannedRun
from paretosoc.dse.tools.campaign.plan.run_inputs import RunInputs
from paretosoc.dse.tools.campaign.plan.settings import Choice, RunSettings

Row = tuple[int, ...]


class RunStatus(Enum):
    """The state of a run in the store."""

    WAITING = "waiting"
    FINISHED = "finished"
    INFEASIBLE = "infeasible"
    """Finished, too: no design point found meets all constraints."""
    FAILED = "failed"


DONE = (RunStatus.FINISHED, RunStatus.INFEASIBLE)


@dataclass(frozen=True)
class RunTask:
    """One run to do. ``start``: rows of the front to begin with."""

    hash: str
    inputs: RunInputs
    start: tuple[Row, ...] | None = None


@dataclass(frozen=True)
class BaselineFigures:
    """Figures of another method on the same problem."""

    name: str
    objectives: Row
    keeps_constraints: bool


@dataclass(frozen=True)
class FrontFigures:
    """The numbers of a front: ``names`` as in ``front.json``, ``objectives`` one row a member, all
    minimised, and ``rows``: units and operating points of the members."""

    names: tuple[str, ...]
    objectives: tuple[Row, ...]
    rows: tuple[Row, ...]
    baselines: tuple[BaselineFigures, ...] = ()


@dataclass(frozen=True)
class RunOutcome:
    """Outcome of a run. Equal inputs give equal outcomes except for the seconds.

    ``problem``: compressed ``problem.json``, which runs share. ``pack``: the kept files, as one ZIP
    archive. ``message``: reason if there is no front.
    """

    status: RunStatus
    message: str = ""
    figures: FrontFigures | None = None
    evaluations: int = 0
    problem_sha256: str | None = None
    problem: bytes | None = None
    pack: bytes | None = None
    seconds: float = 0.0
    """From the task to the outcome."""
    cpu_seconds: float = 0.0
    search_cpu_seconds: float = 0.0
    """CPU seconds of the exploration itself, without building the problem and packing the
    result."""


RunFunction = Callable[[RunTask], RunOutcome]
"""Something that a worker process can import by its name."""


PLAIN_COLUMNS = (
    *("hash", "name", "attempts", "error", "seconds", "cpu_seconds", "search_cpu_seconds"),
    *("finished_at", "evaluations", "members", "problem_sha256", "pack_sha256"),
)
"""Columns of the database that a record has as they are."""


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
    """Those that failed."""
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
    return _text({**vars(figures), "baselines": [*map(astuple, figures.baselines)]})


def record_of(row: sqlite3.Row) -> RunRecord:
    """Return a run from a row of the database."""
    content = json.loads(row["document"])
    return RunRecord(
        workload=content["workload"],
        networks=tuple(content["networks"]),
        tags=content["tags"],
        inputs=run_inputs(row["document"], row["after"]),
        status=RunStatus(row["status"]),
        figures=_figures(row["figures"]),
        **{name: row[name] for name in PLAIN_COLUMNS},
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


STORE_FORMAT = "paretosoc-campaign/1"

_TABLES = f"""
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS runs (
  hash TEXT PRIMARY KEY,
  position INTEGER,            -- in the plan; NULL: not of the present one
  name TEXT NOT NULL,
  document TEXT NOT NULL,      -- JSON: settings, contents, workload, tags
  after TEXT,                  -- hash of the run whose front it begins with
  status TEXT NOT NULL DEFAULT 'waiting',
  owner TEXT,                  -- who is at it
  attempts INTEGER NOT NULL DEFAULT 0,
  error TEXT,                  -- of the last attempt; or why there is no front
  seconds REAL,
  cpu_seconds REAL,
  search_cpu_seconds REAL,
  finished_at REAL,            -- seconds since 1970
  evaluations INTEGER,
  members INTEGER,
  problem_sha256 TEXT,
  pack_sha256 TEXT,
  figures TEXT                 -- JSON: the numbers of the front
);
CREATE INDEX IF NOT EXISTS runs_by_status ON runs (status, position, seconds);
CREATE INDEX IF NOT EXISTS runs_to_do ON runs (position)
  WHERE status = 'waiting' AND position IS NOT NULL;
CREATE INDEX IF NOT EXISTS runs_owned ON runs (owner) WHERE owner IS NOT NULL;
CREATE INDEX IF NOT EXISTS runs_after ON runs (after) WHERE after IS NOT NULL;
CREATE INDEX IF NOT EXISTS runs_by_name ON runs (name);
CREATE INDEX IF NOT EXISTS runs_by_position ON runs (position) WHERE position IS NOT NULL;
INSERT OR IGNORE INTO meta VALUES ('format', '{STORE_FORMAT}');
"""


def connect(path: Path, *, create: bool) -> sqlite3.Connection:
    """Return a connection without open transaction. Every write is on the disk when it returns.

    Raises:
        sqlite3.Error: if it is no database, or cannot be opened.
    """
    mode = "rwc" if create else "rw"
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode={mode}", uri=True, timeout=60.0, isolation_level=None
    )
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    if (
        create
        and not connection.execute(
            "SELECT 1 FROM sqlite_master WHERE name = 'runs_by_position'"
        ).fetchone()
    ):
        connection.executescript(f"BEGIN IMMEDIATE;{_TABLES}COMMIT;")
    return connection
