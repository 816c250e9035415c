"""Make a .blend of a robot description: one armature with a bone for each joint, the links' meshes
on it. Inside Blender with a file open, the robot is added to that file's scene."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from ...robokin import RobokinError, import_srdf
from ...robokin.limit_warnings import limit_warnings
from ...robokin.units import counted
from ...robokin.urdf.srdf import Srdf
from ...solvers.motion.files import absent_note, read_known_motion
from ..arguments import add_urdf_options, output_blend
from ..interrupts import run_steps
from ..robot_file import load_description
from ..terminal import out, say

if TYPE_CHECKING:
    import bpy

    from ...solvers.motion.motion import Motion


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="robot description (.urdf, .xacro or .csv)")
    parser.add_argument("-o", "--output", metavar="OUT", type=output_blend, required=True, help="the .blend to write")
    add_urdf_options(parser)
    parser.add_argument("--srdf", metavar="FILE", help="take its named poses, and its links that may touch")
    parser.add_argument("--motion", metavar="FILE", help="key this motion (.csv, .json, .yaml) from frame 1 on")
    parser.add_argument(
        "--convex-parts", action="store_true", help="cut collision meshes into convex parts, which keep their holes"
    )
    parser.add_argument("--no-meshes", action="store_true", help="leave out what the links look like")


def run(arguments: argparse.Namespace) -> bool:
    root = arguments.root or "fixed"
    # What is wrong with the files shows before Blender starts.
    model = load_description(arguments.file, arguments.package_path, root, arguments.xacro_arg)
    srdf = Srdf() if arguments.srdf is None else import_srdf(arguments.srdf, model)
    file = arguments.motion
    motion, others, absent = (None, [], []) if file is None else read_known_motion(file, model)
    from ..blend_saving import save_as
    from ..blender import blender, some_window

    with blender():
        import bpy

        from ...properties.bridge import import_robot, robot_model
        from ...properties.preferences import package_paths
        from ...scene.srdf import take_srdf

        if not (arguments.in_blender and bpy.data.filepath):
            bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        if preferred := package_paths():
            folders = [*arguments.package_path, *preferred]
            model = load_description(arguments.file, folders, root, arguments.xacro_arg)
        with some_window():
            robot, warnings = import_robot(bpy.context, model, meshes=not arguments.no_meshes)
        take_srdf(robot, robot_model(robot), srdf)
        if arguments.convex_parts:
            from ...scene.link_shapes import COLLISIONS, PARTS, fit_shapes

            try:
                say(str(run_steps(fit_shapes(bpy.context, robot, PARTS, COLLISIONS))))
            except RobokinError as fault:  # no reason to refuse the robot
                warnings.append(f"collision meshes left as they are: {fault}")
        name = robot.name
        if motion is not None:
            warnings += _keyed(robot, motion)
        if absent:
            warnings.append(absent_note(file, absent))
        if others:
            warnings.append(f"{file}: no joints of {model.name!r}, left out: {', '.join(others)}")
        save_as(arguments.output)
    logged = limit_warnings(model)  # by the reader
    for warning in (*srdf.warnings, *(each for each in warnings if each not in logged)):
        say(warning)
    size = os.path.getsize(arguments.output) / 1e6
    line = (
        f"{arguments.output}: robot {name!r} with {counted(len(model.moving_joints), 'moving joint')} ({size:.1f} MB)"
    )
    out(line, arguments.output)
    return True


def _keyed(robot: bpy.types.Object, motion: Motion) -> list[str]:
    """The scene's range becomes that of the motion; what is to be said of it."""
    from ...properties.bridge import binding
    from ...scene.animation.motion_keys import key_motion

    scene = robot.users_scene[0]
    frames, outside = key_motion(scene, robot, motion, 1, binding(robot))
    scene.frame_start, scene.frame_end = frames[0], frames[-1]
    if not outside:
        return []
    return [f"the motion was moved inside the limits in {counted(len(outside), 'frame')}, the first {outside[0]}"]
