"""``dse certify FOLDER``, killed after some checkpoints."""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from pathlib import Path

from paretosoc.dse.api.front import Front
from paretosoc.dse.api.proof import prove, save_checkpoint
from paretosoc.dse.certificate import branch_and_bound as exact_search
from paretosoc.dse.certificate.outcome import ProofOutcome


def main(folder: Path) -> None:
    exact_search.SLICE_NODES, exact_search.CHECKPOINT_SECONDS = 200, 0.0
    front = Front.load(folder)
    save, written = partial(save_checkpoint, front, folder), []

    def save_and_die(gap: ProofOutcome) -> None:
        save(gap)
        assert gap.certificate is not None
        written.append(gap.certificate.tree.nodes)
        if written[-1] > 1000:
            os.kill(os.getpid(), signal.SIGKILL)

    prove(front, on_checkpoint=save_and_die)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
