"""Texts around measurements: logs of tools, and tables (CSV) of the user, with checked columns and
cells that know their line."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from paretosoc.common.files import read_file
from paretosoc.common.text import printable
from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.exact_json import exact_decimal


@dataclass(frozen=True)
class TableRow:
    """One row: column to text without surrounding spaces. ``where`` starts its messages."""

    cells: Mapping[str, str]
    where: str

    def number(self, column: str) -> Fraction | None:
        """Return the number in a column, or None if the cell is empty.

        Raises:
            PlatformError: if it is no number, or negative.
        """
        text = self.cells[column]
        if not text:
            return None
        try:
            value = Fraction(exact_decimal(text))
        except (ArithmeticError, ValueError, PlatformError):
            raise PlatformError(f"{self.where}: {column} must be a number, got {text!r}") from None
        if value < 0:
            raise PlatformError(f"{self.where}: {column} must not be negative, got {text!r}")
        return value

    def number_or_file(
        self, column: str, folder: Path, read: Callable[[str, str], Fraction]
    ) -> tuple[Fraction, str] | None:
        """Return the number in a column, or the one that ``read`` (text, label) takes from the file
        named there, with a text for people. None if the cell is empty. The path of the file is
        relative to ``folder``.

        Raises:
            PlatformError: as :meth:`number`, or if the file cannot be used.
        """
        text = self.cells[column]
        try:
            exact_decimal(text)
        except (ArithmeticError, ValueError, PlatformError):
            pass
        else:
            value = self.number(column)
            return None if value is None else (value, text)
        if not text:
            return None
        file = folder / text
        if not file.is_file():
            raise PlatformError(f"{self.where}: {column} must be a number or a file, got {text!r}")
        return read(read_log(file), str(file)), text


def read_log(path: str | Path) -> str:
    """Return the text of a log. Bytes that are no UTF-8, and control characters, become
    replacement characters.

    Raises:
        PlatformError: if it cannot be read, or is too long.
    """
    text = read_file(path, PlatformError).decode("utf-8-sig", "replace")
    return printable(text.replace("\r\n", "\n").replace("\r", "\n"))


def read_table(
    path: Path, columns: Sequence[str], *, optional: Collection[str] = ()
) -> list[TableRow]:
    """Return the rows of a CSV file with a line of column names. Empty lines and ``#`` lines are
    skipped. Columns that are ``optional`` and not there read as empty.

    Raises:
        PlatformError: if the file cannot be read, has other columns, or no row.
    """
    text = read_log(path)
    rows: list[TableRow] = []
    header: list[str] | None = None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for cells in reader:
            stripped = [cell.strip() for cell in cells]
            if not any(stripped) or stripped[0].startswith("#"):
                continue
            where = f"{path}, line {reader.line_num}"
            if header is None:
                header = _header(stripped, columns, optional, str(path))
                continue
            if len(stripped) != len(header):
                raise PlatformError(
                    f"{where}: must have {len(header)} cells, one per column, got {len(stripped)}"
                )
            known = dict.fromkeys(columns, "") | dict(zip(header, stripped, strict=True))
            rows.append(TableRow(known, where))
    except csv.Error as error:
        raise PlatformError(f"{path}, line {reader.line_num}: must be CSV: {error}") from None
    if not rows:
        raise PlatformError(f"{path}: must have a line of column names and rows, got no row")
    return rows


def _header(
    cells: list[str], columns: Sequence[str], optional: Collection[str], label: str
) -> list[str]:
    names = [cell.lower() for cell in cells]
    missing = [name for name in columns if name not in names and name not in optional]
    other = [name for name in names if name not in columns]
    if missing or other or len(set(names)) != len(names):
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        found = [
            f"{what} {', '.join(some)}"
            for what, some in (("missing:", missing), ("unknown:", other), ("twice:", twice))
            if some
        ]
        needed = [name for name in columns if name not in optional]
        may = [name for name in columns if name in optional]
        raise PlatformError(
            f"{label}: columns {', '.join(needed)} are required"
            + (f", {', '.join(may)} are optional" if may else "")
            + f"; {'; '.join(found)}"
        )
    return names
