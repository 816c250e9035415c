"""Write a robot's animation as joint values over time, in SI units and radians.

.csv   time and one column for each joint
.json  times, positions, velocities, accelerations by joint name
.yaml  ROS trajectory_msgs/JointTrajectory"""

from __future__ import annotations

import argparse
from pathlib import Path

from .arguments import add_blend_file, add_frames, output_file, rate

NAME = "export"
HELP = "write the animation of a .blend as joint values over time"
FORMATS = (".csv", ".json", ".yaml", ".yml")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_blend_file(parser)
    add_frames(parser)
    parser.add_argument("--rate", metavar="HZ", type=rate, help="samples per second (one for each frame)")
    parser.add_argument(
        "-o", "--output", metavar="MOTION", type=_motion_file, required=True, help="motion.csv, .json or .yaml"
    )


def _motion_file(text: str) -> str:
    if Path(text).suffix.lower() not in FORMATS:
        raise argparse.ArgumentTypeError(f"{text!r} does not end in {', '.join(FORMATS)}")
    return output_file(text)


def run(arguments: argparse.Namespace) -> bool:
    from .blender import blender_file, find_robot, run_steps, scene_frames

    with blender_file(arguments):
        import bpy

        from ..operators.export_motion import motion_at_rate
        from ..solvers.motion_files import write_motion

        robot = find_robot(arguments.robot)
        frames = scene_frames(arguments.frames)
        motion = run_steps(motion_at_rate(bpy.context.scene, robot, frames[0], frames[-1], arguments.rate))
        write_motion(motion, arguments.output)
    print(f"{arguments.output}: {len(motion)} samples, {motion.duration:.3f} s")
    return True
