"""What a program prints in processes of its own."""

import os
import subprocess
import sys


def outputs(program: str, *arguments: object) -> set[bytes]:
    """Standard outputs under two seeds of the hash: one, where nothing depends on it."""
    return {
        subprocess.run(
            [sys.executable, "-c", program, *map(str, arguments)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
