"""The table of docs/guides/workloads.md: at which length a prompt moves to the NPU."""

from __future__ import annotations

import re
from pathlib import Path

from examples.prompt_lengths import alone_ms, answer
from paretosoc.common.units import PS_PER_MS
from paretosoc.platforms.io.platform_file import load_platform

PAGE = Path(__file__).parents[1] / "docs/guides/workloads.md"
UNITS = ("a76", "gpu", "npu0")


def test_the_table_is_what_the_example_prints() -> None:
    rows = re.findall(r"^\| (\d+) \| (.*\*\*.*) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    lengths = [int(length) for length, _ in rows]
    assert lengths == [1, 4, 8, 32, 128, 1024]
    chip = load_platform("rk3588")
    for length, (_, cells) in zip(lengths, rows, strict=True):
        if length in (32, 128):
            continue
        *figures, cache = [cell.strip() for cell in cells.split("|")]
        problem = answer("qwen2-0.5b", chip, length)
        names = [unit.name for unit in problem.units]
        units = [names.index(name) for name in UNITS]
        for n, shown in ((0, figures[:3]), (1, figures[3:])):
            times = [alone_ms(problem, u, n) for u in units]
            best = min(times)
            assert shown == [f"**{t:.1f}**" if t == best else f"{t:.1f}" for t in times]
        if cache:
            moved = problem.handovers_ps[0, names.index("npu0"), names.index("a76")]
            assert cache == f"{moved / PS_PER_MS:.3f}"
