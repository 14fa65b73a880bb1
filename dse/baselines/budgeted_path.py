"""The fastest way through layers of options whose energy keeps a budget: a shortest path with one
resource, solved exactly in integers (Handler and Zang 1980, closed by labels)."""

from __future__ import annotations

from dataclasses import dataclass

FIRST = 1 << 100
"""Weight of the figure that is minimised first, beyond any time or energy of a problem."""
MAX_LABELS = 20_000
"""Per layer. Of more, those with the best bound stay, and the path may not be the fastest."""


@dataclass(frozen=True)
class Layer:
    """Options of one step, all figures at least 0.

    ``time``, ``energy``: [options]. ``hop_time``, ``hop_energy``: [options of the layer
    before][options], empty in the first layer.
    """

    units: tuple[int, ...]
    time: tuple[int, ...]
    energy: tuple[int, ...]
    hop_time: tuple[tuple[int, ...], ...] = ()
    hop_energy: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class Path:
    """One option per layer, as units, and the sums."""

    units: tuple[int, ...]
    time: int
    energy: int


@dataclass
class _Label:
    time: int
    energy: int
    option: int
    parent: _Label | None


def fastest_path(layers: list[Layer], budget: int) -> Path:
    """Return the path of least time with an energy of at most ``budget``, or if there is none, of
    least energy."""
    fast = _weighted(layers, FIRST, 1)
    if fast.energy <= budget:
        return fast
    min_energy = _weighted(layers, 1, FIRST)
    if min_energy.energy > budget:
        return min_energy
    # The multiplier of the budget is the slope of the hull of (energy, time) at the budget.
    while True:
        by_time, by_energy = fast.energy - min_energy.energy, min_energy.time - fast.time
        middle = _weighted(layers, by_time, by_energy)
        value = by_time * middle.time + by_energy * middle.energy
        if value >= by_time * fast.time + by_energy * fast.energy:
            break
        if middle.energy <= budget:
            min_energy = middle
        else:
            fast = middle
    return _closed(layers, budget, min_energy, by_time, by_energy)


def _to_go(layers: list[Layer], by_time: int, by_energy: int) -> list[list[int]]:
    """Return [layers][options]: the least weighted sum of all that follows an option."""
    costs = [[0] * len(layers[-1].units)]
    for layer in layers[:0:-1]:
        after = costs[-1]
        own = [
            by_time * t + by_energy * e + rest
            for t, e, rest in zip(layer.time, layer.energy, after, strict=True)
        ]
        costs.append(
            [
                min(
                    by_time * t + by_energy * e + rest
                    for t, e, rest in zip(times, energies, own, strict=True)
                )
                for times, energies in zip(layer.hop_time, layer.hop_energy, strict=True)
            ]
        )
    return costs[::-1]


def _weighted(layers: list[Layer], by_time: int, by_energy: int) -> Path:
    """Return the path of least ``by_time`` x time + ``by_energy`` x energy."""
    after = _to_go(layers, by_time, by_energy)
    units = []
    time = energy = 0
    option = -1
    for index, layer in enumerate(layers):
        steps = [
            (
                layer.time[o] + (layer.hop_time[option][o] if index else 0),
                layer.energy[o] + (layer.hop_energy[option][o] if index else 0),
            )
            for o in range(len(layer.units))
        ]
        option = min(
            range(len(steps)),
            key=lambda o: by_time * steps[o][0] + by_energy * steps[o][1] + after[index][o],
        )
        units.append(layer.units[option])
        time += steps[option][0]
        energy += steps[option][1]
    return Path(tuple(units), time, energy)


def _closed(layers: list[Layer], budget: int, known: Path, by_time: int, by_energy: int) -> Path:
    """Return the fastest path within the budget that beats ``known``, or ``known``. A label is
    dropped if no completion can do both by its least time, its least energy or their weighted
    sum."""
    time_left, energy_left = _to_go(layers, 1, 0), _to_go(layers, 0, 1)
    both_left = _to_go(layers, by_time, by_energy)
    most = by_time * (known.time - 1) + by_energy * budget
    labels: list[_Label | None] = [None]
    for index, layer in enumerate(layers):
        reached: list[list[tuple[int, int, _Label | None]]] = [[] for _ in layer.units]
        for label in labels:
            for o in range(len(layer.units)):
                time, energy = layer.time[o], layer.energy[o]
                if label is not None:
                    time += label.time + layer.hop_time[label.option][o]
                    energy += label.energy + layer.hop_energy[label.option][o]
                if (
                    time + time_left[index][o] < known.time
                    and energy + energy_left[index][o] <= budget
                    and by_time * time + by_energy * energy + both_left[index][o] <= most
                ):
                    reached[o].append((time, energy, label))
        labels = []
        for o, found in enumerate(reached):
            least = None
            for time, energy, label in sorted(found, key=lambda entry: entry[:2]):
                if least is None or energy < least:
                    labels.append(_Label(time, energy, o, label))
                    least = energy
        if len(labels) > MAX_LABELS:
            bound = both_left[index]

            def promise(label: _Label | None, bound: list[int] = bound) -> int:
                assert label is not None
                return by_time * label.time + by_energy * label.energy + bound[label.option]

            labels = sorted(labels, key=promise)[:MAX_LABELS]
    ended = [label for label in labels if label is not None]
    if not ended:
        return known
    best = min(ended, key=lambda label: (label.time, label.energy))
    units: list[int] = []
    at: _Label | None = best
    for layer in reversed(layers):
        assert at is not None
        units.append(layer.units[at.option])
        at = at.parent
    return Path(tuple(units[::-1]), best.time, best.energy)
