"""The plain check of bounds over boxes, in whole numbers. It shares no code with what finds them.

docs/concepts/certificate.md (Bounds over boxes) has the inequality, and why any nonnegative
multipliers give a true one. When a corner is contradicted: :mod:`fitness.check.boxes.limits`.
"""
