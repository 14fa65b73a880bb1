"""The layout of our JSON, and texts that its reader refuses."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretosoc.results.errors import ResultError
from paretosoc.results.io.canonical_json import canonical_bytes, content_sha256, parse
from tests.support.texts import one_line

DOCUMENTS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | one_line(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(one_line(), inner, max_size=4),
    max_leaves=20,
)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(DOCUMENTS)
def test_round_trip_is_exact(document):
    data = canonical_bytes(document)
    assert parse(data) == document
    assert canonical_bytes(parse(data)) == data
    assert content_sha256(parse(data)) == content_sha256(document)


def test_tables_have_one_row_per_line():
    document = {"a": [[1, 2], [3, 4]], "b": {"x": 1, "y": []}, "c": [{"k": None}, {"k": True}]}
    assert canonical_bytes(document).decode() == (
        "{\n"
        '  "a": [\n    [1, 2],\n    [3, 4]\n  ],\n'
        '  "b": {\n    "x": 1,\n    "y": []\n  },\n'
        '  "c": [\n    {"k": null},\n    {"k": true}\n  ]\n'
        "}\n"
    )


def test_content_hash_ignores_layout_and_order():
    document = {"b": [1, 2.5], "a": "ä"}
    turned = json.loads(json.dumps({"a": "ä", "b": [1, 2.5]}, indent=7))
    assert content_sha256(document) == content_sha256(turned)
    assert content_sha256(document) != content_sha256({"b": [1, 2.5], "a": "a"})


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"{", "must be JSON"),
        (b'{"a": 1, "a": 2}', "'a' is there twice"),
        (b'{"a": [-1e999]}', "finite, got -1e999"),
    ],
)
def test_unsound_text_is_refused(text, complaint):
    with pytest.raises(ResultError, match=complaint):
        parse(text)


def test_numbers_that_are_not_are_not_written():
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical_bytes([float("nan")])
