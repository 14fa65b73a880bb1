"""GPU only: all networks on the GPU (HaX-CoNN, 5, baseline 1; Case 1 of Fig. 1)."""

from __future__ import annotations

from paretosoc.common.arrays import IntArray
from paretosoc.dse.baselines.base import Baseline, gpu_of, has_gpu, whole_networks


class GpuOnly(Baseline):
    """Every group on the GPU.

    Assumed: groups of networks that wait at the same time take turns in the order of the timeline's
    queue; and what the GPU cannot run goes to the unit that is fastest for it.
    """

    name = "gpu-only"
    label = "GPU only"

    def title(self) -> str:
        """With the name of the unit that stands for a GPU where there is none."""
        unit = self._space.problem.units[gpu_of(self._space)].name
        return self.label if has_gpu(self._space) else f"{unit} only"

    def rows(self) -> IntArray:
        """[1, width]"""
        gpu = gpu_of(self._space)
        return self._row(whole_networks(self._space, [gpu] * len(self._space.size)))
