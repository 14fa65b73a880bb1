"""Bounds over boxes that somebody changed and signed anew: refused, never a traceback."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.problems.enumerated.frames import enumerated
from paretosoc.dse.certificate.boxes.prove import bound_front
from paretosoc.dse.certificate.verify.verify import Check, Verdict, verify
from paretosoc.results.errors import ResultError
from paretosoc.results.export.result_folder import read_results, write_results
from paretosoc.results.io.canonical_json import canonical_bytes, content_sha256
from tests.dse.certificate.boxes.test_prove import front_of

Change = Callable[[Any, Any], object]
"""Changes front.json and bounds.json."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = enumerated(0)
    assert found is not None
    front = front_of(found, np.random.default_rng(0))
    assert front is not None
    bounded = bound_front(front, (0, 1), max_boxes=6)
    assert bounded is not None
    assert len(bounded.claim.members) > 1
    place = tmp_path_factory.mktemp("bounds") / "result"
    front = replace(front, bounds=bounded.claim)
    write_results(place, front, bounds=bounded.proof, pictures=False)
    return place


def last_check(folder: Path, place: Path, change: Change) -> Check:
    """What verify says at the end of a changed copy."""
    place.mkdir()
    (place / "problem.json").write_bytes((folder / "problem.json").read_bytes())
    documents = [json.loads((folder / f"{name}.json").read_bytes()) for name in ("front", "bounds")]
    change(*documents)
    for name, document in zip(("front", "bounds"), documents, strict=True):
        document["content_sha256"] = content_sha256(
            {key: value for key, value in document.items() if key != "content_sha256"}
        )
        (place / f"{name}.json").write_bytes(canonical_bytes(document))
    return [*verify(place)][-1]


def put(key: str, value: Any) -> Change:
    """Puts a value into the claim of front.json."""
    return lambda front, bounds: front["bounds"].update({key: value})


def one_objective(front: Any, bounds: Any) -> None:
    """The claim about latency alone, which follows."""
    any_value = 2**63 - 1
    region = [[row[0]] for row in bounds["region"] if row[1] == any_value]
    first = {"objectives": bounds["objectives"][:1], "region": region}
    front["bounds"] |= copy.deepcopy(first) | {"members": [0]}
    bounds |= first


def test_as_it_was_written_it_holds(folder: Path, tmp_path: Path) -> None:
    check = last_check(folder, tmp_path / "same", lambda front, bounds: None)
    assert check.verdict is Verdict.HOLDS
    assert " of every point: " in check.detail


def test_a_claim_about_one_objective_says_so(folder: Path, tmp_path: Path) -> None:
    check = last_check(folder, tmp_path / "one", one_objective)
    assert check.verdict is Verdict.HOLDS
    assert " of every point in latency_ps: " in check.detail


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda front, bounds: bounds["tree"].append("=" + "9" * 5000), r"$.tree["),
        (lambda front, bounds: bounds["tree"].insert(0, "9" * 5000 + "/1"), r"$.tree[0]"),
        (lambda front, bounds: bounds["tree"].insert(0, "0/" + "f" * 5000), "$.tree[0]"),
        (lambda front, bounds: front["members"].clear(), "$.bounds.members[0]"),
        (put("members", [99]), "$.bounds.members[0]: must be below 2, got 99"),
        (put("objectives", ["nope", "energy_fj"]), "$.bounds.objectives[0]"),
        (put("objectives", ["energy_fj"] * 2), "$.bounds.objectives[1]"),
        (put("region", [[1], [2, 3, 4]]), "$.bounds.region[0]: must have 2 values, got 1"),
        (put("region", []), "region"),
        (put("epsilon_ppm", 0), "epsilon_ppm"),
    ],
)
def test_what_was_changed_is_refused(
    folder: Path, tmp_path: Path, change: Change, said: str
) -> None:
    check = last_check(folder, tmp_path / "changed", change)
    assert check.verdict is Verdict.FAILS
    assert said in check.detail


def test_reading_refuses_a_claim_about_what_there_is_not(folder: Path, tmp_path: Path) -> None:
    """So nothing that shows a front meets one."""
    last_check(folder, tmp_path / "shown", put("region", [[1]]))
    with pytest.raises(ResultError, match=r"\$\.bounds\.region\[0\]"):
        read_results(tmp_path / "shown")
