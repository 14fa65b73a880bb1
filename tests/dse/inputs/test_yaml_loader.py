"""YAML: the same document as JSON, plain words by the core schema."""

import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretosoc.dse.inputs.yaml_loader import parse_yaml
from paretosoc.platforms.io.exact_json import parse_exact


@settings(derandomize=True, deadline=None, max_examples=100)
@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(10**20), 10**20)
        | st.decimals(-1000, 1000, places=6)
        | st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=8),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_json_text_read_as_yaml_is_the_same_document(document):
    text = json.dumps(document, default=lambda value: f"@{value}@")
    # Decimals as numbers, not as texts; no text of the strategy is written with such quotes.
    text = text.replace('"@', "").replace('@"', "")
    try:
        expected = parse_exact(text.encode(), "w")
    except ValueError:
        return
    assert parse_yaml(text.encode(), "w") == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("33.3", Decimal("33.3")),
        ("1e3", Decimal(1000)),
        ("+.5", Decimal("0.5")),
        ("-0", 0),
        ("0.1000000000000000000000000001", Decimal("0.1000000000000000000000000001")),
        ("yes", "yes"),
        ("010", "010"),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("2024-01-01", "2024-01-01"),
        ("'3'", "3"),
        ("~", None),
        ("", None),
        ("True", True),
        ("|\n 3", "3"),
    ],
)
def test_plain_words_follow_the_core_schema(text, value):
    result = parse_yaml(f"a: {text}".encode(), "w")["a"]
    assert (result, type(result)) == (value, type(value))
