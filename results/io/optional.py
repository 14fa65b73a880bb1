"""Optional packages, imported when they are used. Errors name the extra."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from paretosoc.results.errors import ResultError


def optional_import(module: str, *, extra: str, purpose: str) -> Any:
    """Return the module.

    Args:
        extra: the extra of this program that installs it.
        purpose: the feature that needs it, for the message.

    Raises:
        ResultError: if it is not installed. The message says how to install it.
    """
    # From 1.29 on ONNX Runtime reports to its maker, unless this is set before its import.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        return import_module(module)
    except ImportError:
        raise ResultError(
            f"{purpose} needs the package {module}: pip install 'paretosoc[{extra}]'"
        ) from None
