"""The command line: `robokin SUB ...`, the same code as a console script and as Blender's `--command robokin`."""

from .main import main
from .version import version

__all__ = ["main", "version"]
