"""All that a run's result depends on, and its hash: settings, files, and the program that makes it,
with its version, its sources and their dependencies."""

from __future__ import annotations

import hashlib
import re
import sys
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from paretosoc.common.files import naming, read_file
from paretosoc.common.options import Door, called_from
from paretosoc.dse.errors import WorkloadError
from paretosoc.dse.tools.campaign.plan.plan import Plan
from paretosoc.dse.tools.campaign.plan.settings import FILE_FIELDS, RunSettings, options_of
from paretosoc.dse.version import VERSION
from paretosoc.results.io.canonical_json import content_sha256

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
    return f"{VERSION}+{digest.hexdigest()[:16]}"


def _foundations() -> list[str]:
    """Return Python, the library that compresses results and the required packages, by version."""
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


INPUTS_FORMAT = "paretosoc-run/1"


@dataclass(frozen=True)
class RunInputs:
    """Inputs of a run. Two runs with the same hash have the same result, anywhere.

    ``contents``: (name, SHA-256) of every file, and of the platform. ``starts_from``: hash of the
    run whose front it begins with. ``program``: see :func:`program_identity`.
    """

    settings: RunSettings
    contents: tuple[tuple[str, str], ...]
    program: str
    keep: tuple[str, ...]
    starts_from: str | None = None

    @cached_property
    def hash(self) -> str:
        """Return the SHA-256 of the content. Folders of files count only if they are part of the
        result, as ``costs.json`` names the models."""
        return content_sha256(
            {
                "format": INPUTS_FORMAT,
                "program": self.program,
                "settings": subject(self.settings),
                "paths": list(self.settings.networks) if "costs" in self.keep else None,
                "contents": [list(entry) for entry in self.contents],
                "keep": list(self.keep),
                "starts_from": self.starts_from,
            }
        )


def subject(settings: RunSettings) -> dict[str, Any]:
    """Return the settings with names of files instead of paths."""
    document = settings.to_document()
    document["networks"] = [_base(text) for text in settings.networks]
    for name in FILE_FIELDS:
        if name in document:
            document[name] = _base(document[name])
    return document


def subject_key(settings: RunSettings) -> str:
    """Return a key that is equal for runs of two campaigns with the same settings."""
    return content_sha256(subject(settings))


@called_from(Door.CAMPAIGN)
def inputs_of(plan: Plan, program: str) -> list[RunInputs]:
    """Return the inputs of every run, in the plan's order. Each file is read once.

    Raises:
        WorkloadError: with the run, on a file that cannot be read, or options that do not fit it.
        PlatformError: on a platform that cannot be read.
    """
    contents_of = _contents_reader()
    inputs: list[RunInputs] = []
    hashes: list[str] = []
    followed = {run.after for run in plan.runs} - {None}
    for position, run in enumerate(plan.runs):
        with naming(f"run {run.name}", WorkloadError):
            contents = contents_of(run.settings)
        entry = RunInputs(
            settings=run.settings,
            contents=contents,
            program=program,
            keep=plan.keep,
            starts_from=None if run.after is None else hashes[run.after],
        )
        inputs.append(entry)
        hashes.append(entry.hash if position in followed else "")
    return inputs


def _contents_reader() -> Callable[[RunSettings], tuple[tuple[str, str], ...]]:
    """Return a function from settings to the hashes of files and platform, each made once."""
    from paretosoc.dse.workload.variants import with_variants
    from paretosoc.dse.workload.workload_file import is_workload_file, workload_from
    from paretosoc.platforms.io.platform_file import load_platform
    from paretosoc.sdf.catalogue.catalogue import catalogue
    from paretosoc.sdf.onnx.importer import MAX_BYTES

    known = {entry.name for entry in catalogue()}

    @cache
    def digest(path: str) -> str:
        data = read_file(path, WorkloadError, MAX_BYTES)
        return hashlib.sha256(data).hexdigest()

    platform_digest = cache(lambda name: load_platform(name).sha256)

    @cache
    def of_networks(
        networks: Sequence[str], variants: str | None, batch: str | None
    ) -> list[tuple[str, str]]:
        """Return the files of networks only. Names of the catalogue come with the program, whose
        sources count anyway."""
        contents = []
        if len(networks) == 1 and is_workload_file(networks[0]):
            contents.append(("workload", digest(networks[0])))
        options = options_of(RunSettings((), "", variants=variants, batch=batch))
        workload = with_variants(workload_from(networks), options)
        sources = dict.fromkeys(filter(None, (network.source for network in workload.networks)))
        return contents + [(f"network {_base(s)}", digest(s)) for s in sources if s not in known]

    def contents_of(settings: RunSettings) -> tuple[tuple[str, str], ...]:
        files = (("profile", settings.profile), ("losses", settings.losses))
        return (
            *of_networks(settings.networks, settings.variants, settings.batch),
            ("platform", platform_digest(settings.platform)),
            *((what, digest(path)) for what, path in files if path is not None),
        )

    return contents_of


def _base(text: str) -> str:
    return text.replace("\\", "/").rpartition("/")[2]
