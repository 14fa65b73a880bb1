"""Workloads: networks that share a chip, and the options of a run."""

from dse.workload.options import Options
from dse.workload.workload import Workload, WorkloadNetwork

__all__ = [
    "Options",
    "Workload",
    "WorkloadNetwork",
]
