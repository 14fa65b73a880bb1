"""The state of a random generator as JSON content, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretosoc.dse.space.design_space import Random


def state_of(rng: Random) -> dict[str, Any]:
    """The state for :func:`generator_from`: PCG64's integers."""
    return dict(rng.bit_generator.state)


def generator_from(state: dict[str, Any]) -> Random:
    """A generator that draws what the other one would have drawn next.

    Raises:
        ValueError: where the state is not one of PCG64.
    """
    bits = np.random.PCG64(0)
    try:
        bits.state = {
            "bit_generator": "PCG64",
            "state": {"state": int(state["state"]["state"]), "inc": int(state["state"]["inc"])},
            "has_uint32": int(state["has_uint32"]),
            "uinteger": int(state["uinteger"]),
        }
    except (KeyError, TypeError, ValueError, OverflowError):
        raise ValueError("generator: a state of PCG64 is required") from None
    return np.random.Generator(bits)
