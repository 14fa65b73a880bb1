"""Compile all kernels: ``python -m paretosoc.dse.compile``."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed

from paretosoc.common.errors import DseError
from paretosoc.common.processes import end_with_parent
from paretosoc.dse.compile.warm_up import PARTS


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", choices=PARTS, help="part to compile; all by default")
    arguments = parser.parse_args()
    try:
        if arguments.part:
            PARTS[arguments.part]()
        else:
            _compile_all()
    except DseError as error:
        parser.exit(2, f"dse: {error}\n")


def _compile_all() -> None:
    # Processes, since numba compiles under a lock. Each keeps the functions that parts share.
    pool = ProcessPoolExecutor(
        os.cpu_count() or 1, initializer=end_with_parent, initargs=(signal.SIG_DFL,)
    )
    try:
        jobs = [pool.submit(load) for load in PARTS.values()]
        for done, job in enumerate(as_completed(jobs), 1):
            job.result()
            end = "\r" if sys.stdout.isatty() and done < len(PARTS) else "\n"
            print(f"compiling kernels: {done} of {len(PARTS)} parts", end=end, flush=True)
    finally:
        pool.shutdown(cancel_futures=True)


if __name__ == "__main__":
    main()
