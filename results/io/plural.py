"""A number with its noun: ``1 group``, ``1,200 groups``."""

from __future__ import annotations


def pluralize(count: int, noun: str) -> str:
    """The number, thousands apart, and the noun in the singular or with an ``s``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
