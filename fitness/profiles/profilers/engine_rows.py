"""Sort the rows of a TensorRT engine's profile by the work that they measure.

Rows come in the order of execution: layers (fused ones as one row), reformatting and copies, which
belong to the layer they are named after, and the parts given to a DLA. If the engine does not wait
for such a part, ``{...}``, its own row only hands it over. Its work then shows as the wait in the
first row afterwards that reads its result: ``... from nvm``, ``{...} output reformatter N``, or, if
neither is there, the input reformatter of the next layer. ``... to nvm`` and the part's own input
reformatter bring its inputs. ``... finish`` only signals. Newer versions (TensorRT 8.5 on Orin)
have no such rows: they wait in the part's own row, which then holds all its time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from paretosoc.fitness.profiles.layer_names import short_name
from paretosoc.fitness.profiles.profilers.trtexec_profile import EngineRow
from paretosoc.platforms.errors import PlatformError

_COPY_NODE = re.compile(r"Reformatting CopyNode for (Input|Output) Tensor \d+ (?:to|from|for) (.*)")
_REFORMATTER = re.compile(r"(.*) (input|output) reformatter \d+")
_FINISH = re.compile(r"(.*?)(?: output to be reformatted \d+| reformatted input \d+| copy)? finish")
_NVM = re.compile(r"(.*) (to|from) nvm")
_COPY = re.compile(r"(.*) copy")


class RowKind(Enum):
    """The work of a row of the engine."""

    LAYERS = "layers"
    INPUT = "input reformatting"
    OUTPUT = "output reformatting"
    TO_DLA = "to the DLA's memory"
    FROM_DLA = "from the DLA's memory"
    FINISH = "finish"


@dataclass(frozen=True)
class TimedRow:
    """Time of something named as the engine names it, ps."""

    name: str
    time_ps: Fraction


@dataclass
class EngineTimes:
    """The rows of an engine by the work that they measure.

    ``layers``: rows by the name of the layers they belong to. ``blocks``: the parts that a DLA ran,
    each with the names handed over together. ``handed_over``: bringing data there and back.
    ``flagged``: texts about unknown rows, with reasons.
    """

    layers: list[TimedRow] = field(default_factory=list)
    blocks: list[tuple[tuple[str, ...], Fraction]] = field(default_factory=list)
    handed_over: list[TimedRow] = field(default_factory=list)
    flagged: list[str] = field(default_factory=list)


def kind_of(name: str) -> tuple[RowKind, str]:
    """Return the kind of a row, and the name of the layers or part that it belongs to."""
    if found := _COPY_NODE.fullmatch(name):
        return RowKind.INPUT if found[1] == "Input" else RowKind.OUTPUT, found[2]
    if found := _REFORMATTER.fullmatch(name):
        return RowKind.INPUT if found[2] == "input" else RowKind.OUTPUT, found[1]
    if found := _FINISH.fullmatch(name):
        return RowKind.FINISH, found[1]
    if found := _NVM.fullmatch(name):
        return RowKind.TO_DLA if found[2] == "to" else RowKind.FROM_DLA, found[1]
    if found := _COPY.fullmatch(name):
        return RowKind.LAYERS, found[1]
    return RowKind.LAYERS, name


def is_block(name: str) -> bool:
    """Return whether a name denotes a part compiled as a whole, for a DLA or by a compiler."""
    return name.startswith("{") and name.endswith("}")


def sort_rows(
    rows: Sequence[EngineRow], *, has_dla: bool, use_median: bool, label: str
) -> EngineTimes:
    """Sort rows by the work that they measure.

    Args:
        rows: in the engine's order.
        has_dla: whether ``{...}`` rows ran on a DLA. Otherwise they are layers like others
            (Myelin).
        use_median: the median of the iterations instead of the mean.
        label: starts messages.

    Raises:
        PlatformError: if medians are requested and not there, or the rows show a DLA's work
            and ``has_dla`` is false.
    """
    result = EngineTimes()
    pending: list[TimedRow] = []
    between = 0
    kinds = [kind_of(row.name) for row in rows]
    signs = {RowKind.TO_DLA, RowKind.FROM_DLA, RowKind.FINISH}
    waits_later = any(kind in signs for kind, _ in kinds)
    if not has_dla and waits_later:
        sign = next(row.name for row, (kind, _) in zip(rows, kinds, strict=True) if kind in signs)
        raise PlatformError(
            f"{label}: a part of the engine ran on a DLA ({sign[-60:]!r}); "
            "--dla must name the unit that it was"
        )
    for place, (row, (kind, owner)) in enumerate(zip(rows, kinds, strict=True)):
        time = _time_of(row, use_median, label)
        dla = has_dla and is_block(owner)
        if dla and kind is RowKind.LAYERS:
            if waits_later:
                pending.append(TimedRow(owner, time))
            else:
                result.blocks.append(((owner,), time))
            continue
        if kind is RowKind.FINISH or kind is RowKind.TO_DLA or (dla and kind is RowKind.INPUT):
            result.handed_over.append(TimedRow(row.name, time))
            continue
        reads = kind is RowKind.FROM_DLA or (dla and kind is RowKind.OUTPUT)
        unread = bool(pending) and not between and not _is_read(kinds, place + 1, pending)
        if pending and (reads or (kind is RowKind.INPUT and unread)):
            _close(result, pending, time, between)
            pending, between = [], 0
        elif reads:
            result.handed_over.append(TimedRow(row.name, time))
        elif unread:
            result.flagged.append(
                f"{short_name(row.name)}: may hold the wait for {short_name(pending[0].name)}, so "
                "neither time is known; not used"
            )
            pending = []
        else:
            between += bool(pending)
            result.layers.append(TimedRow(owner, time))
    result.flagged += [f"{short_name(row.name)}: no row waits for it; not used" for row in pending]
    return result


def _time_of(row: EngineRow, use_median: bool, label: str) -> Fraction:
    if not use_median:
        return row.mean_ps
    if row.median_ps is None:
        raise PlatformError(f"{label}: --median needs medians, got none for {short_name(row.name)}")
    return row.median_ps


def _is_read(kinds: Sequence[tuple[RowKind, str]], start: int, pending: Sequence[TimedRow]) -> bool:
    """Return whether a row from ``start`` on reads the pending parts' results by their own name."""
    names = {row.name for row in pending}
    for place in range(start, len(kinds)):
        kind, owner = kinds[place]
        if kind is RowKind.FROM_DLA or (kind is RowKind.OUTPUT and owner in names):
            return True
        if kind is RowKind.LAYERS and is_block(owner):
            return False
    return False


def _close(result: EngineTimes, pending: list[TimedRow], wait: Fraction, between: int) -> None:
    names = tuple(row.name for row in pending)
    if between:
        result.flagged.append(
            f"{short_name(names[0])}: {between} rows of another unit ran while the DLA did, so its "
            "time is unknown; not used"
        )
        return
    result.blocks.append((names, wait + sum((row.time_ps for row in pending), Fraction(0))))
