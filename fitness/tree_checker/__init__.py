"""The fast check of a proof's tree: compiled, in all cores' threads, and written apart from the
search; :mod:`fitness.lemma_checker` is its plain form."""

from fitness.tree_checker.check import TreeReport, check_tree_fast

__all__ = [
    "TreeReport",
    "check_tree_fast",
]
