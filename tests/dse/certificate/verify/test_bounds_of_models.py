"""Bounds over boxes of every execution model and objective, changed and signed anew: refused, or
still true by enumeration; never a traceback.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.problems.enumerated.models import enumerated_model
from benchmarks.problems.enumerated.space import Enumerated, holds_a_point
from paretosoc.dse.certificate.boxes.prove import BoundedFront, bound_front
from paretosoc.dse.certificate.verify.checks import Verdict
from paretosoc.dse.certificate.verify.verify import verify
from paretosoc.results.export.result_folder import read_bounds, read_results, write_results
from paretosoc.results.front.bounds import BoundProof
from paretosoc.results.front.epsilon import open_corners, region_reaches
from paretosoc.results.front.front import Front
from paretosoc.results.io.canonical_json import canonical_bytes, content_sha256
from paretosoc.results.problem.execution import ClosedForm, FreeRunning, OneFrame, Pipeline
from paretosoc.results.problem.objectives import ObjectiveKind
from paretosoc.results.problem.problem import Problem
from tests.dse.certificate.boxes.test_prove import changed, front_of, is_within
from tests.dse.certificate.verify.test_random_edits import MEANINGFUL, places
from tests.support.sample import SAMPLE

EDITS = 24 * SAMPLE
PER_FOLDER = 24
BOXES = 6


def of(
    model: type, kind: ObjectiveKind | None = None, *, capped: bool = False
) -> Callable[[Problem], bool]:
    """Whether a problem is of a model, has an objective, and a power cap."""

    def fits(problem: Problem) -> bool:
        kinds = [objective.kind for objective in problem.objectives]
        is_capped = problem.power_cap_mw is not None or not capped
        return isinstance(problem.execution, model) and is_capped and kind in (None, *kinds)

    return fits


MODELS = {
    "efficiency of a frame": of(OneFrame, ObjectiveKind.EFFICIENCY),
    "throughput of a pipeline": of(Pipeline, ObjectiveKind.THROUGHPUT),
    "power of a pipeline": of(Pipeline, ObjectiveKind.POWER),
    "efficiency of a pipeline": of(Pipeline, ObjectiveKind.EFFICIENCY),
    "pipeline under a power cap": of(Pipeline, capped=True),
    "closed form": of(ClosedForm),
    "throughput of a free run": of(FreeRunning, ObjectiveKind.THROUGHPUT),
    "fairness of a free run": of(FreeRunning, ObjectiveKind.FAIRNESS),
    "power of a free run": of(FreeRunning, ObjectiveKind.POWER),
    "efficiency of a free run": of(FreeRunning, ObjectiveKind.EFFICIENCY),
    "free run under a power cap": of(FreeRunning, capped=True),
}


@dataclass(frozen=True, eq=False)
class Bounded:
    """A folder with bounds, and all that is true of its problem."""

    folder: Path
    found: Enumerated
    front: Front
    bounded: BoundedFront


def bounded_folders(fits: Callable[[Problem], bool], place: Path, count: int) -> list[Bounded]:
    """Folders of the first random problems of a kind that something is proved of."""
    folders: list[Bounded] = []
    seed = 0
    while len(folders) < count:
        seed += 1
        found = enumerated_model(seed)
        if found is None or not fits(found.problem):
            continue
        front = front_of(found, np.random.default_rng(seed))
        if front is None:
            continue
        bounded = bound_front(front, range(len(found.problem.objectives)), max_boxes=BOXES)
        if bounded is None or not bounded.proof.multipliers:
            continue
        folder = place / str(seed)
        front = replace(front, bounds=bounded.claim)
        write_results(folder, front, bounds=bounded.proof, pictures=False)
        folders.append(Bounded(folder, found, front, bounded))
    return folders


def better_region(random_: random.Random, front: Front, proof: BoundProof) -> BoundProof:
    """A corner is further out; the claim that goes with it may be false."""
    at = random_.randrange(len(proof.region))
    share = random_.choice([1, 10, 100, 1000])
    corner = tuple(None if v is None else v + abs(v) // share + 1 for v in proof.region[at])
    return replace(proof, region=(*proof.region[:at], corner, *proof.region[at + 1 :]))


def still_claimed(bounded: Bounded, proof: BoundProof) -> BoundedFront | None:
    """A claim that agrees with a changed proof; None where its region bounds nothing."""
    members = [member.objectives for member in bounded.front.members]
    if not region_reaches(open_corners(members), proof.region, 10**12):
        return None
    return BoundedFront(bounded.bounded.claim, proof).about(replace(bounded.front, bounds=None))


def edit_document(random_: random.Random, front: Any, bounds: Any) -> None:
    """One value of bounds.json, of the claim in front.json, or of both alike."""
    which = random_.randrange(4)
    target = front["bounds"] if which == 0 else bounds
    keys = [key for key in ("region", "objectives") if which == 3] or list(target)
    while True:
        key = random_.choice(keys)
        inside = [place for place in places(target) if place[2].split("[")[0] == key]
        container, name, _ = random_.choice(inside)
        new = random_.choice(MEANINGFUL)(random_, container[name])
        if json.dumps(new) != json.dumps(container[name]):
            container[name] = new
            break
    if which == 3:
        front["bounds"][key] = bounds[key]


def require_truth(bounded: Bounded, folder: Path) -> None:
    """What the folder claims is so, by enumeration."""
    front = read_results(folder)
    proof = read_bounds(folder, front.problem)
    assert front.bounds is not None
    assert proof is not None
    names = [*bounded.bounded.claim.objectives]
    columns = [names.index(name) for name in front.bounds.objectives]
    feasible = bounded.found.feasible[:, columns]
    for corner in proof.region:
        assert not holds_a_point(feasible, corner), corner
    members = np.array([member.objectives for member in front.members], dtype=np.int64)
    assert is_within(members[:, columns], feasible, front.bounds.epsilon_ppm)


@pytest.mark.parametrize("model", MODELS)
def test_an_edit_is_refused_or_true(model: str, tmp_path: Path) -> None:
    random_, seen = random.Random(model), Counter[str]()
    count = -(-EDITS // PER_FOLDER)
    for bounded in bounded_folders(MODELS[model], tmp_path, count):
        assert [check.verdict for check in verify(bounded.folder)][-1] is Verdict.HOLDS
        require_truth(bounded, bounded.folder)
        names = ("front", "bounds")
        kept = {name: (bounded.folder / f"{name}.json").read_bytes() for name in names}
        for _ in range(PER_FOLDER):
            documents = {name: json.loads(data) for name, data in kept.items()}
            if random_.randrange(2):
                # A consistent folder, with a proof that may be wrong.
                proof = bounded.bounded.proof
                if random_.randrange(2):
                    proof = better_region(random_, bounded.front, proof)
                else:
                    proof = changed(np.random.default_rng(random_.randrange(2**32)), proof)
                claimed = still_claimed(bounded, proof)
                if claimed is None:
                    continue
                front = replace(bounded.front, bounds=claimed.claim)
                write_results(bounded.folder, front, bounds=proof, pictures=False, overwrite=True)
            else:
                edit_document(random_, documents["front"], documents["bounds"])
                for name, document in documents.items():
                    signed = {k: v for k, v in document.items() if k != "content_sha256"}
                    document["content_sha256"] = content_sha256(signed)
                    (bounded.folder / f"{name}.json").write_bytes(canonical_bytes(document))
            last = [*verify(bounded.folder)][-1]
            if last.verdict is Verdict.HOLDS:
                require_truth(bounded, bounded.folder)
            seen[last.name if last.verdict is Verdict.FAILS else "holds"] += 1
        for name, data in kept.items():
            (bounded.folder / f"{name}.json").write_bytes(data)
    assert seen.total() - seen["holds"] > seen.total() // 6, seen
    assert seen["bounds"] > 0, seen
