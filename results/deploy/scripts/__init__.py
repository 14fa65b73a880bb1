"""Beginnings of the scripts that deployments write."""

from functools import cache
from importlib.resources import files


@cache
def script_text(name: str) -> str:
    """Return the text of a script of this folder."""
    return (files(__name__) / name).read_text("utf-8")
