"""Texts of workload files, and what reads them."""

from pathlib import Path

from paretosoc.dse.workload.workload_file import read_workload

EXAMPLES = sorted((Path(__file__).parents[3] / "examples" / "workloads").iterdir())
FULL = """\
# Everything that a file can say.
title: full
frames_in_flight: 3
frames_per_second: 29.97
power_cap_w: 25.1
networks:
  - name: seen
    network: vgg19
    copies: 2
    max_transitions: 0
    deadline_ms: 33.1
  - network: resnet50
    repeats: 2
    waits_for: [seen]
    arrival_ms: 0.1
    pins:
      - {first: 0, last: 2, unit: gpu}
      - {first: 5, unit: "dla0"}
    dimensions: {N: 4, "data:2": 640}
"""


def read(text, name="w.yaml"):
    return read_workload(text.encode(), name)
