"""The URDF format: reading and writing."""

from .reader import load_urdf, read_urdf_text
from .writer import save_urdf, urdf_losses, urdf_text
from .xacro import parse_xacro_args

__all__ = ["load_urdf", "parse_xacro_args", "read_urdf_text", "save_urdf", "urdf_losses", "urdf_text"]
