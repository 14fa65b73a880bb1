"""The files of a result as one archive whose bytes follow from their content."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Mapping

from results.errors import ResultError

_LEVEL = 6
_TIME = (1980, 1, 1, 0, 0, 0)


def pack(files: Mapping[str, bytes]) -> bytes:
    """A ZIP archive of the files, in the order of their names."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[name])
    return stream.getvalue()


def unpack(data: bytes) -> dict[str, bytes]:
    """The files in an archive of :func:`pack`.

    Raises:
        ResultError: where it is none.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, zlib.error, KeyError, RuntimeError) as error:
        raise ResultError(f"is no archive of a result: {error}") from None


def compress(data: bytes) -> bytes:
    """One file in the format of gzip, without a time."""
    return gzip.compress(data, _LEVEL, mtime=0)


def decompress(data: bytes) -> bytes:
    """Back from :func:`compress`.

    Raises:
        ResultError: where it is not that.
    """
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise ResultError(f"is no compressed file: {error}") from None
