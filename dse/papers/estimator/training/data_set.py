"""The estimator's data: design points of random workloads and their results.

On disk a data set is two files: ``NAME.npz`` with the arrays of :class:`DataSet`, and ``NAME.json``
with the workloads and the plan that made them.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import zipfile
import zlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.array_files import read_array
from paretosoc.common.arrays import FloatArray, IntArray
from paretosoc.common.files import read_file
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.papers.estimator.inputs import joined
from paretosoc.dse.papers.estimator.predictor import TimelinePredictor
from paretosoc.dse.papers.estimator.tokens import TokenMaker, Tokens
from paretosoc.dse.papers.estimator.training.machine import in_processes
from paretosoc.dse.papers.estimator.training.workloads import (
    GROUPS,
    MAX_NETWORKS,
    PLATFORM,
    build,
    random_rows,
    random_workload,
)
from paretosoc.dse.problem.network_tables import NetworkTables
from paretosoc.results.errors import ResultError
from paretosoc.results.io.canonical_json import Json, canonical_bytes, parse
from paretosoc.results.problem.problem import Problem
from paretosoc.sdf.catalogue.catalogue import catalogue

FORMAT = "paretosoc estimator data 1"
MAX_DRAWS = 100


@dataclass(frozen=True)
class DataPlan:
    """The plan of a data set: the same plan gives the same data, on any number of processes."""

    seed: int
    workloads: int
    rows: int
    """Design points of each workload."""
    networks: tuple[str, ...] = ()
    """Networks that workloads are drawn from. Empty: the entire catalogue, as it is then."""
    platform: str = PLATFORM
    groups: int = GROUPS


@dataclass(frozen=True, eq=False)
class DataSet:
    """n design points of w workloads."""

    workloads: tuple[tuple[str, ...], ...]
    platform: str
    groups: int
    origin: str
    """``timeline``, or the name of the file of measurements."""
    seed: int | None
    workload: IntArray
    """[n]: index of the workload, ascending."""
    rows: tuple[IntArray, ...]
    """n rows [groups + domains], as the problem of the workload has them."""
    throughput_hz: FloatArray
    """[n]: mean over the networks."""
    power_w: FloatArray
    """[n]"""
    pool: tuple[str, ...] = ()
    """Networks that the workloads were drawn from, in the order of the draw."""
    tokens: Tokens | None = None
    """Tokens of the rows, if they were made. They are not part of files."""

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def sha256(self) -> str:
        """Return the hash of the whole content. Equal data have equal hashes on any machine."""
        digest = hashlib.sha256(canonical_bytes(self.document()))
        for array in (self.workload, *self.rows):
            digest.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
        for values in (self.throughput_hz, self.power_w):
            digest.update(np.ascontiguousarray(values, dtype="<f8").tobytes())
        return digest.hexdigest()

    def document(self) -> dict[str, Json]:
        """Return the content of the JSON file, without the hash."""
        return {
            "format": FORMAT,
            "platform": self.platform,
            "groups": self.groups,
            "origin": self.origin,
            "seed": self.seed,
            "pool": list(self.pool),
            "workloads": [list(names) for names in self.workloads],
        }


def make_data(
    plan: DataPlan,
    *,
    short_play: bool = True,
    jobs: int = 1,
    on_progress: Callable[[int, int], None] | None = None,
) -> DataSet:
    """Draw workloads and design points, let the timeline judge them, and make their tokens.

    Args:
        short_play: whether the tokens have one. The rest of the data is the same without.
        jobs: processes. More than one are spawned, so callers need an importable main module.
        on_progress: called with the numbers of finished and of all workloads.

    Raises:
        WorkloadError: if there is no workload that can be built.
    """
    pool = plan.networks or tuple(entry.name for entry in catalogue() if entry.takes_images)
    parts = in_processes(
        partial(_part, plan, pool, short_play),
        range(plan.workloads),
        jobs=jobs,
        on_done=lambda done: on_progress(done, plan.workloads) if on_progress else None,
    )
    return replace(
        parts[0],
        workloads=tuple(part.workloads[0] for part in parts),
        workload=np.repeat(np.arange(len(parts), dtype=np.int64), list(map(len, parts))),
        rows=tuple(row for part in parts for row in part.rows),
        throughput_hz=np.concatenate([part.throughput_hz for part in parts]),
        power_w=np.concatenate([part.power_w for part in parts]),
        tokens=joined([part.tokens for part in parts if part.tokens is not None]),
    )


def with_tokens(
    data: DataSet,
    *,
    short_play: bool = True,
    jobs: int = 1,
    on_progress: Callable[[int, int], None] | None = None,
) -> DataSet:
    """Return the same data with tokens, if they come from a file.

    Args:
        short_play: whether the tokens have one.

    Raises:
        WorkloadError: if the networks are not cut as they were when the data were made.
    """
    ends = np.searchsorted(data.workload, np.arange(len(data.workloads) + 1))
    tasks = [
        (names, data.platform, data.groups, data.rows[ends[w] : ends[w + 1]])
        for w, names in enumerate(data.workloads)
    ]
    parts = in_processes(
        partial(_tokens_of_workload, short_play),
        tasks,
        jobs=jobs,
        on_done=lambda done: on_progress(done, len(tasks)) if on_progress else None,
    )
    return replace(data, tokens=joined(parts))


def _tokens_of_workload(
    short_play: bool, task: tuple[tuple[str, ...], str, int, tuple[IntArray, ...]]
) -> Tokens:
    names, platform, groups, rows = task
    problem = build(names, platform, groups=groups, known=_KNOWN)
    return TokenMaker(problem, short_play=short_play)(stacked_rows(problem, rows))


def stacked_rows(problem: Problem, rows: Sequence[IntArray]) -> IntArray:
    """Return [n, groups + domains]: rows of a data set, checked against the problem of their
    workload.

    Raises:
        WorkloadError: if one is no design point of the problem.
    """
    names = ", ".join(network.name for network in problem.networks)
    groups, width = problem.group_count, problem.group_count + len(problem.domains)
    for row in rows:
        if len(row) != width:
            raise WorkloadError(
                f"data: rows of {names}: {width} genes are required, got {len(row)}; the networks "
                "were cut differently when the data were made"
            )
    stacked = np.stack(rows)
    mapping, points = stacked[:, :groups], stacked[:, groups:]
    ladders = np.array([len(domain.allowed) for domain in problem.domains])
    fits = (
        ((stacked >= 0).all() and (mapping < len(problem.units)).all())
        and problem.allowed[np.arange(groups), mapping].all()
        and (points < ladders).all()
    )
    if not fits:
        raise WorkloadError(
            f"data: rows of {names}: units that can run their groups and points of the ladders are "
            "required; the platform or the networks were others when the data were made"
        )
    return stacked


def problems_with_rows(data: DataSet) -> Iterator[tuple[Problem, IntArray]]:
    """Yield the problem of each workload that has rows, and its rows [n, groups + domains].

    Raises:
        WorkloadError: if the networks are not cut as they were when the data were made.
    """
    known: dict[Hashable, NetworkTables] = {}
    for w, rows in itertools.groupby(range(len(data)), data.workload.tolist().__getitem__):
        problem = build(data.workloads[w], data.platform, groups=data.groups, known=known)
        yield problem, stacked_rows(problem, [data.rows[i] for i in rows])


_KNOWN: dict[Hashable, NetworkTables] = {}
"""Networks that this process has cut and costed."""


def _part(plan: DataPlan, pool: tuple[str, ...], short_play: bool, workload: int) -> DataSet:
    """Return the data of a workload of the plan. It and its rows have generators of their own, so
    that shorter plans are beginnings of longer ones. One whose figures leave int64 is drawn
    again."""
    rng = np.random.default_rng([plan.seed, workload])
    for _ in range(MAX_DRAWS):
        names = random_workload(rng, pool, most=min(MAX_NETWORKS, len(pool)))
        try:
            problem = build(names, plan.platform, groups=plan.groups, known=_KNOWN)
        except ResultError:
            continue
        break
    else:
        raise WorkloadError(f"networks: no workload of {', '.join(pool)} can be built")
    timeline = TimelinePredictor()
    rows = np.concatenate(
        [
            random_rows(np.random.default_rng([plan.seed, workload, row]), problem, 1, timeline)
            for row in range(plan.rows)
        ]
    )
    said = timeline.predict(problem, rows)
    tokens = TokenMaker(problem, short_play=short_play)(rows)
    return DataSet(
        workloads=(names,),
        platform=plan.platform,
        groups=plan.groups,
        origin="timeline",
        pool=pool,
        seed=plan.seed,
        workload=np.zeros(len(rows), dtype=np.int64),
        rows=tuple(rows),
        throughput_hz=said.throughput_hz,
        power_w=said.power_w,
        tokens=tokens,
    )


def data_files(data: DataSet) -> dict[str, bytes]:
    """Return the bytes of ``data.npz`` and ``data.json``, by name."""
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        workload=data.workload.astype(np.int32),
        length=np.array([len(row) for row in data.rows], dtype=np.int32),
        genes=np.concatenate(data.rows).astype(np.int16),
        throughput_hz=data.throughput_hz,
        power_w=data.power_w,
    )
    document = data.document() | {"sha256": data.sha256}
    return {"data.npz": buffer.getvalue(), "data.json": canonical_bytes(document)}


_UNREADABLE = (
    *(KeyError, ValueError, TypeError, AttributeError, OSError, EOFError),
    *(zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError),
)
"""Errors that zipfile and a document of another form may raise."""


def _arrays(path: Path) -> dict[str, NDArray[Any]]:
    found = {}
    with zipfile.ZipFile(path) as archive:
        for name in ("workload", "length", "genes", "throughput_hz", "power_w"):
            with archive.open(f"{name}.npy") as member:
                found[name] = read_array(member, path, WorkloadError)
    return found


def load_data(path: Path) -> DataSet:
    """Read ``data.npz`` under any name, and the JSON beside it.

    Raises:
        WorkloadError: if a file is missing, is none of the kind, or was changed.
    """
    if not path.is_file():
        raise WorkloadError(
            f"{path}: cannot be read: it is {'a folder' if path.is_dir() else 'not there'}"
        )
    beside = path.with_suffix(".json")
    text = read_file(beside, WorkloadError)
    try:
        document: Any = parse(text)
        if document.get("format") != FORMAT:
            raise ValueError(f"format: {FORMAT!r} is required, got {document.get('format')!r}")
        arrays = _arrays(path)
        ends = np.cumsum(arrays["length"])
        data = DataSet(
            workloads=tuple(tuple(names) for names in document["workloads"]),
            platform=document["platform"],
            groups=document["groups"],
            origin=document["origin"],
            seed=document["seed"],
            pool=tuple(document["pool"]),
            workload=arrays["workload"].astype(np.int64),
            rows=tuple(np.split(arrays["genes"].astype(np.int64), ends[:-1])),
            throughput_hz=arrays["throughput_hz"],
            power_w=arrays["power_w"],
        )
    except _UNREADABLE:
        raise WorkloadError(f"{path}: is no data set of the estimator, or a damaged one") from None
    if data.sha256 != document.get("sha256"):
        raise WorkloadError(f"{path}: its content is not what {beside.name} says (sha256)")
    return data
