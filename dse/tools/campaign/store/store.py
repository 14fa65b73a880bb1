"""The store of a campaign: a database with one row per run, and the results as files beside it.

A run is finished when its transaction is. Before that its files are written, synced and renamed.
Readers look at the row first, and compare the file with the hash in it. So nothing half-written is
ever read, and files without a row are written again, the same.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from paretosoc.common.files import file_in, replace_file, sync
from paretosoc.dse.tools.campaign.plan.plan import PlannedRun
from paretosoc.dse.tools.campaign.plan.run_inputs import RunInputs
from paretosoc.dse.tools.campaign.store.liveness_lock import Owner, forget_dead, is_alive
from paretosoc.dse.tools.campaign.store.pack import decompress, unpack
from paretosoc.dse.tools.campaign.store.run import (
    DONE,
    PLAIN_COLUMNS,
    STORE_FORMAT,
    RunOutcome,
    RunRecord,
    RunStatus,
    RunTask,
    connect,
    figures_text,
    record_of,
    run_document,
    run_inputs,
)
from paretosoc.results.costs.cost_origins import CostOrigins
from paretosoc.results.costs.costs_file import costs_from_bytes
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import (
    CAMPAIGN_FILE,
    COSTS_FILE,
    FRONT_FILE,
    PROBLEM_FILE,
)
from paretosoc.results.front.front import Front
from paretosoc.results.front.front_document import front_from_document
from paretosoc.results.io.canonical_json import content_sha256, parse, sha256_of
from paretosoc.results.problem.problem_file import problem_from_bytes

_FOLDERS = ("results", "problems", "parts", "owners")
_ENTRIES = (*_FOLDERS, *(CAMPAIGN_FILE + ending for ending in ("", "-wal", "-shm", "-journal")))
_DONE = tuple(status.value for status in DONE)
_SHOWN_ERROR = 2000


class Store:
    """One campaign's folder. Several processes of one machine may have it open."""

    def __init__(self, folder: Path, *, create: bool = False) -> None:
        """Open the store in a folder. With ``create`` it is made if there is none.

        Raises:
            ResultError: if there is no store, or the folder holds something else.
        """
        self.folder = folder
        for name in _ENTRIES:
            file_in(folder, name, ResultError)
        database = folder / CAMPAIGN_FILE
        if not database.exists():
            if not create:
                raise ResultError(f"{folder}: is not the folder of a campaign: no {CAMPAIGN_FILE}")
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                raise ResultError(f"{folder}: is not empty, and not the folder of a campaign")
        self._owner: Owner | None = None
        with self._store_errors():
            if create:
                folder.mkdir(parents=True, exist_ok=True)
            self._database = connect(database, create=create)
            if create:
                # After the database: a folder with one is ours, whatever else is missing.
                for part in _FOLDERS:
                    (folder / part).mkdir(exist_ok=True)
        found = self._meta("format")
        if found != STORE_FORMAT:
            raise ResultError(f"{database}: format {STORE_FORMAT!r} is required, got {found!r}")

    def close(self) -> None:
        """Release the runs that this process has claimed, and close the database."""
        if self._owner is not None:
            # On a full disk even this fails, but runs that no living process has claimed are free
            # anyway.
            with suppress(sqlite3.Error):
                self._database.execute(
                    "UPDATE runs SET owner = NULL WHERE owner = ?", (self._owner.name,)
                )
            self._owner.close()
        self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _meta(self, key: str) -> str | None:
        rows = self._rows("SELECT value FROM meta WHERE key = ?", (key,))
        return rows[0][0] if rows else None

    @contextmanager
    def _store_errors(self) -> Iterator[None]:
        """Convert errors of the disk and the database to one that names the folder."""
        try:
            yield
        except sqlite3.Error as error:
            raise ResultError(f"{self.folder / CAMPAIGN_FILE}: {error}") from None
        except OSError as error:
            raise ResultError(f"{self.folder}: {error.strerror or error}") from None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._store_errors():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise

    # The plan

    def set_plan(self, runs: Sequence[PlannedRun], inputs: Sequence[RunInputs], title: str) -> None:
        """Set the runs of the campaign. Finished runs keep their results. Runs no longer in the
        plan stay in the store but are hidden."""
        rows = [
            (entry.hash, position, run.name, run_document(run, entry), entry.starts_from)
            for position, (run, entry) in enumerate(zip(runs, inputs, strict=True))
        ]
        digest = content_sha256([title, [list(row) for row in rows]])
        if self._meta("plan") == digest:
            return
        with self._transaction() as database:
            database.execute("UPDATE runs SET position = NULL WHERE position IS NOT NULL")
            database.executemany(
                "INSERT INTO runs (hash, position, name, document, after) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (hash) DO UPDATE SET position = excluded.position, "
                "name = excluded.name, document = excluded.document, after = excluded.after",
                rows,
            )
            database.executemany(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)", [("title", title), ("plan", digest)]
            )

    @property
    def title(self) -> str:
        """Return the campaign's title."""
        return self._meta("title") or ""

    def retry_failed(self) -> None:
        """Reset failed runs, so that they run again."""
        with self._transaction() as database:
            database.execute(
                "UPDATE runs SET status = 'waiting', attempts = 0, error = NULL "
                "WHERE status = 'failed'"
            )

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[sqlite3.Row]:
        with self._store_errors():
            return self._database.execute(query, values).fetchall()

    # Claims

    def begin_work(self) -> None:
        """Start claiming runs for this process, and clear away the claims of dead ones."""
        locks = self.folder / "owners"
        with self._store_errors():
            if self._owner is None:
                self._owner = Owner(locks)
            forget_dead(locks)
            for part in (self.folder / "parts").iterdir():
                if not is_alive(locks, part.name.partition("~")[0]):
                    part.unlink(missing_ok=True)

    def claim(self, most: int) -> list[RunTask]:
        """Return up to this number of runs for this process, in the order of the plan. Runs whose
        predecessor is not done yet are left. Runs of processes that have ended are free again."""
        owner = self._worker().name
        with self._transaction() as database:
            for (other,) in database.execute(
                "SELECT DISTINCT owner FROM runs WHERE owner IS NOT NULL AND owner != ?", (owner,)
            ).fetchall():
                if not is_alive(self.folder / "owners", other):
                    database.execute("UPDATE runs SET owner = NULL WHERE owner = ?", (other,))
            database.execute(
                "WITH RECURSIVE lost AS (SELECT hash FROM runs WHERE status = 'failed' UNION "
                "SELECT r.hash FROM runs r JOIN lost ON r.after = lost.hash "
                "WHERE r.status = 'waiting' AND r.position IS NOT NULL) "
                "UPDATE runs SET status = 'failed', error = 'the run that it starts from failed' "
                "WHERE status = 'waiting' AND hash IN lost"
            )
            rows = database.execute(
                "SELECT r.hash, r.document, r.after, p.figures FROM runs r "
                "LEFT JOIN runs p ON p.hash = r.after "
                "WHERE r.status = 'waiting' AND r.position IS NOT NULL AND r.owner IS NULL "
                f"AND (r.after IS NULL OR p.status IN {_DONE}) ORDER BY r.position LIMIT ?",
                (most,),
            ).fetchall()
            database.executemany(
                "UPDATE runs SET owner = ? WHERE hash = ?", [(owner, row["hash"]) for row in rows]
            )
        tasks = []
        for row in rows:
            figures = None if row["figures"] is None else json.loads(row["figures"])
            start = None if figures is None else tuple(map(tuple, figures["rows"]))
            tasks.append(RunTask(row["hash"], run_inputs(row["document"], row["after"]), start))
        return tasks

    def waiting(self) -> int:
        """Return the number of runs of the plan that wait."""
        query = "SELECT count(*) FROM runs WHERE status = 'waiting' AND position IS NOT NULL"
        return int(self._rows(query)[0][0])

    def _worker(self) -> Owner:
        assert self._owner is not None, "begin_work() first"
        return self._owner

    # Outcomes

    def record(self, run_hash: str, outcome: RunOutcome) -> None:
        """Record the outcome of a run durably: when this returns, it is on the disk.

        Raises:
            ResultError: if it cannot be written. The run then counts as not done.
        """
        pack_sha256 = None
        with self._store_errors():
            if outcome.problem is not None and outcome.problem_sha256 is not None:
                path = self.problem_path(outcome.problem_sha256)
                if not path.exists():
                    self._write(path, outcome.problem)
            if outcome.pack is not None:
                pack_sha256 = sha256_of(outcome.pack)
                self._write(self.pack_path(run_hash), outcome.pack)
        figures = outcome.figures
        columns = {
            "status": outcome.status.value,
            "owner": None,
            "error": outcome.message[:_SHOWN_ERROR] or None,
            "seconds": outcome.seconds,
            "cpu_seconds": outcome.cpu_seconds,
            "search_cpu_seconds": outcome.search_cpu_seconds,
            "finished_at": time.time(),
            "evaluations": outcome.evaluations or None,
            "members": None if figures is None else len(figures.objectives),
            "problem_sha256": outcome.problem_sha256,
            "pack_sha256": pack_sha256,
            "figures": None if figures is None else figures_text(figures),
        }
        with self._transaction() as database:
            database.execute(
                f"UPDATE runs SET {', '.join(f'{name} = ?' for name in columns)} WHERE hash = ?",
                (*columns.values(), run_hash),
            )

    def _write(self, path: Path, data: bytes) -> None:
        part = self.folder / "parts" / f"{self._worker().name}~{path.name}"
        if not path.parent.exists():
            path.parent.mkdir(exist_ok=True)
            sync(path.parent.parent)
        replace_file(path, data, part)

    def record_failure(self, run_hash: str, error: str, *, max_attempts: int) -> bool:
        """Record a failed attempt. Return True if no retries are left. Otherwise requeue the run
        for this process."""
        with self._transaction() as database:
            database.execute(
                "UPDATE runs SET attempts = attempts + 1, error = ? WHERE hash = ?",
                (error[:_SHOWN_ERROR], run_hash),
            )
            failed = database.execute(
                "UPDATE runs SET status = 'failed', owner = NULL, finished_at = ? "
                "WHERE hash = ? AND attempts >= ?",
                (time.time(), run_hash, max_attempts),
            ).rowcount
        return failed > 0

    # Looking at it

    def counts(self) -> dict[RunStatus, tuple[int, float]]:
        """Return the number of runs of the plan by status, and the seconds that they took."""
        rows = self._rows(
            "SELECT status, count(*), total(seconds) FROM runs WHERE position IS NOT NULL "
            "GROUP BY status"
        )
        found = {RunStatus(status): (count, seconds) for status, count, seconds in rows}
        return {status: found.get(status, (0, 0.0)) for status in RunStatus}

    def at_work(self) -> int:
        """Return the number of runs that some living process has claimed."""
        query = "SELECT owner, count(*) FROM runs WHERE owner IS NOT NULL GROUP BY owner"
        rows = self._rows(query)
        locks = self.folder / "owners"
        return sum(count for owner, count in rows if is_alive(locks, owner))

    def records(
        self, status: RunStatus | None = None, *, most: int | None = None, figures: bool = True
    ) -> Iterator[RunRecord]:
        """Return the runs of the plan in its order. ``figures``: with the numbers of their
        fronts."""
        columns = ", ".join((*PLAIN_COLUMNS, "document", "after", "status"))
        where, values = ("", []) if status is None else ("AND status = ?", [status.value])
        with self._store_errors():
            for row in self._database.execute(
                f"SELECT {columns}, {'' if figures else 'NULL AS '}figures FROM runs "
                f"WHERE position IS NOT NULL {where} ORDER BY position LIMIT ?",
                (*values, -1 if most is None else most),
            ):
                yield record_of(row)

    def find(self, text: str) -> RunRecord:
        """Return the run of that name, or whose hash begins so.

        Raises:
            ResultError: if there is none, or several.
        """
        rows = self._rows("SELECT * FROM runs WHERE name = ? AND position IS NOT NULL", (text,))
        if not rows and len(text) >= 4 and set(text) <= set("0123456789abcdef"):
            query = "SELECT * FROM runs WHERE hash >= ? AND hash < ? LIMIT 2"
            rows = self._rows(query, (text, text + "g"))
        if len(rows) != 1:
            several = "several begin so" if rows else "there is none"
            first = ", ".join(repr(run.name) for run in self.records(most=1, figures=False))
            raise ResultError(
                f"run {text!r}: the name of a run or the beginning of its hash is required; "
                f"{several} in {self.folder}, whose first is {first} ('dse campaign export' has "
                "all)"
            )
        return record_of(rows[0])

    def pack_path(self, run_hash: str) -> Path:
        """Return the path of a run's files."""
        return file_in(self.folder, f"results/{run_hash[:2]}/{run_hash}.zip", ResultError)

    def problem_path(self, digest: str) -> Path:
        """Return the path of a problem."""
        return file_in(self.folder, f"problems/{digest[:2]}/{digest}.json.gz", ResultError)

    def files(self, record: RunRecord) -> dict[str, bytes]:
        """Return the files that are kept of a run, ``problem.json`` among them.

        Raises:
            ResultError: if there are none, or they are not those that were written.
        """
        if record.pack_sha256 is None:
            raise ResultError(
                f"run {record.name!r}: no files are kept of it ({record.status.value}"
                + (f": {record.error})" if record.error else "; see 'keep' of the campaign file)")
            )
        path = self.pack_path(record.hash)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise ResultError(f"{path}: cannot be read: {error.strerror}") from None
        _check_unchanged(path, data, record.pack_sha256)
        files = unpack(data)
        if FRONT_FILE in files and record.problem_sha256 is not None:
            path = self.problem_path(record.problem_sha256)
            with self._store_errors():
                problem = decompress(path.read_bytes())
            _check_unchanged(path, problem, record.problem_sha256)
            files[PROBLEM_FILE] = problem
        return files

    def front(self, record: RunRecord) -> tuple[Front, CostOrigins | None]:
        """Return the front of a run, and the origins of its costs if they are kept.

        Raises:
            ResultError: if the run keeps no front, or its files are not sound.
        """
        files = self.files(record)
        if FRONT_FILE not in files:
            raise ResultError(f"run {record.name!r}: {FRONT_FILE} is not kept of it")
        problem = problem_from_bytes(files[PROBLEM_FILE])
        front = front_from_document(parse(files[FRONT_FILE]), problem)
        costs = costs_from_bytes(files[COSTS_FILE], problem) if COSTS_FILE in files else None
        return front, costs


def _check_unchanged(path: Path, data: bytes, digest: str) -> None:
    if sha256_of(data) != digest:
        raise ResultError(f"{path}: was changed after it was written")
