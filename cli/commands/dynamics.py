"""What a motion takes: effort and power of each drive, energy, momentum, the force on the base and the
zero-moment point, in every sample. The motion is the animation of a .blend, or of any robot FILE the one
in MOTION. Exit code 1 when an effort limit is broken.

Efforts count the links, rotor inertia, damping and dry friction. Vectors are in the root frame."""

from __future__ import annotations

import argparse

import numpy as np

from ...robokin.backend import STANDARD_GRAVITY
from ...robokin.model.robot import Joint
from ...robokin.units import FORCES, counted, freedom_units, with_unit
from ...solvers.motion.check import check_motion
from ...solvers.motion.dynamics import MotionDynamics
from ...solvers.motion.files import read_motion
from ...solvers.motion.motion import velocity_names
from ...solvers.motion.plot import write_plot
from ...solvers.motion.violation import Violation
from ..arguments import add_frames, add_json, add_robot_file, is_blend, output_ending, rate
from ..errors import UsageError
from ..interrupts import run_steps
from ..report import write_report
from ..robot_file import load_model

_LEAST = 1e-9  # [N m or N] of a limit, so that a share of none is a number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_file(parser)
    parser.add_argument("--motion", metavar="MOTION", help="motion.csv, .json or .yaml, as `robokin export` writes it")
    add_frames(parser)
    parser.add_argument(
        "--rate",
        metavar="HZ",
        type=rate,
        help="samples per second, of the smooth curve that `robokin export` writes (one for each frame)",
    )
    parser.add_argument("--link", metavar="LINK", action="append", help="also its twist and acceleration (repeatable)")
    parser.add_argument(
        "--plot", metavar="FILE.svg", type=output_ending(".svg"), help="draw positions to efforts over time"
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> bool:
    if arguments.motion is not None:
        if arguments.frames is not None or arguments.rate is not None:
            raise UsageError("--frames and --rate are for the animation of a .blend; --motion has its own times")
        motion = read_motion(arguments.motion, load_model(arguments))
        found = MotionDynamics.of(motion)
        broken = [v for v in check_motion(motion, gravity=STANDARD_GRAVITY).violations if v.kind == "effort"]
    elif is_blend(arguments.file):
        found, broken = _animation(arguments)
    else:
        raise UsageError("a description has no motion: name one with --motion MOTION")
    motion = found.motion
    columns = found.columns(links=None if arguments.link is None else [*dict.fromkeys((*found.tools, *arguments.link))])
    report = {
        "robot": motion.model.name,
        "times": motion.times.tolist(),
        "units": {name: unit for name, (unit, _) in columns.items()},
        "values": {name: values.tolist() for name, (_, values) in columns.items()},
        "violations": [violation.to_dict() for violation in broken],
    }
    if arguments.plot is not None:
        write_plot(motion, arguments.plot, found.effort)
    write_report(report, arguments.json, _summary(found, len(broken)))
    return not broken


def _animation(arguments: argparse.Namespace) -> tuple[MotionDynamics, list[Violation]]:
    from ..blender import blender_file, chosen_frames, find_robot

    with blender_file(arguments):
        import bpy

        from ...properties.bridge import binding
        from ...scene.bake.resampling import motion_at_rate
        from ...scene.dynamics import dynamics_steps, effort_violations_steps

        robot = find_robot(arguments.robot)
        frames, scene = chosen_frames(robot, arguments.frames, 1), bpy.context.scene
        assert scene is not None  # an open file has one
        motion = run_steps(motion_at_rate(scene, robot, frames[0], frames[-1], arguments.rate))
        given = scene, robot, binding(robot), motion, frames[0]
        return run_steps(dynamics_steps(*given)), run_steps(effort_violations_steps(*given))


def _summary(found: MotionDynamics, broken: int) -> str:
    motion = found.motion
    length = f"{counted(len(motion), 'sample')}, {motion.duration:.3f} s"
    lines = [f"{length}; the largest of each, of efforts as shares of their limits:"]
    for joint in motion.model.moving_joints:
        lines += _drive_lines(found, joint)
    lines.append(f"kinetic energy: {found.kinetic_energy.max():.4g} J")
    force, moment = (np.linalg.norm(part, axis=1).max() for part in np.split(found.base_wrench, 2, axis=1))
    lines.append(f"base: {force:.4g} N, {moment:.4g} N m")
    point = found.zero_moment_point
    if np.isfinite(point).any():
        low, high = np.nanmin(point, axis=0), np.nanmax(point, axis=0)
        ranges = (f"{a} {x:.4g} .. {y:.4g} m" for a, x, y in zip("xyz", low, high, strict=True))
        lines.append(f"zero-moment point: {', '.join(ranges)}")
    lines.append(f"effort limits broken: {broken}" if broken else "effort limits kept")
    return "\n".join(lines)


def _drive_lines(found: MotionDynamics, joint: Joint) -> list[str]:
    model = found.motion.model
    own, lines = model.slot(joint.name).v, []
    columns = zip(found.effort[:, own].T, found.effort_limit[:, own].T, found.power[:, own].T, strict=True)
    for name, unit, (effort, limits, power) in zip(velocity_names(joint), freedom_units(joint), columns, strict=True):
        is_limited = bool(np.isfinite(limits).any())  # then the largest share of the limit, which may be keyed, counts
        at = int(np.argmax(abs(effort) / np.maximum(limits, _LEAST) if is_limited else abs(effort)))
        of = f" of {with_unit(limits[at], FORCES[unit])}" if np.isfinite(limits[at]) else ""
        lines.append(f"{name}: {abs(effort[at]):.4g} {FORCES[unit]}{of}, {abs(power).max():.4g} W")
    return lines
