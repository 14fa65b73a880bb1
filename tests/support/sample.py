"""How many random problems tests draw: with ``PARETOSOC_SAMPLE=N``, N times as many."""

import os

SAMPLE = int(os.environ.get("PARETOSOC_SAMPLE", "1"))
