"""Chips: units, clock domains with their operating points, power and measurements, read from JSON
files with a source for every figure.
"""

from paretosoc.platforms.errors import PlatformError
from paretosoc.platforms.io.platform_file import load_platform, platform_names
from paretosoc.platforms.platform import Platform, Unit

__all__ = [
    "Platform",
    "PlatformError",
    "Unit",
    "load_platform",
    "platform_names",
]
