"""The programs of the peers, run as ``python -m`` in the environment of each.

Each prints one JSON document, an :class:`benchmarks.peers.programs.answer.Answer`.
"""
