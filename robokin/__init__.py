"""The robot: model, kinematics, dynamics and file formats. NumPy only, no Blender."""

from .errors import (
    BackendError,
    ConfigurationError,
    FileFormatError,
    ModelError,
    RobokinError,
    TaskError,
    UnknownNameError,
)
from .model import Joint, Link, Mimic, RobotModel

__all__ = [
    "BackendError",
    "ConfigurationError",
    "FileFormatError",
    "Joint",
    "Link",
    "Mimic",
    "ModelError",
    "RobokinError",
    "RobotModel",
    "TaskError",
    "UnknownNameError",
]
