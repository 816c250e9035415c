"""Give a motion new timing: the fastest inside the limits, a duration, or as it was animated where that is legal. Its
path stays. The motion is the animation of a .blend, or of any robot FILE the one in MOTION.

Limits on velocities and accelerations hold between samples too; so do, where they are given, those on jerks (--jerk),
powers and tools, and with --gravity those on efforts. Of limits that are animated in a .blend the narrowest of the
frames are kept, and of those that the motion takes more. The report of --json says which limit binds at each sample."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Generator, Sequence

import numpy as np

from ...robokin import RobotModel
from ...robokin.backend import STANDARD_GRAVITY
from ...robokin.structure.narrow_limits import with_limits_around
from ...solvers.motion.files import read_motion, write_motion
from ...solvers.motion.motion import Motion
from ...solvers.retiming.retime import retime_steps
from ...solvers.retiming.timing import Retimed
from ..arguments import add_frames, add_json, add_robot_file, is_blend
from ..errors import UsageError
from ..interrupts import run_steps
from ..motion_arguments import add_motion_limits, add_motion_output, add_path_limits, path_limits, seconds
from ..report import write_report
from ..robot_file import load_model


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_file(parser)
    parser.add_argument("--motion", metavar="MOTION", help="motion.csv, .json or .yaml, as `robokin export` writes it")
    add_frames(parser)
    parser.add_argument("--duration", metavar="S", type=seconds, help="how long it takes (the fastest)")
    parser.add_argument("--as-animated", action="store_true", help="nowhere faster than it was")
    parser.add_argument("--gravity", action="store_true", help="limit efforts too, with gravity along -z of the root")
    add_motion_limits(parser)
    add_path_limits(parser)
    add_motion_output(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> bool:
    limits = path_limits(arguments)
    if arguments.power is not None and not arguments.gravity:
        raise UsageError("--power needs --gravity: what drives give depends on it")

    def timed(motion: Motion) -> Generator[float, None, Retimed]:
        gravity = STANDARD_GRAVITY if arguments.gravity else None
        wanted = arguments.duration
        return retime_steps(motion.model, motion, limits, wanted, as_animated=arguments.as_animated, gravity=gravity)

    if arguments.motion is not None:
        if arguments.frames is not None:
            raise UsageError("--frames is for the animation of a .blend; --motion has its own times")
        motion = read_motion(arguments.motion, load_model(arguments))
        found = run_steps(timed(motion))
    elif is_blend(arguments.file):
        motion, found = _of_animation(arguments, timed)
    else:
        raise UsageError("a description has no motion: name one with --motion MOTION")
    made = found.motion(arguments.rate)
    write_motion(made, arguments.output)
    rows = [{"start": b.start, "end": b.end, "joint": b.joint, "kind": b.kind} for b in found.bindings]
    report = {"robot": motion.model.name, "before": motion.duration, "duration": found.duration, "bindings": rows}
    report["samples"] = [
        {"time": time, **({"joint": b.joint, "kind": b.kind} if b is not None else {})}
        for time, b in zip(made.times.tolist(), found.binding_at(made.times), strict=True)
    ]
    shares: dict[str, float] = {}
    for b in found.bindings:
        what = f"{b.kind} of {b.joint}" if b.joint else f"the {b.kind} itself"
        shares[what] = shares.get(what, 0.0) + b.end - b.start
    lines = [f"{arguments.output}: {found.duration:.3f} s, before {motion.duration:.3f} s"]
    lines.append("what keeps it from being faster:" if shares else "nothing moves in it")
    lines += [f"  {what}: {time:.3f} s" for what, time in sorted(shares.items(), key=lambda item: -item[1])]
    write_report(report, arguments.json, "\n".join(lines))
    return True


def _of_animation(
    arguments: argparse.Namespace, timed: Callable[[Motion], Generator[float, None, Retimed]]
) -> tuple[Motion, Retimed]:
    """The animation of a .blend, and its new timing inside the limits of all frames that it takes."""
    from ..blender import blender_file, chosen_frames, find_robot

    with blender_file(arguments):
        import bpy

        from ...properties.bridge import binding
        from ...properties.frame_rate import frame_seconds
        from ...scene.bake.resampling import motion_at_rate
        from ...scene.keyed_numbers import kept_to_its_end

        robot = find_robot(arguments.robot)
        frames, scene = chosen_frames(robot, arguments.frames, 1), bpy.context.scene
        assert scene is not None  # an open file has one
        shown = run_steps(motion_at_rate(scene, robot, frames[0], frames[-1], None))

        def made(models: Sequence[RobotModel]) -> Generator[float, None, tuple[tuple[Motion, Retimed], int]]:
            motion = Motion.of(with_limits_around(shown.model, models, shown.q), shown.times, shown.q)
            found = yield from timed(motion)
            return (motion, found), frames[0] + int(np.ceil(found.duration / frame_seconds(scene)))

        return run_steps(kept_to_its_end(scene, robot, frames, binding(robot), made))[0]
