"""Solve a robot's tasks at every frame and write the motion into the file as keyframes.

The motion depends on the scene alone, not on the keyframes it replaces. What is not given is as the
robot's settings in the file say, as for the Bake button. Frames that are not met are listed with the reason.
Tasks given here count besides the robot's own, criteria in place of its own. Exit code 1 when a
frame is not met, or links collide."""

from __future__ import annotations

import argparse
import math

from ...robokin.errors import RobokinError
from ...robokin.units import counted
from ..arguments import (
    add_blend_file,
    add_criteria,
    add_frames,
    add_json,
    add_new_action,
    add_output,
    add_posture,
    add_scene_tasks,
    add_step,
    seed,
    threshold,
)
from ..errors import UsageError
from ..interrupts import run_steps
from ..report import frame_rows, read_joint_values, show_report
from ..text.criteria import GRAMMAR as CRITERIA
from ..text.criteria import parse_criterion
from ..text.scene_tasks import ad_hoc_tasks
from ..text.task_grammar import GRAMMAR as TASKS
from ..text.task_grammar import VELOCITIES

COSTS = "acceleration, jerk, kinetic_energy, torque, animation, path_length, criteria, duration, or WORD=WEIGHT,..."
EPILOG = f"{TASKS}\n\n{VELOCITIES}\n\n{CRITERIA}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_blend_file(parser)
    add_frames(parser)
    add_step(parser)
    add_scene_tasks(parser)
    add_output(parser)
    parser.add_argument("--q0", metavar="JSON", help='start, {"joint": value}, or a file of it')
    add_posture(parser)
    parser.add_argument(
        "--start", choices=("posture", "rest"), help="start from the posture chosen in the file, or at rest"
    )
    add_new_action(parser)
    add_criteria(parser)
    parser.add_argument(
        "--mode", choices=("frames", "whole"), help="frame by frame, or the optimum of the whole motion"
    )
    parser.add_argument("--cost", metavar="COST", help=f"what the whole motion has little of: {COSTS}")
    parser.add_argument(
        "--soft",
        action="append",
        default=[],
        metavar="NAME=WEIGHT",
        help="a task that the whole motion need not meet: missing it costs so much; 0: it is hard",
    )
    parser.add_argument(
        "--efforts",
        action=argparse.BooleanOptionalAction,
        help="hold the drives of a whole motion to their effort limits, under the scene's gravity",
    )
    parser.add_argument("--jerk", action=argparse.BooleanOptionalAction, help="limit the jerks of a whole motion, too")
    parser.add_argument(
        "--avoid", action=argparse.BooleanOptionalAction, help="keep links away from one another and from obstacles"
    )
    parser.add_argument(
        "--singularities",
        choices=("follow", "slow-down", "deviate", "keep-posture", "change-posture"),
        help="what an arm does where joint speeds would pass their limits",
    )
    parser.add_argument(
        "--deviation", nargs=2, metavar=("MM", "DEGREES"), type=threshold, help="how far beside its path a tip may be"
    )
    parser.add_argument("--seed", metavar="N", type=seed, help="which restarts are drawn when the first attempt fails")
    parser.add_argument(
        "--move-targets",
        action="store_true",
        help="where the time of a motion is free, give it to what the motion follows, too",
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> bool:
    if sum(option is not None for option in (arguments.q0, arguments.posture, arguments.start)) > 1:
        raise UsageError("--q0, --posture and --start all say where to start: give one")
    if arguments.deviation is not None and arguments.singularities not in (None, "deviate"):
        raise UsageError(f"--deviation is for --singularities deviate, not {arguments.singularities}")
    from ..blend_saving import save_with_report
    from ..blender import blender_file, chosen_frames, find_robot

    with blender_file(arguments):
        import bpy

        from ...properties.bridge import binding
        from ...properties.postures import find_posture, posture_configuration
        from ...scene.bake.bake import bake_steps
        from ...scene.bake.choices import (
            BakeChoices,
            WholeMotion,
            chosen_cost,
            chosen_traversal,
            motion_bounds,
            parse_soft,
        )
        from ...scene.bake.start import bake_start, keep_start
        from ...scene.slower_targets import others_line, slow_targets, targets_line
        from ...scene.surroundings import still_collisions
        from ...scene.target_keys import followed_by
        from ...solvers import Past

        robot = find_robot(arguments.robot)
        bound = binding(robot)
        model, settings, start = bound.model, robot.robokin.solver, ""
        if arguments.posture is not None:
            q0 = posture_configuration(model, find_posture(robot, arguments.posture))
        elif arguments.q0 is not None:
            q0 = model.configuration(read_joint_values(arguments.q0, "--q0"))
        else:
            start = (arguments.start or settings.start).upper()
            q0 = bake_start(bpy.context.scene, robot, bound, start)
        given_criteria = [parse_criterion(text, model, lambda: still_collisions(robot)) for text in arguments.criterion]
        ad_hoc, use_own = ad_hoc_tasks(arguments, model)
        cost = chosen_cost(settings, arguments.mode, arguments.cost)
        if cost is None and (arguments.efforts or arguments.jerk):
            raise UsageError("--efforts and --jerk are of a whole motion: give --mode whole")
        if cost is None and arguments.soft:
            raise UsageError("--soft is of a whole motion: give --mode whole")
        whole = None
        if cost is not None:
            bounds = motion_bounds(robot, bound, arguments.efforts, arguments.jerk)
            whole = WholeMotion(cost=cost, bounds=bounds, soft=parse_soft(arguments.soft))
        if arguments.move_targets and not (whole and whole.frees_time):
            raise UsageError("--move-targets is for a motion whose time is free: give --cost duration")
        deviations = (None, None)
        if arguments.deviation is not None:
            deviations = 1e-3 * arguments.deviation[0], math.radians(arguments.deviation[1])
        is_whole = whole is not None and arguments.singularities is None  # then the file's setting does not count
        past = None if is_whole else chosen_traversal(robot, arguments.singularities, *deviations)
        if arguments.deviation is not None and (past is None or past.past is not Past.DEVIATE):
            raise UsageError("--deviation is for --singularities deviate, which the robot's settings do not say")
        choices = BakeChoices(
            frames=chosen_frames(robot, arguments.frames, arguments.step),
            q0=q0,
            seed=settings.seed if arguments.seed is None else arguments.seed,
            new_action=settings.new_action if arguments.new_action is None else arguments.new_action,
            criteria=given_criteria or None,
            ad_hoc=ad_hoc,
            use_own=use_own,
            whole=whole,
            past=past,
            avoid=arguments.avoid,
        )
        scene, view_layer = bpy.context.scene, bpy.context.view_layer
        result = run_steps(bake_steps(scene, view_layer, robot, bound, choices))
        keep_start(robot, bound, start, q0)
        notes, are_along = [], True
        if arguments.move_targets and result.stretch != 1.0:
            followed = [mover for each in ad_hoc for mover, _ in each.places]
            followed += followed_by(robot, bound) if use_own else []
            stretch = choices.frames, result.stretch, followed, arguments.avoid
            try:
                moved, others = slow_targets(scene, robot, bound, *stretch)
                notes.append(targets_line(moved, result.stretch, result.frames[-1]))
                if others:
                    notes.append(others_line(others))
            except RobokinError as error:  # the motion is not lost
                notes, are_along = [str(error)], False
        elif result.stretch != 1.0:
            notes.append("what it follows keeps its time: --move-targets gives it that of the motion")
        record = result.to_dict()
        report = {"frames": frame_rows(record), "failures": record["failures"], "violations": record["violations"]}
        report["soft"] = record["soft"]
        if notes:
            report |= {"stretch": result.stretch, "notes": notes}
        target = save_with_report(arguments, report)
    status, reason = result.summary()
    lines = [
        f"{target}: {counted(len(result.frames), 'frame')} baked: {status}, {reason}",
        *(f"  {line}" for line in [*result.lines(), *notes]),
    ]
    show_report(report, arguments.json, "\n".join(lines), target)
    return result.converged and not result.collisions and are_along
