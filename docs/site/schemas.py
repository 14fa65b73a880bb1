"""JSON Schemas of all files that the program reads and writes, by their stable ids.

``python -m docs.site.schemas`` writes those anew that follow from declarations, and the page of the
options.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docs.site.document_schema import schema_of
from docs.site.options import published_options
from paretosoc.results.costs.costs_file import COSTS, MEASUREMENTS
from paretosoc.results.front.certificate import BOUNDS, CERTIFICATE
from paretosoc.results.front.front_document import FRONT
from paretosoc.results.io.document import Document
from paretosoc.results.problem.problem_file import PROBLEM

ROOT = Path(__file__).parents[2]
FOLDERS = ("results/io/schemas", "dse/inputs/data", "platforms/data", "sdf/formats")
DOCUMENTS: tuple[Document[Any], ...] = (
    PROBLEM,
    FRONT,
    CERTIFICATE,
    BOUNDS,
    COSTS,
    MEASUREMENTS,
)
"""Those whose schemas are made from declarations. They are in the first folder."""


def generated() -> dict[Path, bytes]:
    """Return the schemas of ``DOCUMENTS``, and what is published of options, by their paths."""
    return {
        ROOT / FOLDERS[0] / f"{document.name}.schema.json": _schema_bytes(document)
        for document in DOCUMENTS
    } | published_options()


def _schema_bytes(document: Document[Any]) -> bytes:
    signature = {
        "content_sha256": {
            "description": "SHA-256 of this document without this key, as UTF-8 JSON with sorted "
            "keys and no spaces.",
            "type": "string",
            "pattern": "^[0-9a-f]{64}$",
        }
    }
    schema = schema_of(
        document.kind,
        {"format": {"const": document.format}},
        signature if document.is_signed else {},
    )
    if document.description is not None:
        schema["description"] = " ".join(document.description.split())
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:paretosoc:{document.name}:1",
        "title": document.title,
    }
    return (json.dumps(head | schema, indent=2, ensure_ascii=False) + "\n").encode()


def schema_files() -> dict[str, bytes]:
    """Path in the site to the schema."""
    return {
        f"schemas/{path.name}": path.read_bytes()
        for folder in FOLDERS
        for path in sorted((ROOT / folder).glob("*.schema.json"))
    }


def schema_page() -> str:
    """A table of all of them."""
    rows = []
    for path, text in sorted(schema_files().items()):
        schema = json.loads(text)
        rows.append(f"| [{Path(path).name}](../{path}) | `{schema['$id']}` | {schema['title']} |")
    return "\n".join(
        [
            "# JSON Schemas",
            "",
            "Every file is checked against its schema (draft 2020-12) when it is read or written.",
            "An id ends with the version of the format; one that breaks old files is new.",
            "",
            "| schema | id | of |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


if __name__ == "__main__":
    for path, data in generated().items():
        path.write_bytes(data)
