"""The JSON reader: what it refuses, in what time, and the texts that every reader refuses."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretosoc.common.documents.strict_json import parse_json
from paretosoc.common.errors import DseError
from paretosoc.common.text import has_control_characters, printable
from tests.support.texts import one_line


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"", "must be JSON: "),
        (b'{"a": 1,\n}', "in line 2, column 1"),
        (b"\xff\xfe", "in UTF-8, got other bytes"),
        (b'{"a": 1, "b": {"c": 2, "c": 2}}', "key 'c' is there twice in one object"),
        (b'{"a": NaN}', "finite, got NaN"),
        (b"[-Infinity]", "finite, got -Infinity"),
        (b"[" * 100_000, "of moderate depth"),
        (b"[" + b"9" * 5000 + b"]", "few digits, got thousands"),
        (b'["\\ud800"]', "control characters, got '\\ud800'"),
        (b'{"x": [{"a\\u001b[31m": 1}]}', "control characters, got 'a"),
        (b'["two\\nlines"]', "control characters"),
        (b'{"a\\nb": "c\\nd"}', "$: texts must not have control characters, got 'a\\nb'"),
        ('["\x9b31m"]'.encode(), "control characters"),
        ('["\u202e"]'.encode(), "control characters"),
    ],
)
def test_what_is_refused(text, complaint):
    with pytest.raises(DseError) as caught:
        parse_json(text)
    assert complaint in str(caught.value)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | one_line(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from('abc\\"ä'), inner),
)


@given(VALUES, st.booleans(), st.sampled_from([None, 2]))
def test_every_other_document_is_read_as_written(document, escaped, indent):
    text = json.dumps(document, ensure_ascii=escaped, indent=indent)
    assert parse_json(text.encode()) == document
    assert parse_json(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()) == document


def test_a_key_that_is_there_twice_is_found_with_one_comparison_per_key():
    compared = Counter()

    class Key(str):
        def __eq__(self, other):
            compared["=="] += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    from paretosoc.common.documents.strict_json import _object

    count = 3000
    pairs = [(Key(f"key {number}"), 0) for number in range(count)]
    with pytest.raises(DseError, match="twice"):
        _object([*pairs, (Key("key 2999"), 0)])
    assert compared["=="] < 10 * count


def test_what_may_be_printed():
    assert printable("a\tb\nc\x1b[31m\x9b\u202e\ud800") == "a\tb\nc\ufffd[31m" + 3 * "\ufffd"
    assert not has_control_characters("naïve 网络 \N{NO-BREAK SPACE} e\u0301")
    for letter in "\n\t\r\x00\x1b\x7f\x85\x9b\u2028\u2066":
        assert has_control_characters(f"a{letter}b")
