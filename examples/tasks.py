"""Tasks of a camera as functions, in numpy: a resize, and a suppression of overlapping boxes.

They stand for the tasks of a workload when a member is run on this machine::

    dse run runs/here --task resize=examples/tasks.py:resize \
        --task suppress=examples/tasks.py:suppress
"""

from __future__ import annotations

import numpy as np

_random = np.random.default_rng(0)
_frame = _random.integers(0, 256, (1080, 1920, 3), dtype=np.uint8)
_corners = _random.uniform(0, 600, (150, 2))
_boxes = np.hstack([_corners, _corners + _random.uniform(10, 200, (150, 2))])
_scores = _random.uniform(size=150)

SIDE = 224
MOST_OVERLAP = 0.5


def resize() -> np.ndarray:
    """Return the frame with 224 x 224 pixels, interpolated linearly, as a network reads it."""
    height, width, _ = _frame.shape
    y, x = (np.linspace(0, size - 1, SIDE) for size in (height, width))
    top, left = y.astype(int), x.astype(int)
    bottom, right = np.minimum(top + 1, height - 1), np.minimum(left + 1, width - 1)
    down, along = (y - top)[:, None, None], (x - left)[None, :, None]
    upper = _frame[top][:, left] * (1 - along) + _frame[top][:, right] * along
    lower = _frame[bottom][:, left] * (1 - along) + _frame[bottom][:, right] * along
    image = (upper * (1 - down) + lower * down) / 255
    return np.ascontiguousarray(image.transpose(2, 0, 1)[None], dtype=np.float32)


def suppress() -> list[int]:
    """Return the boxes that overlap with no better one by more than half of their union."""
    areas = np.prod(_boxes[:, 2:] - _boxes[:, :2], axis=1)
    order, kept = np.argsort(-_scores), []
    while len(order):
        best, others = order[0], order[1:]
        kept.append(int(best))
        low = np.maximum(_boxes[best, :2], _boxes[others, :2])
        high = np.minimum(_boxes[best, 2:], _boxes[others, 2:])
        shared = np.prod(np.clip(high - low, 0, None), axis=1)
        order = others[shared / (areas[best] + areas[others] - shared) <= MOST_OVERLAP]
    return kept
