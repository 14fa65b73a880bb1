"""Workloads: networks that share a chip, and the options of a run."""

from paretosoc.dse.workload.options import Options
from paretosoc.dse.workload.workload import Workload, WorkloadNetwork

__all__ = ["Options", "Workload", "WorkloadNetwork"]
