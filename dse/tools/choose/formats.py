"""One number format for all boards, so that nothing in the table is mixed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from paretosoc.common.options import as_written
from paretosoc.common.text import did_you_mean
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.problem.runtime_limits import unserved_units
from paretosoc.dse.workload.options import Options
from paretosoc.platforms.platform import Platform, Unit
from paretosoc.results.problem.runtimes import RUNTIMES, Runtime, usual_runtime

_CPU = "cpu"


@dataclass(frozen=True)
class BoardFormat:
    """The number format of a board. ``left_out``: why it has none. ``remark``: what the table says
    about it. ``reason``: why it is that of all boards, if nobody asked for it."""

    name: str
    left_out: str = ""
    remark: str = ""
    reason: str = ""


def choose_formats(
    platforms: Sequence[Platform], asked: Sequence[str], runtime: Runtime | None
) -> dict[str, BoardFormat]:
    """Return the format of every platform, by its name.

    It is the one that is asked for, or one that all of them have: of several the default of most,
    then the one that most units have, then the narrowest.

    Args:
        asked: ``FORMAT`` for all or ``BOARD=FORMAT`` for one.
        runtime: that of the workload. None: the platform's own.

    Raises:
        WorkloadError: on a board that is not there, a format that no board has, or no common one.
    """
    of = {each.name: runtime or usual_runtime(each) for each in platforms}
    have = {platform.name: _formats_of(platform, of[platform.name]) for platform in platforms}
    common, own = _parse(asked, have)
    usual, reason = (common, "") if common else _common(platforms, have)
    found = {}
    for platform in platforms:
        name = own.get(platform.name, usual)
        board = _of_board(platform, name, usual, list(have[platform.name]), of[platform.name])
        found[platform.name] = replace(board, reason=reason)
    return found


def _parse(
    asked: Sequence[str], have: Mapping[str, Mapping[str, int]]
) -> tuple[str | None, dict[str, str]]:
    formats: dict[str, str] = {}
    known = dict.fromkeys(name for formats in have.values() for name in formats)
    for text in asked:
        board, equals, name = text.rpartition("=")
        if equals and board not in have:
            hint = did_you_mean(board, have)
            raise WorkloadError(f"{as_written('precision')}: there is no board {board!r} ({hint})")
        if name not in known:
            raise WorkloadError(
                f"{as_written('precision')}: [BOARD=]FORMAT with one of {', '.join(known)} is "
                f"required, got {text!r}"
            )
        if board in formats:
            raise WorkloadError(
                f"{as_written('precision')}: one format for {board or 'all boards'} is required, "
                f"got {formats[board]} and {name}"
            )
        formats[board] = name
    return formats.pop("", None), formats


def _common(
    platforms: Sequence[Platform], have: Mapping[str, Mapping[str, int]]
) -> tuple[str, str]:
    """Return the format, and why it is this one."""
    first = have[platforms[0].name]
    shared = [name for name in first if all(name in formats for formats in have.values())]
    if not shared:
        each = "; ".join(f"{board}: {', '.join(formats)}" for board, formats in have.items())
        raise WorkloadError(
            f"{as_written('precision')}: the boards have no number format in common ({each}); "
            "with FORMAT those that do not have it are left out, BOARD=FORMAT gives one its own"
        )
    defaults = [platform.default_precision for platform in platforms]

    def rank(name: str) -> tuple[int, int, int]:
        units = sum(formats[name] for formats in have.values())
        return -defaults.count(name), -units, int("".join(filter(str.isdigit, name)))

    name = min(shared, key=rank)
    others = [other for other in shared if other != name]
    if not others:
        return name, "the only number format that all have"
    count = defaults.count(name)
    of = f" of {count} of {len(defaults)}" if len(defaults) > 1 else ""
    how = f"the default{of}" if count else "which most units have"
    other = min(others, key=rank)
    return name, f"{how}; {as_written('precision', other)} takes {other.upper()} for all"


def _of_board(
    platform: Platform, name: str, usual: str, have: Sequence[str], runtime: Runtime
) -> BoardFormat:
    if name not in have:
        return BoardFormat(name, left_out=f"has no {name.upper()} ({', '.join(have).upper()})")
    remarks = [*unserved_units(platform, Options(), runtime)]
    if name != usual:
        remarks.append(f"{name.upper()} as asked for, {usual.upper()} elsewhere")
    without = [
        unit
        for unit in _served(platform, runtime)
        if unit.kind != _CPU and name not in unit.peak_by_format
    ]
    if without:
        unused = ", ".join(unit.name for unit in without)
        first = next(other for unit in without for other in unit.peak_by_format)
        own = as_written("precision", f"{platform.name}={first}")
        remarks.append(f"{unused} unused, as it has no {name.upper()} ({own} uses it)")
    return BoardFormat(name, remark="; ".join(remarks))


def _formats_of(platform: Platform, runtime: Runtime) -> dict[str, int]:
    """Return the formats that a board has, each with the number of units that have it."""
    refusal = RUNTIMES[runtime].refusal
    names = (name for unit in _served(platform, runtime) for name in unit.peak_by_format)
    return Counter(name for name in names if refusal((name,)) is None)


def _served(platform: Platform, runtime: Runtime) -> list[Unit]:
    places = RUNTIMES[runtime].places(platform)
    return [unit for unit in platform.units if unit.name in places]
