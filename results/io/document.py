"""Kinds of result files: JSON content of one dataclass (:mod:`common.documents.document`),
with the format's name and hashes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from paretosoc.common.documents.document import read_document, write_document
from paretosoc.common.documents.marks import Context, Fault
from paretosoc.common.documents.schema import read_schema, violation
from paretosoc.common.files import naming
from paretosoc.results.errors import ResultError
from paretosoc.results.io.canonical_json import Json, signed

T = TypeVar("T")


@dataclass(frozen=True)
class Document(Generic[T]):
    """A kind of file."""

    name: str
    """Name of its schema."""
    kind: type[T]
    """The class that declares its keys."""
    title: str
    description: str | None = None
    """None: the docstring of the class."""
    version: int = 1
    is_signed: bool = False
    """Whether ``content_sha256`` ends the document."""

    @property
    def format(self) -> str:
        """Return the value of its key ``format``."""
        return f"paretosoc-{self.name}/{self.version}"

    def write(self, value: T, context: Context | None = None) -> dict[str, Json]:
        """Return an object as JSON content.

        Raises:
            ResultError: if a number is not finite.
        """
        document: dict[str, Json] = {"format": self.format, **write_document(value, context)}
        return signed(document) if self.is_signed else document

    def check(self, document: Json) -> dict[str, Any]:
        """Return the content if it follows the schema.

        Raises:
            ResultError: naming the JSON path of a value that does not.
        """
        check_against_schema(document, self.name)
        assert isinstance(document, dict), "the schema"
        return document

    def read(self, content: dict[str, Any], context: Context | None = None) -> T:
        """Return the object in content that was checked.

        Raises:
            ResultError: naming the JSON path of a name that is not known, or of uneven rows.
        """
        with naming("", ResultError, Fault):
            return read_document(self.kind, content, context)


_PACKAGE = "paretosoc.results.io.schemas"


def schema(name: str) -> dict[str, Any]:
    """Return the schema ``results/io/schemas/NAME.schema.json``."""
    return read_schema((_PACKAGE, name))


def check_against_schema(document: Json, name: str) -> None:
    """Accept a document that follows the schema. 1.0 is not an integer here.

    Raises:
        ResultError: naming the JSON path of a value that does not follow it.
    """
    found = violation(document, (_PACKAGE, name))
    if found is not None:
        path, text = found
        raise ResultError(f"{path}: {text}")
