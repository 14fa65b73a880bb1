"""What is run of each peer, as ``python -m``, in the environment of that peer.

Each prints one JSON document, an :class:`benchmarks.peers.programs.answer.Answer`.
"""
