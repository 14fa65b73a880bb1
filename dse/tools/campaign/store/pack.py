"""The files of a result as one archive whose bytes follow from their content."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Mapping

from paretosoc.common.files import MAX_BYTES
from paretosoc.results.errors import ResultError

_LEVEL = 6
_DAMAGED = (EOFError, KeyError, NotImplementedError, OSError, RuntimeError)
_TIME = (1980, 1, 1, 0, 0, 0)


def pack(files: Mapping[str, bytes]) -> bytes:
    """Return a ZIP archive of the files, in the order of their names."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[name])
    return stream.getvalue()


def unpack(data: bytes) -> dict[str, bytes]:
    """Return the files in an archive of :func:`pack`.

    Raises:
        ResultError: if it is none.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_size(sum(entry.file_size for entry in archive.infolist()))
            return {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, zlib.error, *_DAMAGED):
        raise ResultError("is no archive of a result, or a damaged one") from None


def compress(data: bytes) -> bytes:
    """Return one file in the format of gzip, without a time."""
    return gzip.compress(data, _LEVEL, mtime=0)


def decompress(data: bytes) -> bytes:
    """Return the content of :func:`compress`'s bytes.

    Raises:
        ResultError: if it is not that.
    """
    try:
        with gzip.open(io.BytesIO(data)) as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        raise ResultError("is no compressed file, or a damaged one") from None
    _check_size(len(content))
    return content


def _check_size(size: int) -> None:
    if size > MAX_BYTES:
        raise ResultError(f"must have at most {MAX_BYTES} bytes unpacked")
