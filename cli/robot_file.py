"""The robot of a command's FILE."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ..robokin import RobotModel, load_robot_table, load_urdf
from .arguments import is_blend
from .errors import UsageError

TABLE = ".csv"


def load_model(arguments: argparse.Namespace) -> RobotModel:
    """The model in `arguments.file`: a description needs no Blender. Raises RobokinError, OSError."""
    if is_blend(arguments.file):
        return _model_of_blend(arguments)
    if arguments.robot is not None:
        raise UsageError("--robot chooses among the robots of a .blend; a .urdf or .csv holds one")
    return load_description(arguments.file, arguments.package_path, arguments.root or "fixed")


def load_description(path: str, package_paths: Sequence[str], root: str) -> RobotModel:
    """The model of a robot table (.csv) or a URDF (any other ending). Raises RobokinError."""
    if path.lower().endswith(TABLE):
        return load_robot_table(path, root)
    return load_urdf(path, package_paths, root)


def _model_of_blend(arguments: argparse.Namespace) -> RobotModel:
    if arguments.root is not None or arguments.package_path:
        raise UsageError("--root and --package-path are for .urdf files; a .blend holds the robot as imported")
    from .blender import blender_file, find_robot

    with blender_file(arguments):
        from ..properties.bridge import robot_model

        return robot_model(find_robot(arguments.robot))
