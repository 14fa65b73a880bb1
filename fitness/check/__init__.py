"""The independent check of a proof's tree: one text, compiled or interpreted.

It shares no code with the search that made the tree, and imports only the problem's types from the
rest of the program. docs/concepts/certificate.md has its rules and bounds. Compiled, it checks
parts of a tree in threads; interpreted, in Python's integers, it needs no compiler and cannot
overflow (:mod:`fitness.check.interpreted`).
"""

from paretosoc.fitness.check.target import LemmaTarget
from paretosoc.fitness.check.tree import TreeReport, check_tree

__all__ = [
    "LemmaTarget",
    "TreeReport",
    "check_tree",
]
