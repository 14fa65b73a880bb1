"""The front of a run out of the store."""

from __future__ import annotations

from paretosoc.dse.tools.campaign.store.run_record import RunRecord
from paretosoc.dse.tools.campaign.store.store import Store
from paretosoc.results.costs.cost_origins import CostOrigins
from paretosoc.results.costs.costs_file import costs_from_bytes
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import COSTS_FILE, FRONT_FILE, PROBLEM_FILE
from paretosoc.results.front.front import Front
from paretosoc.results.front.front_reader import front_from_document
from paretosoc.results.io.canonical_json import parse
from paretosoc.results.problem.problem_reader import problem_from_bytes


def stored_front(store: Store, record: RunRecord) -> tuple[Front, CostOrigins | None]:
    """Return the front, and the origins of its costs if they are kept.

    Raises:
        ResultError: if the run keeps no front, or its files are not sound.
    """
    files = store.files(record)
    if FRONT_FILE not in files:
        raise ResultError(f"run {record.name!r}: {FRONT_FILE} is not kept of it")
    problem = problem_from_bytes(files[PROBLEM_FILE])
    front = front_from_document(parse(files[FRONT_FILE]), problem)
    costs = costs_from_bytes(files[COSTS_FILE], problem) if COSTS_FILE in files else None
    return front, costs
