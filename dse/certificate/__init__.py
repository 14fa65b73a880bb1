"""Proofs: exact fronts by branch and bound, and certificates that anyone can check.

:func:`~dse.certificate.strategy.prove_front` chooses the proofs that fit the limits.
"""
