"""Arguments of examples."""

from __future__ import annotations

import argparse
from pathlib import Path


def output_folder(text: str) -> Path:
    """Make a folder for results, if it is not there.

    Raises:
        argparse.ArgumentTypeError: if it cannot be made.
    """
    path = Path(text)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text}: {error.strerror}") from None
    return path
