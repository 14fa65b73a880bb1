"""Language models on Rockchip's NPUs: tokens per second, time to first token, memory.

Constants are fitted to one model (or two) of a chip and format, and predict its other models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from scipy.optimize import nnls

from benchmarks.validation.published import read_set
from benchmarks.validation.scores import Comparison, joined
from paretosoc.common.units import PS_PER_MS
from paretosoc.fitness.costs.network_costs import network_costs
from paretosoc.platforms.io.platform_file import load_platform
from paretosoc.platforms.platform import Platform
from paretosoc.sdf.catalogue.catalogue import load_network
from paretosoc.sdf.catalogue.language_models import LANGUAGE_MODELS, PAST, SEQUENCE, LanguageModel
from paretosoc.sdf.grouping.grouping import group_network

SET = "Rockchip NPUs, language models"
ONE = "one model per chip and format"
"""Choice of one model of middle size per chip and format."""
TWO = "two models per chip and format"
"""The smallest and the largest."""
WEIGHT_BITS = {"w8a8": 8.0, "w4a16": 4.0, "w4a16_g128": 4.0 + 32 / 128}
"""Bits of a weight, with scales of 32 bits for groups of 128. Those of columns are left out."""
CACHE_BYTES = 2
"""Bytes of an element. The source does not state them, so they are assumed."""
MIB = 2**20
RK3588 = 4
"""Place among :func:`runs`."""
JOINT = "rk3588-joint-npu"
"""The platform on which a layer runs on all NPU cores."""
IN_CATALOGUE = {
    ("Qwen2", "0.5B"): "qwen2-0.5b",
    ("MiniCPM4", "0.5B"): "minicpm4-0.5b",
    ("Qwen3", "0.6B"): "qwen3-0.6b",
    ("TinyLLAMA", "1.1B"): "tinyllama-1.1b",
    ("Qwen2.5", "1.5B"): "qwen2.5-1.5b",
    ("InternLM2", "1.8B"): "internlm2-1.8b",
    ("Qwen3-VL", "2B"): "qwen3-1.7b",
    ("Gemma2", "2B"): "gemma-2-2b",
    ("TeleChat2", "3B"): "telechat2-3b",
    ("Phi3", "3.8B"): "phi-3-mini",
    ("MiniCPM3", "4B"): "minicpm3-4b",
    ("ChatGLM3", "6B"): "chatglm3-6b",
}
"""The others are recurrent (RWKV7, Qwen3.5), mixtures of experts (DeepSeekOCR) or keep embeddings
of every layer (Gemma3n, Gemma4)."""


@dataclass(frozen=True)
class Run:
    """One row: a model of the catalogue on a chip in a format."""

    model: LanguageModel
    billions: float
    """Billions of parameters, as the row names them."""
    bits: float
    prompt: int
    new: int
    rate: float
    """Tokens per second."""
    first_ms: float
    memory_mib: float

    @property
    def weight_bytes(self) -> float:
        """Return the bytes of matrices. The embedding is a look-up and not in the memory that is
        stated."""
        return (self.model.layer_weights + self.model.table) * self.bits / 8

    @property
    def middle(self) -> int:
        """Return the number of positions before the middle of the new tokens."""
        return self.prompt + self.new // 2

    @property
    def token_bytes(self) -> float:
        """Return the bytes that a token reads: weights, and the cache."""
        return self.weight_bytes + CACHE_BYTES * self.model.cache(self.middle)

    @property
    def kept_bytes(self) -> float:
        """Return the bytes of weights, and of the cache at its end."""
        return self.weight_bytes + CACHE_BYTES * self.model.cache(self.prompt + self.new)


def runs() -> list[list[Run]]:
    """Return the runs with a model of the catalogue, by chip and format, by rising parameters."""
    rows = read_set("rknn_llm").rows
    found = []
    for _, group in groupby(
        sorted(rows, key=lambda row: (str(row["chip"]), str(row["format"]))),
        key=lambda row: (row["chip"], row["format"]),
    ):
        known = [
            Run(
                model=LANGUAGE_MODELS[IN_CATALOGUE[str(row["model"]), str(row["size"])]],
                billions=float(str(row["size"]).removesuffix("B")),
                bits=WEIGHT_BITS[str(row["format"])],
                prompt=int(row["prompt"]),
                new=int(row["new"]),
                rate=float(row["rate"]),
                first_ms=float(row["first"]),
                memory_mib=float(row["memory"]),
            )
            for row in group
            if (row["model"], row["size"]) in IN_CATALOGUE
        ]
        found.append(sorted(known, key=lambda run: run.model.parameters))
    return found


def _middle(group: Sequence[Run]) -> tuple[int, ...]:
    return (len(group) // 2,)


def _ends(group: Sequence[Run]) -> tuple[int, ...]:
    return (0, len(group) - 1)


@dataclass(frozen=True)
class Law:
    """A quantity is ``base`` plus each of ``terms`` times a constant. The rate follows from a time
    per token."""

    quantity: str
    fitted: str
    name: str
    terms: Callable[[Run], tuple[float, ...]]
    used: Callable[[Sequence[Run]], tuple[int, ...]] = _middle
    """Places of the runs that the constants are fitted to."""
    base: Callable[[Run], float] = lambda run: 0.0


RATE, FIRST, MEMORY = "tokens per second", "time to first token", "memory"
QUANTITIES: dict[str, tuple[str, Callable[[Run], float]]] = {
    RATE: ("1/s", lambda run: run.rate),
    FIRST: ("ms", lambda run: run.first_ms),
    MEMORY: ("MiB", lambda run: run.memory_mib),
}
"""Unit of each quantity, and its measured value in a run."""
BY_COUNT = "by parameter count"
LAWS = (
    Law(RATE, ONE, BY_COUNT, lambda run: (run.billions,)),
    Law(RATE, ONE, "bytes of weights and cache", lambda run: (run.token_bytes,)),
    Law(RATE, TWO, "bytes and layers",
        lambda run: (run.token_bytes, run.model.layers), _ends),
    Law(FIRST, ONE, BY_COUNT, lambda run: (run.billions,)),
    Law(FIRST, ONE, "MACs", lambda run: (run.model.macs(run.prompt),)),
    Law(FIRST, TWO, "MACs and layers",
        lambda run: (run.model.macs(run.prompt), run.model.layers), _ends),
    Law(MEMORY, ONE, BY_COUNT, lambda run: (run.billions,)),
    Law(MEMORY, "nothing", "weights and cache", lambda run: (), lambda group: (),
        lambda run: run.kept_bytes / MIB),
    Law(MEMORY, ONE, "weights, cache, a constant", lambda run: (1.0,),
        base=lambda run: run.kept_bytes / MIB),
)  # fmt: skip


def rockchip_llm() -> list[Comparison]:
    """Compare every law over all chips and formats, and behind those of a quantity the platform
    file's."""
    groups = runs()
    found = [joined([predicted(law, group) for group in groups]) for law in LAWS]
    found += by_platform(groups[RK3588])
    return [
        comparison
        for quantity in QUANTITIES
        for comparison in found
        if comparison.data == f"{SET}, {quantity}"
    ]


def by_platform(group: Sequence[Run]) -> list[Comparison]:
    """Compare RK3588's rate and first token with the program's estimates.

    The two models that its platform file was set to are left out.
    """
    used = _ends(group)
    held_out = [run for place, run in enumerate(group) if place not in used]
    platform = load_platform(JOINT)
    found = []
    for quantity, past in ((RATE, True), (FIRST, False)):
        unit, measure = QUANTITIES[quantity]
        times = [
            estimate_ms(platform, run.model.name, 1, run.middle)
            if past
            else estimate_ms(platform, run.model.name, run.prompt)
            for run in held_out
        ]
        found.append(
            Comparison(
                f"{SET}, {quantity}", f"two models of RK3588, in {JOINT}", "the program's estimate",
                unit, np.array([1000 / time if past else time for time in times]),
                np.array([measure(run) for run in held_out]),
            )
        )  # fmt: skip
    return found


def estimate_ms(platform: Platform, name: str, sequence: int, past: int = 0) -> float:
    """Return the time of an inference on the joined NPU cores at the fastest clocks."""
    dimensions = {SEQUENCE: sequence} | ({PAST: past} if past else {})
    graph = load_network(name, dimensions=dimensions).graph
    costs = network_costs(group_network(graph, None, groups=1), platform, units=["npu"])
    return float(costs.units[0].time_ps.sum(axis=0)[-1, -1]) / PS_PER_MS


def predicted(law: Law, group: Sequence[Run], data: str = SET) -> Comparison:
    """Predict the runs of a chip and format that the law's constants were not fitted to.

    The fit weighs relative errors, and no constant is negative.
    """
    unit, measure = QUANTITIES[law.quantity]
    power = -1 if law.quantity == RATE else 1
    measured = np.array([measure(run) for run in group]) ** power
    used = list(law.used(group))
    found = np.array([law.base(run) for run in group])
    if used:
        terms = np.array([law.terms(run) for run in group], dtype=np.float64)
        terms /= terms.max(axis=0)
        weighted = terms[used] / measured[used, None]
        constants, _ = nnls(weighted, 1 - found[used] / measured[used])
        found = found + terms @ constants
    held_out = [place for place in range(len(group)) if place not in used]
    return Comparison(
        f"{data}, {law.quantity}", law.fitted, law.name, unit,
        found[held_out] ** power, measured[held_out] ** power,
    )  # fmt: skip
