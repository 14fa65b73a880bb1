"""Measurements. Each module prints a table, or a document for programs with ``--json``.

The modules here measure the timeline, the searches and the proof, ``speed`` other parts.
``accuracy`` and ``validation`` compare predictions with measurements.
"""

import os

# Before numpy is loaded: threads of small matrices wait for each other most of their time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
