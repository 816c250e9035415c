"""Write a robot's animation as joint values over time, in SI units and radians; or the robot itself. The
ending of OUT decides.

.csv   time and one column for each joint
.json  times, positions, velocities, accelerations by joint name
.yaml  ROS trajectory_msgs/JointTrajectory
.pvt   a controller's spline: time, position and velocity of each joint
.servo a table of the angles of hobby servos, 0 to 180 degrees
.svg   diagrams of positions, velocities and accelerations (with efforts: robokin dynamics --plot)
.urdf  the robot, with mesh files for what was modelled in Blender; of any robot FILE
.srdf  its stored postures, and its links that may touch"""

from __future__ import annotations

import argparse
from pathlib import Path

from ...robokin import save_urdf, urdf_losses
from ...robokin.units import counted
from ...robokin.urdf.ranges import with_ranges
from ..arguments import MOTIONS, add_frames, add_robot_file, is_blend, output_ending, rate
from ..errors import UsageError
from ..interrupts import run_steps
from ..robot_file import load_model
from ..terminal import out, say

PVT, URDF, SRDF = ".pvt", ".urdf", ".srdf"
FORMATS = (*MOTIONS, PVT, URDF, SRDF)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_file(parser)
    add_frames(parser)
    parser.add_argument("--rate", metavar="HZ", type=rate, help="samples per second (one for each frame)")
    parser.add_argument(
        "--smooth",
        action=argparse.BooleanOptionalAction,
        help="a curve that is twice continuously differentiable and inside the limits, through the frames where limits "
        "let it (as with --rate); or the animation as Blender shows it between frames",
    )
    parser.add_argument(
        "--dynamics",
        action="store_true",
        help="also effort, power, energy, momentum ..., a column each, in .csv and .json; efforts in .yaml",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        type=output_ending(*FORMATS),
        required=True,
        help="motion.csv, .json, .yaml, .pvt, .servo, .svg; robot.urdf; robot.srdf",
    )


def run(arguments: argparse.Namespace) -> bool:
    ending = Path(arguments.output).suffix.lower()
    options = (arguments.frames, arguments.rate, arguments.smooth, arguments.dynamics or None)
    if ending in (URDF, SRDF) and any(each is not None for each in options):
        raise UsageError(f"--frames, --rate, --smooth and --dynamics are for motions; a {ending} has none")
    if ending == URDF and not is_blend(arguments.file):
        model = load_model(arguments)
        losses = urdf_losses(model)
        model, notes = with_ranges(model)
        save_urdf(model, arguments.output)
        return _report_written(arguments.output, "robot written", [*losses, *notes])
    if arguments.root is not None or arguments.package_path or arguments.xacro_arg:
        raise UsageError(
            "--root, --package-path and --xacro-arg are for descriptions; a .blend holds the robot as imported"
        )
    return _export_blend(arguments, ending)


def _export_blend(arguments: argparse.Namespace, ending: str) -> bool:
    from ...solvers.motion.files import WITH_QUANTITIES, write_motion
    from ..blender import blender_file, chosen_frames, find_robot

    if arguments.dynamics and ending not in WITH_QUANTITIES:
        raise UsageError(f"--dynamics: a {ending} has no place for it (valid: {', '.join(WITH_QUANTITIES)})")
    if arguments.smooth is False and ending == PVT:
        raise UsageError(f"--no-smooth: a {PVT} is the smooth curve")
    with blender_file(arguments):
        import bpy

        from ...properties.bridge import binding, export_urdf
        from ...scene.bake.resampling import broken_in_file, motion_at_rate
        from ...scene.dynamics import dynamics_steps, file_columns
        from ...scene.srdf import write_srdf

        robot = find_robot(arguments.robot)
        losses: list[str] = []
        if ending == URDF:
            losses = export_urdf(robot, arguments.output, bpy.context.evaluated_depsgraph_get())
            line = "robot written"
        elif ending == SRDF:
            line = write_srdf(robot, arguments.output)
        else:
            frames = chosen_frames(robot, arguments.frames, 1)
            rate = arguments.rate or robot.robokin.solver.rate or None
            steps = motion_at_rate(
                bpy.context.scene, robot, frames[0], frames[-1], rate, arguments.smooth, ending == PVT
            )
            motion = run_steps(steps)
            columns = {}
            if arguments.dynamics:
                bound = binding(robot)
                found = run_steps(dynamics_steps(bpy.context.scene, robot, bound, motion, frames[0]))
                columns = run_steps(file_columns(robot, bound, found, Path(arguments.output)))
            write_motion(motion, arguments.output, columns)
            losses = broken_in_file(bpy.context.scene, motion, frames[0])
            line = f"{counted(len(motion), 'sample')}, {motion.duration:.3f} s"
    return _report_written(arguments.output, line, losses)


def _report_written(output: str, line: str, losses: list[str]) -> bool:
    for loss in losses:
        say(loss)
    out(f"{output}: {line}", output)
    return True
