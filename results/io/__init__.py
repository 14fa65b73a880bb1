"""Reading and writing: canonical JSON, schemas, folders written atomically, optional packages."""

from paretosoc.common.text import pluralize
from paretosoc.results.io.canonical_json import Json, canonical_bytes, parse, sha256_of
from paretosoc.results.io.document import check_against_schema
from paretosoc.results.io.optional import optional_import

__all__ = [
    "Json",
    "canonical_bytes",
    "check_against_schema",
    "pluralize",
    "optional_import",
    "parse",
    "sha256_of",
]
