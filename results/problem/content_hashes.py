"""The hashes of a signed document: its own and its problem's."""

from __future__ import annotations

from typing import Any

from paretosoc.results.errors import ResultError
from paretosoc.results.io.canonical_json import content_sha256
from paretosoc.results.problem.problem import Problem
from paretosoc.results.problem.problem_file import problem_sha256


def check_content_hashes(content: Any, problem: Problem) -> None:
    """Refuse a document that belongs to another problem, or was changed after it was written.

    Args:
        content: JSON content with ``problem_sha256`` and ``content_sha256``, by its schema.

    Raises:
        ResultError: naming the hash that does not fit.
    """
    if content["problem_sha256"] != problem_sha256(problem):
        raise ResultError("$.problem_sha256: is not that of problem.json")
    signed = {key: value for key, value in content.items() if key != "content_sha256"}
    if content["content_sha256"] != content_sha256(signed):
        raise ResultError("$.content_sha256: the content was changed after it was written")
