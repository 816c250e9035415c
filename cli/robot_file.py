"""The robot of a command's FILE."""

from __future__ import annotations

import argparse

from ..robokin import RobotModel, load_urdf
from .arguments import is_blend
from .errors import UsageError


def load_model(arguments: argparse.Namespace) -> RobotModel:
    """The model in `arguments.file`: a .urdf needs no Blender. Raises RobokinError, OSError."""
    if is_blend(arguments.file):
        return _model_of_blend(arguments)
    if arguments.robot is not None:
        raise UsageError("--robot chooses among the robots of a .blend; a .urdf holds one")
    return load_urdf(arguments.file, package_paths=arguments.package_path, root=arguments.root or "fixed")


def _model_of_blend(arguments: argparse.Namespace) -> RobotModel:
    if arguments.root is not None or arguments.package_path:
        raise UsageError("--root and --package-path are for .urdf files; a .blend holds the robot as imported")
    from .blender import blender_file, find_robot

    with blender_file(arguments):
        from ..properties.bridge import robot_model

        return robot_model(find_robot(arguments.robot))
