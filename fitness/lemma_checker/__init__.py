"""The plain check of a proof's tree, which shares no code with the search that made it."""

from fitness.lemma_checker.claim import LemmaTarget
from fitness.lemma_checker.tree import check_tree

__all__ = [
    "LemmaTarget",
    "check_tree",
]
