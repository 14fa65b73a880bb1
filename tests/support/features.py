"""Comparisons on many random problems, among which every kind of problem must come up."""

from collections import Counter
from collections.abc import Callable, Mapping


def compare_all(compare: Callable[[int], set[str]], seeds: range, least: Mapping[str, int]) -> None:
    """``compare`` asserts of the problem of a seed, and gives the features that it shows; each of
    ``least`` must be shown by so many problems, so that agreement means something."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        seen.update(compare(seed))
    missing = {name: seen[name] for name, wanted in least.items() if seen[name] < wanted}
    assert not missing, f"features that too few problems of {seeds} show: {missing}"
