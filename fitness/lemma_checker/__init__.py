"""The plain check of a proof's lemmas, which shares no code with the search that found them."""

from fitness.lemma_checker.check import check_lemmas
from fitness.lemma_checker.claim import LemmaTarget

__all__ = [
    "LemmaTarget",
    "check_lemmas",
]
