"""The plain check of bounds over boxes, in whole numbers, apart from the code that finds them.

docs/concepts/certificate.md (Bounds over boxes) has the inequality, and shows that any nonnegative
multipliers give a true one. :mod:`fitness.check.boxes.limits` decides when it contradicts a corner.
"""
