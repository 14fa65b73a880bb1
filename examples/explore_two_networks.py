"""Two networks on one chip, from Python: explore, look at the fastest member, write the results.

Usage: python examples/explore_two_networks.py [FOLDER [EVALUATIONS]]
"""

from __future__ import annotations

import sys
from pathlib import Path

from dse.explore import explore
from results.export.result_folder import write_results


def main(folder: Path, evaluations: int) -> None:
    """Writes a result folder for ``dse show``; an older one there is replaced."""
    front = explore(["vgg19", "resnet50"], "jetson-agx-xavier", seed=1, max_evaluations=evaluations)
    fastest = front.members[0]
    milliseconds, millijoules = fastest.makespan_ps / 1e9, fastest.energy_fj / 1e12
    print(f"{len(front.members)} members; the fastest: {milliseconds:.3f} ms, {millijoules:.1f} mJ")
    for entry in fastest.schedule.groups[:3]:
        unit = front.problem.units[entry.unit].name
        print(f"group {entry.group} on {unit} from {entry.start_ps} to {entry.end_ps} ps")
    write_results(folder, front, overwrite=True)


if __name__ == "__main__":
    main(
        Path(sys.argv[1]) if len(sys.argv) > 1 else Path("runs/two"),
        int(sys.argv[2]) if len(sys.argv) > 2 else 20_000,
    )
