"""New rows, the better of two parents, and the survivors. Compiled."""

import numpy as np

from paretosoc.fitness.simulator.jit import jit

SLOTS = 1 << 20
"""Hashes of rows remembered. A newer one may replace an older one, whose row may then come
again."""
SHIFT = 64 - (SLOTS - 1).bit_length()
"""A hash shifted by this many bits is its slot."""


@jit
def mark_new(rows, factors, table, new):
    """Set ``new`` [n] if a row is not in ``table``, and put it there."""
    for r in range(rows.shape[0]):
        new[r] = is_new(rows[r], factors, table)


@jit
def is_new(row, factors, table):
    """Return whether the hash of a row is not in its place of ``table``, and put it there.

    A hash is a sum of multiples of the genes by ``factors`` [width] modulo 2^64, and never 0.
    """
    value = np.uint64(0)
    for g in range(row.shape[0]):
        value += np.uint64(row[g]) * factors[g]
    value = max(value, np.uint64(1))
    slot = np.int64(value >> np.uint64(SHIFT))
    new = table[slot] != value
    table[slot] = value
    return new


@jit
def wins(objectives, violation, crowding, a, b, coin):
    """Return whether row ``a`` wins a tournament against row ``b``.

    The smaller violation wins if there is any. Otherwise the row that dominates the other wins,
    else the larger crowding distance, else ``coin`` decides.
    """
    if violation[a] != violation[b]:
        return violation[a] < violation[b]
    if violation[a] > 0.0:
        return coin
    a_first, b_first = True, True
    for c in range(objectives.shape[1]):
        a_first &= objectives[a, c] <= objectives[b, c]
        b_first &= objectives[b, c] <= objectives[a, c]
    if a_first != b_first:
        return a_first
    if crowding[a] != crowding[b]:
        return crowding[a] > crowding[b]
    return coin


@jit
def choose_survivors(objectives, violation, size, work, distance, chosen, crowding):
    """Fill ``chosen`` and ``crowding`` [at most size].

    They are the fields of :class:`dse.search.optimizers.selection.Survivors`. ``objectives`` are
    [n, m], ``violation`` [n, 1]. ``work`` [5, n] and ``distance`` [n, 1] are scratch.
    """
    order, spare, rank, newest, before = work[0], work[1], work[2], work[3], work[4]
    count = np.int64(0)
    for r in range(objectives.shape[0]):
        if violation[r, 0] <= 0.0:
            order[count] = r
            count += 1
    # By all objectives, the first one foremost: only earlier rows can dominate a row.
    _sort(order, 0, count, objectives, 0, objectives.shape[1], spare)
    fronts = _rank(objectives, order, count, rank, newest, before)
    _sort_by_front(violation, rank, fronts, newest, order)
    end, left = np.int64(0), np.int64(min(size, count))
    for front in range(fronts):
        if left == 0:
            break
        begin, end = end, newest[front]
        _measure_crowding(objectives, order, begin, end, before, spare, distance)
        if end - begin >= left:
            # Take the least crowded rows of the last front first, as there may not be room for all.
            for i in range(begin, end):
                distance[order[i], 0] = -distance[order[i], 0]
            _sort(order, begin, end, distance, 0, 1, spare)
            for i in range(begin, end):
                distance[order[i], 0] = -distance[order[i], 0]
            end = begin + left
        for i in range(begin, end):
            chosen[i], crowding[i] = order[i], distance[order[i], 0]
        left -= end - begin
    kept = end
    # If places are left, take the rows that break their limits least.
    count = np.int64(0)
    for r in range(objectives.shape[0]):
        if violation[r, 0] > 0.0:
            order[count] = r
            count += 1
    if kept < chosen.shape[0]:
        _sort(order, 0, count, violation, 0, 1, spare)
    for i in range(chosen.shape[0] - kept):
        chosen[kept + i], crowding[kept + i] = order[i], 0.0


@jit
def _comes_first(table, first, last, a, b):
    """Return whether row ``a`` of ``table`` comes before ``b`` by columns ``first`` to ``last``,
    then by number."""
    for c in range(first, last):
        if table[a, c] != table[b, c]:
            return table[a, c] < table[b, c]
    return a < b


@jit
def _sort(order, begin, end, table, first, last, spare):
    """Sort ``order[begin:end]``, rows of ``table``, by some columns. Merges parts. ``spare`` is
    scratch."""
    width = 1
    while width < end - begin:
        for low in range(begin, end - width, 2 * width):
            middle, high = low + width, min(low + 2 * width, end)
            if _comes_first(table, first, last, order[middle - 1], order[middle]):
                continue
            a, b = low, middle
            for k in range(low, high):
                if b == high or (
                    a < middle and _comes_first(table, first, last, order[a], order[b])
                ):
                    spare[k] = order[a]
                    a += 1
                else:
                    spare[k] = order[b]
                    b += 1
            for k in range(low, high):
                order[k] = spare[k]
        width *= 2


@jit
def _rank(objectives, order, count, rank, newest, before):
    """Fill ``rank`` of ``order[:count]``, sorted by all objectives, and count the fronts: each row
    joins the first front that does not dominate it (Zhang et al., IEEE TEVC 19(2), 2015).
    ``newest`` [fronts] and ``before`` [rows] are scratch."""
    fronts = np.int64(0)
    for i in range(count):
        row, front = order[i], np.int64(0)
        while front < fronts:
            other = newest[front]
            while other >= 0 and not _dominates(objectives, other, row):
                # With two objectives the newest row of a front has the lowest second one.
                other = before[other] if objectives.shape[1] > 2 else np.int64(-1)
            if other < 0:
                break
            front += 1
        before[row] = np.int64(-1) if front == fronts else newest[front]
        newest[front], rank[row] = row, front
        fronts = max(fronts, front + 1)
    return fronts


@jit
def _dominates(objectives, a, b):
    """Return whether no entry of row ``a`` is larger than that of row ``b``, and one is smaller."""
    smaller = False
    for c in range(objectives.shape[1]):
        if objectives[a, c] > objectives[b, c]:
            return False
        smaller |= objectives[a, c] < objectives[b, c]
    return smaller


@jit
def _sort_by_front(violation, rank, fronts, end, order):
    """Fill ``order`` with the rows that break no limit, by front and number, and ``end``
    [fronts]."""
    for front in range(fronts):
        end[front] = 0
    for r in range(violation.shape[0]):
        if violation[r, 0] <= 0.0:
            end[rank[r]] += 1
    begin = np.int64(0)
    for front in range(fronts):
        begin, end[front] = begin + end[front], begin
    for r in range(violation.shape[0]):
        if violation[r, 0] <= 0.0:
            order[end[rank[r]]] = r
            end[rank[r]] += 1


@jit
def _measure_crowding(objectives, order, begin, end, sorted_rows, spare, distance):
    """Fill ``distance`` of a front, ``order[begin:end]``: the mean over objectives of the distance
    between both neighbours as a share of the range. It is infinite at the ends, and in fronts of
    one or two."""
    width = objectives.shape[1]
    for i in range(begin, end):
        sorted_rows[i] = order[i]
        distance[order[i], 0] = 0.0 if end - begin > 2 else np.inf
    if end - begin <= 2:
        return
    for c in range(width):
        _sort(sorted_rows, begin, end, objectives, c, c + 1, spare)
        low, high = sorted_rows[begin], sorted_rows[end - 1]
        span = objectives[high, c] - objectives[low, c]
        if span > 0.0:
            distance[low, 0] = np.inf
            distance[high, 0] = np.inf
            for i in range(begin + 1, end - 1):
                here = objectives[sorted_rows[i], c]
                lower = here - objectives[sorted_rows[i - 1], c]
                higher = objectives[sorted_rows[i + 1], c] - here
                distance[sorted_rows[i], 0] += lower / span + higher / span
        # The rows of a front that rise in one of two objectives fall in the other.
        for i in range((end - begin) // 2):
            one, other = begin + i, end - 1 - i
            here = sorted_rows[one]
            sorted_rows[one], sorted_rows[other] = sorted_rows[other], here
    for i in range(begin, end):
        distance[order[i], 0] /= width
