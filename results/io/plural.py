"""A number with its noun: ``1 group``, ``1,200 groups``."""

from __future__ import annotations


def pluralize(count: int, noun: str, plural: str | None = None) -> str:
    """Return the number, thousands apart, and the noun, its plural with an ``s`` if not given."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
