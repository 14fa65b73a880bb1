"""Identity of the program that makes a result: its version, its sources and their dependencies."""

from __future__ import annotations

import hashlib
import re
import sys
import zlib
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

PACKAGES = ("common", "sdf", "platforms", "results", "fitness", "dse")
SUFFIXES = frozenset({".py", ".json", ".xml"})


@cache
def program_identity() -> str:
    """Return ``VERSION+DIGEST``, with the digest over all sources and data, and over the versions
    of the dependencies. With another one of these the same seed may give another front.

    Files of the commands are left out, since their output is no part of a result. Without the
    digest a program that was edited would pass for the one that made the results in the store.
    """
    root = Path(__file__).parents[4]
    digest = hashlib.sha256("\n".join(_foundations()).encode())
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in SUFFIXES or name.startswith("dse/cli"):
                continue
            digest.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return f"{_version()}+{digest.hexdigest()[:16]}"


def _foundations() -> list[str]:
    """Return Python, the library that compresses results, and the required packages, with
    versions."""
    python = f"python {sys.version_info.major}.{sys.version_info.minor}"
    found = [python, f"zlib {zlib.ZLIB_RUNTIME_VERSION}"]
    try:
        required = requires("paretosoc") or []
    except PackageNotFoundError:
        return found
    for text in required:
        name = re.match(r"[A-Za-z0-9_.-]+", text)
        if name is not None and "extra ==" not in text:
            found.append(f"{name[0]} {version(name[0])}")
    return sorted(found)


def _version() -> str:
    try:
        return version("paretosoc")
    except PackageNotFoundError:
        return "unknown"
