"""Makes the helpers beside the tests, and the benchmarks, importable.

Pytest's importlib mode does not.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
for folder in (HERE, HERE.parents[1]):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
