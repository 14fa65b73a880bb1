"""The library under the name that it is installed by: ``import paretosoc`` is ``import dse``."""

import sys

import dse

sys.modules[__name__] = dse
