"""The public library: everything that ``import dse`` offers.

:class:`~dse.api.problem.Problem` -> :func:`~dse.api.pipeline.explore` ->
:class:`~dse.api.front.Front` -> files. The commands call nothing else of the search and the proof.
"""
