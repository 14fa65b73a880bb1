"""Reading task graphs of TGFF ("Task Graphs For Free", Dick, Rhodes and Wolf, CODES 1998).

Carried: the tasks and arcs of one ``@TASK_GRAPH``, the quantities of ``@COMMUN_QUANT`` as bits, as
E3S and SDF3 count them, and the times of every table with a column ``task_time`` or ``exec_time``.
Such a table is a processor type, named like ``CORE0``. Tables called ``COMMUN``, as TGFF's examples
call those of arcs, count only if there are no others. Times become cycles: a ``task_time``, as in
E3S, is in seconds at the clock that the table has as ``max_freq``, else at 1 GHz. An ``exec_time``
has no unit, and one is 1000 cycles. Names of columns stand in comments. Periods and deadlines are
notes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil

from paretosoc.common.text import has_control_characters
from paretosoc.sdf.errors import GraphError
from paretosoc.sdf.formats.sdf3_xml import MAX_NUMBER
from paretosoc.sdf.graph import Actor, Channel, SdfGraph

CYCLES = {"task_time": 10**9, "exec_time": 1000}
"""Cycles of a time of one, by the name of the column."""
OF_ARCS = "COMMUN"
_OPEN = re.compile(r"@(\w+)\s+(\d+)\s*\{$")


@dataclass
class _Block:
    """``@KIND NUMBER { ... }``: its lines with their numbers, comments included."""

    kind: str
    number: int
    lines: list[tuple[str, str]] = field(default_factory=list)
    """Place in the file, and text."""


def parse_tgff(data: bytes, number: int = 0, *, origin: str = "TGFF") -> SdfGraph:
    """Return one task graph of a file.

    Raises:
        GraphError: if there is no such graph, or a line that it needs is of another form. The
            message names the line.
    """
    blocks = list(_blocks(data.decode("latin-1"), origin))
    graphs = {block.number: block for block in blocks if block.kind == "TASK_GRAPH"}
    if number not in graphs:
        known = ", ".join(map(str, graphs)) or "none"
        raise GraphError(f"{origin}: there is no task graph {number} (there are {known})")
    sizes = {
        int(row[0]): _number(row[1], where)
        for block in blocks
        if block.kind == "COMMUN_QUANT"
        for where, row, _ in _rows(block)
        if len(row) == 2 and row[0].isdigit()
    }
    tables = [table for block in blocks if (table := _times(block)) is not None]
    tables = [table for table in tables if not table[0].startswith(OF_ARCS)] or tables
    kinds: dict[str, int] = {}
    channels: dict[str, Channel] = {}
    notes = list(_notes(tables))
    for where, line in graphs[number].lines:
        words = line.partition("#")[0].split()
        if not words:
            continue
        given = dict(zip(map(str.upper, words[2::2]), words[3::2], strict=False))
        match words[0]:
            case "TASK":
                if words[1:2] and words[1] in kinds:
                    raise GraphError(f"{where}: task {words[1]!r} is there twice")
                kinds[_name(words, where)] = _index(given, "TYPE", where)
            case "ARC":
                source, target = given.get("FROM", ""), given.get("TO", "")
                if not {source, target} <= kinds.keys():
                    raise GraphError(f"{where}: FROM and TO must name tasks above, got {line!r}")
                size = sizes.get(_index(given, "TYPE", where), Fraction(0))
                # Some files of E3S have a name twice. A channel need not have one.
                name = _name(words, where)
                channels[where] = Channel(
                    source,
                    target,
                    token_bytes=max(1, -(-ceil(size) // 8)),
                    name="" if any(name == other.name for other in channels.values()) else name,
                )
            case "PERIOD" | "HARD_DEADLINE" | "SOFT_DEADLINE":
                notes.append(" ".join(words).lower())
    actors = tuple(
        Actor(name, execution_times=tuple((t, c[kind]) for t, c, _ in tables if kind in c))
        for name, kind in kinds.items()
    )
    return SdfGraph(f"graph{number}", actors, tuple(channels.values()), notes=tuple(notes))


def _blocks(text: str, origin: str) -> Iterator[_Block]:
    block: _Block | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        line, where = raw.strip(), f"{origin}: line {number}"
        opened = _OPEN.match(line)
        if opened is not None:
            block = _Block(opened[1], int(opened[2]))
            continue
        if line == "}" and block is not None:
            yield block
            block = None
        elif block is not None and line:
            block.lines.append((where, line))
    if block is not None:
        raise GraphError(f"{origin}: @{block.kind} {block.number} has no end")


def _rows(block: _Block) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield place and cells of each row, and the columns that the last fitting comment names."""
    heads: dict[int, list[str]] = {}
    for where, line in block.lines:
        words = line.lstrip("#").split()
        if not line.startswith("#"):
            yield where, words, heads.get(len(words), [])
        elif len(words) not in heads or "type" in words:
            heads[len(words)] = words


def _times(block: _Block) -> tuple[str, Mapping[int, int], int] | None:
    """Return the processor type of a table, its cycles by type of task, and the cycles of a time of
    one if it has no clock, else 0. None if it has no times."""
    frequency: Fraction | None = None
    times: dict[int, Fraction] = {}
    used = ""
    for where, row, head in _rows(block):
        known = dict(zip(head, row, strict=False))
        if "max_freq" in known and "type" not in known:
            frequency = _number(known["max_freq"], where)
        column = next((name for name in CYCLES if name in known), None)
        if column is not None and "type" in known and known.get("valid", "1") != "0":
            used = column
            times[_index(known, "type", where)] = _number(known[column], where)
    if not times:
        return None
    assumed = 0 if frequency is not None and used != "exec_time" else CYCLES[used]
    each = assumed or frequency or 0
    cycles = {kind: max(1, round(time * each)) for kind, time in times.items()}
    return f"{block.kind}{block.number}", cycles, assumed


def _notes(tables: Sequence[tuple[str, Mapping[int, int], int]]) -> Iterator[str]:
    for cycles in CYCLES.values():
        names = [name for name, _, assumed in tables if assumed == cycles]
        if names:
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            yield f"times of {names[0]}{more} have no clock: one is {cycles} cycles"


def _name(words: Sequence[str], where: str) -> str:
    if len(words) < 2 or has_control_characters(words[1]):
        raise GraphError(f"{where}: a name is required after {words[0]}")
    return words[1]


def _index(given: Mapping[str, str], key: str, where: str) -> int:
    text = given.get(key, "")
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise GraphError(f"{where}: {key} must be a whole number, got {text!r}")
    return int(text)


def _number(text: str, where: str) -> Fraction:
    try:
        value = Fraction(text) if len(text) <= 40 and abs(float(text)) <= MAX_NUMBER else None
    except ValueError:
        value = None
    if value is None or not 0 <= value <= MAX_NUMBER:
        raise GraphError(f"{where}: a number from 0 to {MAX_NUMBER} is required, got {text!r}")
    return value
