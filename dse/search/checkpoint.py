"""Checkpoints of a search, written atomically.

A file in numpy's ``.npz`` format, which holds arrays of numbers only and never code (nothing is
pickled), one of them the bytes of a JSON text.
"""

from __future__ import annotations

import io
import json
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretosoc.common.arrays import IntArray
from paretosoc.common.documents.strict_json import parse_json
from paretosoc.common.errors import DseError
from paretosoc.common.files import check_replaceable, naming, read_file, replace_file
from paretosoc.dse.search.archive import Archive
from paretosoc.dse.search.base import EngineState, checked_rows
from paretosoc.dse.space.design_space import DesignSpace
from paretosoc.results.errors import ResultError

FORMAT = "paretosoc-checkpoint/1"
SECONDS_BETWEEN = 10.0


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The front after a number of evaluations."""

    evaluations: int
    objectives: IntArray


@dataclass(frozen=True, eq=False)
class SearchState:
    """The state of a search before ``pending``, the engine's proposal, is evaluated."""

    evaluations: int
    seconds: float
    pending: IntArray
    archive: Archive
    snapshots: tuple[Snapshot, ...]
    mark: Snapshot | None
    """The front that the present one is compared with, to see whether the search has stalled."""
    engine: EngineState


@dataclass(frozen=True)
class Identity:
    """Identity of a search. A checkpoint of another one is refused."""

    problem_sha256: str
    engine: str
    seed: int
    version: str


class CheckpointFile:
    """Keeps the last state of one search in a file.

    Raises:
        ResultError: if the path is not that of a file, nor of one that can be made.
    """

    def __init__(
        self,
        path: Path,
        identity: Identity,
        space: DesignSpace,
        constraints: int,
        *,
        seconds_between: float | None = None,
    ) -> None:
        try:
            check_replaceable(path)
        except OSError as error:
            raise ResultError(f"checkpoint {str(path)!r}: {error.strerror}") from None
        self.path = path
        self._identity = identity
        self._space = space
        self._constraints = constraints
        self._seconds_between = SECONDS_BETWEEN if seconds_between is None else seconds_between
        self._written = time.monotonic()

    def empty_archive(self) -> Archive:
        """Return an empty archive for rows of this search."""
        return _empty_archive(self._space, self._constraints)

    def due(self) -> bool:
        """Return whether it is time to write again."""
        return time.monotonic() - self._written >= self._seconds_between

    def write(self, state: SearchState) -> None:
        """Replace the file. A process killed meanwhile leaves the old one.

        Raises:
            ResultError: if the file cannot be written.
        """
        data = _bytes_of(state, self._identity)
        try:
            replace_file(self.path, data)
        except OSError as error:
            raise ResultError(f"{self.path}: cannot be written: {error.strerror}") from None
        self._written = time.monotonic()

    def read(self) -> SearchState | None:
        """Return the last state, or None if there is no file yet.

        Raises:
            ResultError: if the file cannot be read, is no checkpoint, or one of another search.
        """
        if not self.path.exists():
            return None
        data = read_file(self.path, ResultError)
        with naming(self.path, ResultError, ValueError):
            return _state_from(data, self._identity, self._space, self._constraints)


def _bytes_of(state: SearchState, identity: Identity) -> bytes:
    fronts = [*state.snapshots, *([] if state.mark is None else [state.mark])]
    meta = {
        "format": FORMAT,
        **vars(identity),
        "evaluations": state.evaluations,
        "seconds": state.seconds,
        "snapshots": len(state.snapshots),
        "marked": state.mark is not None,
        "generator": state.engine.generator,
    }
    arrays: dict[str, NDArray[Any]] = {
        "meta": np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8),
        "pending": state.pending,
        **state.archive.arrays("front_"),
        "snapshot_evaluations": np.array([entry.evaluations for entry in fronts], dtype=np.int64),
        "snapshot_members": np.array([len(entry.objectives) for entry in fronts], dtype=np.int64),
        "snapshot_objectives": np.concatenate(
            [state.archive.objectives[:0], *(entry.objectives for entry in fronts)]
        ),
    }
    arrays |= {f"engine_{name}": array for name, array in state.engine.arrays.items()}
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _state_from(
    data: bytes, identity: Identity, space: DesignSpace, constraints: int
) -> SearchState:
    arrays = _arrays_from(data)
    meta = _meta_from(arrays.pop("meta", np.zeros(0, dtype=np.uint8)))
    for name, wanted in vars(identity).items():
        if meta.get(name) != wanted:
            what = name.replace("_", " ")
            raise ValueError(
                f"is a checkpoint of another search: its {what} is {meta.get(name)!r}, "
                f"this one's {wanted!r}"
            )
    state = EngineState(
        {name.removeprefix("engine_"): a for name, a in arrays.items() if name[:7] == "engine_"},
        meta["generator"],
    )
    stored = EngineState(arrays, {})
    width = len(space.problem.objectives)
    archive = _empty_archive(space, constraints)
    archive.restore(stored, "front_", space)
    pending = checked_rows("pending", stored.array("pending", np.int64, (None, space.width)), space)
    evaluations = stored.array("snapshot_evaluations", np.int64, (None,), least=0)
    count = len(evaluations)
    members = stored.array("snapshot_members", np.int64, (count,), least=1)
    objectives = stored.array("snapshot_objectives", np.int64, (int(members.sum()), width))
    parts = np.split(objectives, np.cumsum(members)[:-1]) if count else []
    fronts = [Snapshot(int(at), part) for at, part in zip(evaluations, parts, strict=True)]
    if count != meta["snapshots"] + meta["marked"]:
        raise ValueError("snapshots: are not as many as the file says")
    return SearchState(
        evaluations=meta["evaluations"],
        seconds=meta["seconds"],
        pending=pending,
        archive=archive,
        snapshots=tuple(fronts[: meta["snapshots"]]),
        mark=fronts[-1] if meta["marked"] else None,
        engine=state,
    )


def _empty_archive(space: DesignSpace, constraints: int) -> Archive:
    return Archive(space.width, len(space.problem.objectives), constraints)


def _arrays_from(data: bytes) -> dict[str, NDArray[Any]]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            # Checkpoints are not compressed, so an archive that unfolds to more bytes is not one.
            if sum(entry.file_size for entry in archive.infolist()) > len(data):
                raise ValueError
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except Exception:
        # zipfile, zlib and numpy have a dozen kinds of errors for damaged files.
        raise ValueError("is not a checkpoint, or a damaged one") from None


def _meta_from(text: NDArray[Any]) -> dict[str, Any]:
    required: dict[str, type] = {
        "evaluations": int,
        "seconds": float,
        "snapshots": int,
        "marked": bool,
        "generator": dict,
    }
    try:
        meta = parse_json(text.tobytes())
    except DseError:
        meta = None
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise ValueError(f"is not a checkpoint of the form {FORMAT}")
    for name, kind in required.items():
        value = meta.get(name)
        if not isinstance(value, kind) or (isinstance(value, int | float) and not value >= 0):
            raise ValueError(f"{name}: {kind.__name__} from 0 is required, got {value!r}")
    return meta
