"""Random task graphs for tests: chains, forks, ties, tasks that dwarf the others, tiny caches."""

from __future__ import annotations

import random

from paretosoc.dse.papers.mobile_i.periodic import EngineArray, Task, TaskGraph, Transfer


def random_graph(seed: int, *, most_tasks: int = 8) -> TaskGraph:
    draw = random.Random(seed)
    count = draw.randint(1, most_tasks)
    longest = draw.choice([1, 5, 100])
    tasks = tuple(
        Task(f"t{n}", draw.choice([draw.randint(1, longest), draw.randint(1, 20)]))
        for n in range(count)
    )
    density = draw.choice([0.1, 0.3, 0.7])
    slowest = draw.choice([0, 10, 80])
    transfers = []
    for source in range(count):
        for target in range(source + 1, count):
            if draw.random() < density:
                cache = draw.randint(0, slowest)
                memory = cache + draw.randint(0, slowest)
                transfers.append(Transfer(source, target, draw.randint(0, 40), memory, cache))
    return TaskGraph(f"random{seed}", tasks, tuple(transfers))


def random_array(seed: int) -> EngineArray:
    draw = random.Random(-1 - seed)
    return EngineArray(draw.randint(1, 4), draw.choice([0, 30, 100, 1000]))
