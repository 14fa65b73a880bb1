"""Files of every format, broken at random: each ends with a status and plain words, never a bug.

``DSE_MUTATIONS=1000 pytest tests/dse/cli/test_mutated_files.py`` tries as many of each format.
"""

from __future__ import annotations

import os
import random
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.robustness.inputs import XAVIER, documents, logs_and_tables, models
from benchmarks.robustness.mutations import mutated, with_another_array

MUTATIONS = int(os.environ.get("DSE_MUTATIONS", "12"))
FORMATS = (
    *("platform", "campaign", "mapping", "replay", "sdf3", "tegrastats", "trtexec-json", "table"),
    *("onnxruntime", "onnx-convolution"),
)
FOREIGN = re.compile(
    r"Traceback|PosixPath|set_int_max_str_digits|numpy|jsonschema|yaml\.|matplotlib|Errno|0x[0-9a-f]{6}"
)


def assert_plain(done: Any, label: str) -> None:
    """A known status, words of our own, and nothing that a terminal obeys."""
    printed = done.out + done.err
    assert done.status in range(5), (label, done.status, done.err)
    assert not FOREIGN.search(printed), (label, FOREIGN.search(printed), done.err)
    assert not re.search(
        r"[^\n\t\x20-\x7e\xa0-\u2029\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd]", printed
    )
    if done.status in (2, 3):
        assert done.err.splitlines()[-1].startswith("dse: "), (label, done.err)


@pytest.mark.parametrize("name", FORMATS)
def test_a_broken_file_ends_with_plain_words(dse: Any, tmp_path: Path, name: str) -> None:
    sound = {**documents(tmp_path), **logs_and_tables(tmp_path), **models(tmp_path)}[name]
    folder = tmp_path / "in"
    sound.put(folder, sound.data)
    path, (command, *_) = folder / sound.file, sound.commands
    call = [part.replace("{}", str(path)).replace("{dir}", str(folder)) for part in command]
    assert dse(*call).status == 0
    rng = random.Random(f"{name} 1")
    seen: Counter[int] = Counter()
    for number in range(MUTATIONS):
        path.write_bytes(sound.change(sound.data, rng))
        done = dse(*call)
        assert_plain(done, f"{name} {number}")
        seen[done.status] += 1
    # A line of a log that has nothing to say is passed over.
    assert seen[2] > 0 or name == "tegrastats", seen


@pytest.mark.parametrize("file", ["front.json", "problem.json", "costs.json"])
def test_a_broken_result_is_refused_in_plain_words(
    dse: Any, pair_folder: Path, tmp_path: Path, file: str
) -> None:
    rng = random.Random(file)
    folder = tmp_path / "broken"
    shutil.copytree(pair_folder, folder)
    sound = (folder / file).read_bytes()
    seen: Counter[int] = Counter()
    for number in range(max(MUTATIONS // 3, 3)):
        (folder / file).write_bytes(mutated(sound, rng))
        for command in ("show", "verify"):
            done = dse(command, folder)
            assert_plain(done, f"{file} {number} {command}")
            seen[done.status] += 1
    assert seen[2] + seen[1] > 0, seen


def test_a_broken_checkpoint_ends_with_plain_words(dse: Any, tmp_path: Path) -> None:
    path = tmp_path / "search.npz"
    explore = ("explore", "squeezenet", "-p", XAVIER, "--groups", "3", "-q", "--max-nodes", "0")
    explore += ("--engine", "nsga2", "--checkpoint", path, "--force", "-o", tmp_path / "out")
    assert dse(*explore, "--max-evaluations", 300).status == 0
    sound = path.read_bytes()
    rng = random.Random("checkpoint")
    seen: Counter[int] = Counter()
    for number in range(MUTATIONS):
        path.write_bytes(with_another_array(sound, rng) if number % 4 else mutated(sound, rng))
        done = dse(*explore, "--max-evaluations", 600)
        assert_plain(done, f"checkpoint {number}")
        seen[done.status] += 1
    assert seen[2] > 0, seen
