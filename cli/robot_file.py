"""The robot of a command's FILE."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from ..robokin import RobotModel, UnknownNameError, load_urdf
from .arguments import is_blend
from .errors import UsageError
from .terminal import say

if TYPE_CHECKING:
    import bpy

TABLE = ".csv"


def load_model(arguments: argparse.Namespace) -> RobotModel:
    """The model in `arguments.file`: a description needs no Blender. Raises RobokinError, OSError."""
    return load_posed(arguments, None, None)[0]


def load_posed(
    arguments: argparse.Namespace, posture: str | None, srdf: str | None
) -> tuple[RobotModel, np.ndarray | None]:
    """(model, q of the posture of that name): one stored in a .blend, or a named pose of an SRDF file; None without a
    name. Raises RobokinError, OSError."""
    if is_blend(arguments.file):
        with posed_of_blend(arguments, posture, srdf) as (_, model, q):
            return model, q
    if arguments.robot is not None:
        raise UsageError("--robot chooses among the robots of a .blend; a .urdf, .xacro or .csv holds one")
    model = load_description(arguments.file, arguments.package_path, arguments.root or "fixed", arguments.xacro_arg)
    if posture is None:
        return model, None
    if srdf is None:
        raise UsageError("--posture needs --srdf FILE where the robot is no .blend")
    from ..robokin import clamp, import_srdf

    found = import_srdf(srdf, model)
    for warning in found.warnings:
        say(warning)
    if posture not in found.postures:
        raise UnknownNameError(f"posture in {srdf}", posture, found.postures)
    return model, clamp(model, model.configuration(found.postures[posture]))


def load_description(path: str, package_paths: Sequence[str], root: str, xacro_args: Sequence[str] = ()) -> RobotModel:
    """The model of a robot table (.csv), a xacro file (.xacro) or a URDF (any other ending). Raises RobokinError."""
    if path.lower().endswith(TABLE):
        if xacro_args or package_paths:
            raise UsageError("--package-path is for .urdf and .xacro files, --xacro-arg for .xacro files")
        from ..robokin import load_robot_table

        return load_robot_table(path, root)
    from ..robokin.urdf import parse_xacro_args

    return load_urdf(path, package_paths, root, parse_xacro_args(xacro_args))


@contextmanager
def posed_of_blend(
    arguments: argparse.Namespace, posture: str | None, srdf: str | None
) -> Iterator[tuple[bpy.types.Object, RobotModel, np.ndarray | None]]:
    """(robot, model, q of the stored posture of that name), with `arguments.file` open. Raises RobokinError."""
    if srdf is not None:
        raise UsageError("--srdf is for robot descriptions; a .blend holds its own postures")
    if arguments.root is not None or arguments.package_path or arguments.xacro_arg:
        options = "--root, --package-path and --xacro-arg"
        raise UsageError(f"{options} are for .urdf, .xacro and .csv files; a .blend holds the robot as imported")
    from .blender import blender_file, find_robot

    with blender_file(arguments):
        from ..properties.bridge import robot_model
        from ..properties.postures import find_posture, posture_configuration

        robot = find_robot(arguments.robot)
        own = robot_model(robot)
        q = None if posture is None else posture_configuration(own, find_posture(robot, posture))
        yield robot, own, q
