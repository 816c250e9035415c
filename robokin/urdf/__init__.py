"""The URDF format: reading and writing."""

from .reader import load_urdf, read_urdf_text
from .writer import save_urdf, urdf_losses, urdf_text

__all__ = ["load_urdf", "read_urdf_text", "save_urdf", "urdf_losses", "urdf_text"]
