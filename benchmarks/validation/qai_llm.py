"""Language models on Snapdragon's NPUs: tokens per second and time to first token.

By the laws of :mod:`benchmarks.validation.rknn_llm`. Constants are fitted per chip and format.
"""

from __future__ import annotations

from itertools import groupby

from benchmarks.validation.published import read_set
from benchmarks.validation.rknn_llm import FIRST, LAWS, RATE, Run, predicted
from benchmarks.validation.scores import Comparison, joined
from paretosoc.sdf.catalogue.language_models import LANGUAGE_MODELS

SET = "Snapdragon NPUs, language models"
CHUNK = 128
"""Tokens of the shortest prompt. A token reads the cache of the entire context."""
IN_CATALOGUE = {
    "llama_v2_7b_chat": ("llama-2-7b", 6.7),
    "llama_v3_1_8b_instruct": ("llama-3-8b", 8.0),
    "llama_v3_2_1b_instruct": ("llama-3.2-1b", 1.2),
    "llama_v3_2_3b_instruct": ("llama-3.2-3b", 3.2),
    "llama_v3_8b_instruct": ("llama-3-8b", 8.0),
    "mistral_7b_instruct_v0_3": ("mistral-7b-v0.3", 7.2),
    "phi_3_5_mini_instruct": ("phi-3-mini", 3.8),
    "qwen2_5_1_5b_instruct": ("qwen2.5-1.5b", 1.5),
    "qwen2_5_7b_instruct": ("qwen2.5-7b", 7.6),
    "qwen2_7b_instruct": ("qwen2.5-7b", 7.6),
}
"""With billions of parameters. The others are repeats of Llama 3 8B or not in the catalogue."""
LEAST = 3
"""Models of a chip and format: two are fitted to."""


def runs() -> list[list[Run]]:
    """Return the runs with a model of the catalogue, by chip and format, by rising parameters."""
    keyed = sorted(
        (row for row in read_set("qai_hub_llm").rows if row["model"] in IN_CATALOGUE),
        key=lambda row: (str(row["device"]), str(row["format"])),
    )
    found = []
    for _, group in groupby(keyed, key=lambda row: (row["device"], row["format"])):
        known = [
            Run(
                model=LANGUAGE_MODELS[IN_CATALOGUE[str(row["model"])][0]],
                billions=IN_CATALOGUE[str(row["model"])][1],
                bits=4.0,
                prompt=CHUNK,
                new=2 * (int(row["context"]) - CHUNK),
                rate=float(row["rate"]),
                first_ms=float(row["first"]) if row["first"] != row["first_full"] else 0.0,
                memory_mib=0.0,
            )
            for row in group
        ]
        # Llama 2's first token is of a prompt that fills the context.
        known = [run for run in known if run.first_ms]
        if len(known) >= LEAST:
            found.append(sorted(known, key=lambda run: run.model.parameters))
    return found


def snapdragon_llm() -> list[Comparison]:
    """Compare every law of rate and first token over all chips and formats."""
    groups = runs()
    return [
        joined([predicted(law, group, SET) for group in groups])
        for law in LAWS
        if law.quantity in (RATE, FIRST)
    ]
