"""Texts that readers take: any letters, but nothing that a terminal would obey."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from paretosoc.common.text import has_control_characters


def one_line(*arguments: Any, **sizes: int) -> st.SearchStrategy[str]:
    """``st.text`` without control characters."""
    return st.text(*arguments, **sizes).filter(lambda text: not has_control_characters(text))
