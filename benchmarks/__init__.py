"""Measurements. Each module prints a table, or a document for programs with ``--json``.

The modules here measure the timeline, the searches and the proof, ``speed`` other parts.
``accuracy`` and ``validation`` compare predictions with measurements.
"""
