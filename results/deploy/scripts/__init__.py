"""Scripts that deployments write, or their beginnings."""

from functools import cache
from importlib.resources import files


@cache
def script_text(name: str) -> str:
    """Return the text of a script of this folder. It imports others from its own folder."""
    return (files(__name__) / name).read_text("utf-8").replace(f"from {__name__}.", "from ")
