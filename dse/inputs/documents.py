"""Files that people write, YAML or JSON: read to a limit, and held against a schema of
``dse/inputs/data``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from paretosoc.common.files import naming, read_file
from paretosoc.dse.errors import WorkloadError

MAX_BYTES = 1_000_000


def read_input(path: str | Path, max_bytes: int = MAX_BYTES) -> bytes:
    """Return the bytes of a file.

    Raises:
        WorkloadError: if it cannot be read or is longer.
    """
    return read_file(path, WorkloadError, max_bytes)


def parse_input(data: bytes, file: str, schema: str) -> Any:
    """Return the document in a file, JSON or YAML by its name. Numbers are exact.

    Raises:
        WorkloadError: if it cannot be parsed or does not follow ``dse/inputs/data``'s schema
            of that name. The message names the file and the place.
    """
    from paretosoc.dse.inputs.yaml_loader import parse_yaml
    from paretosoc.platforms.errors import PlatformError
    from paretosoc.platforms.io.exact_json import parse_exact

    # The readers are shared with platform files.
    with naming("", WorkloadError, PlatformError):
        read = parse_exact if file.lower().endswith(".json") else parse_yaml
        document: Any = read(data, file)
    check_content(document, file, schema)
    return document


def check_content(content: Any, label: str, schema: str) -> None:
    """Check content against the schema, like :func:`parse_input`. ``label`` begins messages.

    Raises:
        WorkloadError: as there.
    """
    from paretosoc.platforms.errors import PlatformError
    from paretosoc.platforms.io.exact_json import check_against_schema

    with naming("", WorkloadError, PlatformError):
        check_against_schema(content, schema, label, package="paretosoc.dse.inputs.data")
