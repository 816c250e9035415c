"""Make a motion of a list of moves, like a robot's program, as joint values over time. Exit code 2 when a move cannot
be made.

MOVES is JSON: {"moves": [{...}, ...]}, each with
  name, kind      "joint" (default), "line", "circle", "screw", "spline", "curve"
  joints          where a joint move ends: {"joint": value}; others stay
  tip             or which link is led ...
  position        ... and where to [m], in the root frame
  quaternion      how it is turned there, w first; without it other than joint moves keep the
                  rotation, where the arm can: of five joints the place counts alone
  via             of a circle: a point between
  points          of a spline, which passes them, or a curve, of which they are samples: it ends at the last
  speed           % of the limits (100)
  tool_speed      [m/s] that the tip has at most
  progress        [[time, share of the path], ...] from [0, 0] on to share 1: timing of one's own
  blend           [m] from its end, where the tip leaves for the next move without rest (0: it rests)
  wait            [s] afterwards (0)

Of limits that are animated in a .blend the narrowest of the robot's range are kept, and of frames that the motion takes
more."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Generator, Sequence

import numpy as np

from ...robokin.arrays import Array
from ...robokin.backend import STANDARD_GRAVITY
from ...robokin.errors import FileFormatError
from ...robokin.model.robot import RobotModel
from ...robokin.units import counted
from ...solvers.motion.files import write_motion
from ...solvers.program.bindings import binding_labels, binding_spans
from ...solvers.program.chains import MoveError
from ...solvers.program.moves import read_moves
from ...solvers.program.run import Parts, program_motion, run_moves_steps
from ..arguments import add_json, add_posture, add_robot_file, is_blend
from ..errors import UsageError
from ..interrupts import run_steps
from ..motion_arguments import add_motion_limits, add_motion_output, add_path_limits, path_limits
from ..report import read_start, write_report
from ..robot_file import load_posed, posed_of_blend


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_file(parser)
    parser.add_argument("--moves", metavar="MOVES", required=True, help="list of moves: .json, see below")
    parser.add_argument("--q0", metavar="JSON", help='start, {"joint": value}, or a file of it (mid-range)')
    add_posture(parser)
    parser.add_argument("--srdf", metavar="SRDF", help="file of the posture, for a robot that is no .blend")
    add_motion_limits(parser)
    add_path_limits(parser)
    parser.add_argument("--gravity", action="store_true", help="limit efforts too, with gravity along -z of the root")
    add_motion_output(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> bool:
    if arguments.q0 is not None and arguments.posture is not None:
        raise UsageError("--q0 and --posture both say where to start: give one")
    if arguments.power is not None and not arguments.gravity:
        raise UsageError("--power needs --gravity: what drives give depends on it")
    moves = read_moves(arguments.moves)

    def made(model: RobotModel, q0: Array | None) -> Generator[float, None, Parts]:
        if arguments.q0 is not None:
            q0 = read_start(model, arguments.q0, "--q0")
        if q0 is None:
            q0 = model.limits.middle(model.neutral())
        gravity = STANDARD_GRAVITY if arguments.gravity else None
        return run_moves_steps(model, moves, q0, path_limits(arguments), gravity)

    try:
        if is_blend(arguments.file):
            model, done = _of_blend(arguments, made)
        else:
            model, q = load_posed(arguments, arguments.posture, arguments.srdf)
            done = run_steps(made(model, q))
    except MoveError as problem:
        raise FileFormatError(arguments.moves, None, str(problem)) from None
    motion = program_motion(done, arguments.rate)
    write_motion(motion, arguments.output)
    rows, lines, start = [], [f"{arguments.output}: {counted(len(motion), 'sample')}, {motion.duration:.3f} s"], 0.0
    for move, part in done:
        rows.append(
            {"name": move.name, "kind": move.kind, "start": start, "duration": part.duration, "wait": move.wait}
        )
        lines.append(f"  {move.name}: {move.kind}, {start:.3f} to {start + part.duration:.3f} s")
        start += part.duration + move.wait
    spans = list(binding_spans(binding_labels(done, motion.times), motion.times))
    bindings = [{"start": a, "end": b, "kind": kind, "joint": joint} for a, b, kind, joint in spans]
    write_report({"robot": model.name, "moves": rows, "bindings": bindings}, arguments.json, "\n".join(lines))
    return True


def _of_blend(
    arguments: argparse.Namespace, made: Callable[[RobotModel, Array | None], Generator[float, None, Parts]]
) -> tuple[RobotModel, Parts]:
    """The robot of a .blend and its moves, inside the limits of all frames that they take."""
    with posed_of_blend(arguments, arguments.posture, arguments.srdf) as (robot, _, q):
        import bpy

        from ...properties.bridge import binding
        from ...properties.frame_rate import frame_seconds
        from ...scene.keyed_numbers import kept_to_its_end, narrowest
        from ..blender import chosen_frames

        scene, frames, bound = bpy.context.scene, chosen_frames(robot, None, 1), binding(robot)
        assert scene is not None  # an open file has one

        def kept(models: Sequence[RobotModel]) -> Generator[float, None, tuple[tuple[RobotModel, Parts], int]]:
            model = narrowest(models, bound).model
            done = yield from made(model, q)
            duration = sum(part.duration + move.wait for move, part in done)
            return (model, done), frames[0] + int(np.ceil(duration / frame_seconds(scene)))

        return run_steps(kept_to_its_end(scene, robot, frames, bound, kept))[0]
