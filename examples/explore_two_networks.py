"""Two networks on one chip, from Python: explore, look at the fastest member, write the results.

Usage: python examples/explore_two_networks.py [FOLDER [EVALUATIONS]]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import paretosoc as dse


def main(folder: Path, evaluations: int) -> None:
    """Write a result folder for ``dse show``; an older one there is replaced."""
    front = dse.explore(
        ["vgg19", "resnet50"], "jetson-agx-xavier", seed=1, max_evaluations=evaluations
    )
    best = front["fastest"]
    print(f"{len(front)} members; the fastest: {best.latency_ms:.3f} ms, {best.energy_mj:.1f} mJ")
    print(f"units of VGG-19's groups: {', '.join(best.mapping['vgg19'])}")
    front.save(folder, overwrite=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Explore two networks on one chip.")
    parser.add_argument("folder", type=Path, nargs="?", default=Path("runs/two"))
    parser.add_argument("evaluations", type=int, nargs="?", default=20_000)
    main(**vars(parser.parse_args()))
