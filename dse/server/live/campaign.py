"""A campaign as it runs: runs by state, and the report of each that is finished."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from paretosoc.dse.server.live.serve import live_page
from paretosoc.dse.tools.campaign.execute.runner import CampaignProgress
from paretosoc.dse.tools.campaign.store.run import RunStatus
from paretosoc.dse.tools.campaign.store.store import Store
from paretosoc.fitness.execution import schedule_of
from paretosoc.results.errors import ResultError
from paretosoc.results.export.report import report_html
from paretosoc.results.io.canonical_json import Json

MAX_RUNS = 200
"""Shown of one state."""


class LiveCampaign:
    """View of a campaign. Reads the store like any other process, one connection per request."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._progress: CampaignProgress | None = None
        self._ended = False

    def running(self, progress: CampaignProgress) -> None:
        """Record that some runs are done."""
        self._progress = progress

    def ended(self) -> None:
        """Record that no run is left, or that Ctrl-C has ended the campaign."""
        self._ended = True

    def page(self) -> str:
        """Return the page (see :class:`dse.server.live.serve.View`)."""
        with Store(self._folder) as store:
            return live_page(store.title, "campaign")

    def state(self, query: Mapping[str, str]) -> Json:
        """Return counts by state, and the runs of the state that is asked for."""
        asked = query.get("state")
        status = next((s for s in RunStatus if s.value == asked), RunStatus.FINISHED)
        with Store(self._folder) as store:
            counts = store.counts()
            runs: list[Json] = [
                {
                    "name": run.name,
                    "hash": run.hash,
                    "members": run.members,
                    "seconds": run.seconds,
                    "error": "".join((run.error or "").strip().splitlines()[-1:]),
                    "report": run.pack_sha256 is not None and "front" in run.inputs.keep,
                }
                for run in store.records(status, most=MAX_RUNS, figures=False)
            ]
        progress = self._progress
        return {
            "phase": "ended" if self._ended else "running",
            "running": 0 if progress is None else progress.running,
            "seconds_left": None if progress is None else progress.seconds_left,
            "counts": {entry.value: count for entry, (count, _) in counts.items()},
            "state": status.value,
            "runs": runs,
        }

    def report(self, name: str) -> str | None:
        """Return the report of a run, by its hash."""
        try:
            with Store(self._folder) as store:
                front, costs = store.front(store.find(name))
        except ResultError:
            return None
        return report_html(front, schedule_of, costs)
