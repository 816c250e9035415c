"""The URDF format: reading and writing."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .reader import load_urdf, read_urdf_text
    from .writer import save_urdf, urdf_losses, urdf_text
    from .xacro import parse_xacro_args
else:
    from ..lazy import exports

    __getattr__, __dir__, __all__ = exports(__name__)
