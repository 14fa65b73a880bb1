"""The tables of a campaign's database."""

from __future__ import annotations

import sqlite3
from pathlib import Path

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
