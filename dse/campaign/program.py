"""Which program makes a result: its version and its sources."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("sdf", "platforms", "results", "fitness", "dse")
SUFFIXES = frozenset({".py", ".json", ".xml"})


@cache
def program_identity() -> str:
    """``VERSION+DIGEST``, the digest over all sources and data that a result may depend on.

    Files of the commands are left out: what they print is not part of a result. Without the digest
    a program that was edited would pass for the one that made the results in the store.
    """
    root = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in SUFFIXES or "__pycache__" in name or _no_part(name):
                continue
            digest.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return f"{_version()}+{digest.hexdigest()[:16]}"


def _no_part(name: str) -> bool:
    return name.startswith(("dse/command_", "dse/cli", "dse/campaign/"))


def _version() -> str:
    try:
        return version("paretosoc")
    except PackageNotFoundError:
        return "unknown"
