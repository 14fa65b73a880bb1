"""A language model's mapping as options of llama.cpp: ``-ngl`` and ``-ot``.

llama.cpp has one placement of a model's weights for all phases. The last phase, whose tokens take
the longest, decides.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter

from paretosoc.results.deploy.deployment import Deployment, network_files
from paretosoc.results.errors import ResultError

_BLOCK = re.compile(r"(?:^|[/._])(?:layers?|blk|h)[/._]?([0-9]{1,4})[/._](.*)")
_FEED_FORWARD = re.compile("mlp|ffn|gate|up|down|norm2|post_attention|fc[12]")
_EMBEDDING = re.compile("embed|token", re.IGNORECASE)
"""llama.cpp keeps the embedding on the CPU, whatever is asked for."""
PARTS = ("attn", "ffn")
Part = tuple[int, str]
"""A block and one of ``PARTS``, or -1 and ``output``: the last norm and the logits."""


def _part(layer: str) -> Part | None:
    if found := _BLOCK.search(layer):
        return int(found[1]), PARTS[bool(_FEED_FORWARD.search(found[2]))]
    return None if _EMBEDDING.search(layer) else (-1, "output")


def language_models(deployment: Deployment) -> list[list[int]]:
    """Return the phases of each language model, networks in their order. They hand their cache
    over, as networks do what others read (``reads_mb``), and are of one model."""
    problem = deployment.problem
    models: list[list[int]] = []
    for source, target in sorted(
        {(problem.network_of[a], problem.network_of[b]) for a, b in problem.handovers}
    ):
        one, other = (deployment.known_origins.networks[n].source for n in (source, target))
        if one.is_task or one.reference != other.reference:
            continue
        known = next((model for model in models if source in model), None)
        if known is None:
            models.append([source, target])
        elif target not in known:
            known.append(target)
    return models


def placements(deployment: Deployment, n: int) -> dict[Part, bool]:
    """Return whether the most layers of each part of a network run on a GPU.

    Raises:
        ResultError: if a layer runs on a unit that llama.cpp does not know.
    """
    chip, name = deployment.platform, deployment.problem.networks[n].name
    votes: dict[Part, Counter[bool]] = {}
    for segment in deployment.segments(n):
        kind = chip.unit_by_name[deployment.unit_name(segment)].kind
        if kind not in ("cpu", "gpu"):
            raise ResultError(
                f"llama.cpp cannot serve unit {deployment.unit_name(segment)!r}, which has "
                f"{segment.groups} of {name}: it runs on CPUs and one GPU"
            )
        for part in filter(None, map(_part, deployment.layers(segment))):
            votes.setdefault(part, Counter())[kind == "gpu"] += 1
    return {part: votes[part][True] > votes[part][False] for part in sorted(votes)}


def llama_options(on_gpu: dict[Part, bool]) -> list[str]:
    """Return the options of ``llama-cli`` and ``llama-server``.

    All layers go to the GPU, but for tensors whose names match the patterns of ``-ot``.
    """
    if not any(on_gpu.values()):
        return ["-ngl", "0"]
    blocks = sorted({block for block, _ in on_gpu if block >= 0})
    whole = [b for b in blocks if not any(on_gpu.get((b, part), False) for part in PARTS)]
    patterns = [rf"^blk\.({'|'.join(map(str, whole))})\."] if whole else []
    for part in PARTS:
        some = [b for b in blocks if b not in whole and not on_gpu.get((b, part), True)]
        if some:
            patterns.append(rf"^blk\.({'|'.join(map(str, some))})\.{part}")
    if not on_gpu.get((-1, "output"), True):
        patterns.append("^output")
    options = ["-ngl", "999"]
    return [*options, "-ot", ",".join(f"{each}=CPU" for each in patterns)] if patterns else options


def llama_scripts(deployment: Deployment) -> tuple[dict[str, str], list[str]]:
    """Return the scripts that start llama.cpp for each language model, by the names of their files,
    and notes for the user.

    Raises:
        ResultError: if there is no language model, or a unit that llama.cpp does not know.
    """
    networks, files = deployment.problem.networks, network_files(deployment)
    scripts, notes = dict[str, str](), list[str]()
    for *earlier, last in language_models(deployment):
        own, name = placements(deployment, last), networks[last].name
        for n in earlier:
            others = placements(deployment, n)
            differ = sum(others[part] != own[part] for part in own.keys() & others.keys())
            if differ:
                notes.append(
                    f"{networks[n].name}: {differ} of {len(own)} parts are on another unit than "
                    f"those of {name}, whose placement llama.cpp has for both. For long prompts it "
                    "copies weights to the GPU by itself."
                )
        scripts[files[last].whole.removesuffix(".onnx") + ".llama.sh"] = (
            "#!/bin/sh\n"
            f"# {deployment.title}\n"
            "# Usage: sh FILE MODEL.gguf [OPTIONS OF llama-cli]. LLAMA is the program, such as\n"
            "# llama-server. Not run on a board yet.\n"
            'model=${1:?"MODEL.gguf is required"}\n'
            "shift\n"
            f'exec "${{LLAMA:-llama-cli}}" -m "$model" {shlex.join(llama_options(own))} "$@"\n'
        )
    if not scripts:
        raise ResultError(
            "llama.cpp runs language models: a network with a phase that continues it is required "
            "(continues, see examples/workloads/assistant.yaml)"
        )
    return scripts, notes
