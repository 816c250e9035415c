"""A bake of a whole motion whose time is free."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding
from robokin_addon.robokin.collision import CollisionModel, Obstacle, Sphere
from robokin_addon.scene.animation.frames import fcurves
from robokin_addon.scene.bake.choices import BakeChoices, WholeMotion, with_duration
from robokin_addon.scene.bake.samples import sample_motion
from robokin_addon.scene.bake.whole import (
    come_to_rest,
    frames_in_time,
    is_too_fast,
    rest_segment,
    with_spare_frames,
)
from robokin_addon.solvers import ClearanceTask, check_motion
from robokin_addon.solvers.progress import finish
from support.blender.scene_robots import add_robot, add_target, circle
from support.problems.obstructed import at, planar_arm

FRAMES = 24


def baked(scene, robot, **given):
    with bpy.context.temp_override(object=robot):
        assert bpy.ops.robokin.bake(mode="WHOLE", **given) == {"FINISHED"}
    first, last = robot.robokin.baked_frames
    motion = finish(sample_motion(scene, robot, range(first, last + 1), binding(robot)))
    assert not check_motion(motion, float32=True).violations
    return last, motion


def test_a_motion_takes_the_frames_that_it_is_worth(scene):
    scene.frame_start, scene.frame_end = 1, FRAMES
    robot = add_robot()
    circle(add_target(robot, kind="POSITION"), FRAMES, 0.05)
    as_given, _ = baked(scene, robot)
    gentle, _ = baked(scene, robot, duration_weight=0.01)
    hasty, _ = baked(scene, robot, duration_weight=1e4)
    fastest, _ = baked(scene, robot, cost="DURATION")
    seconds = [frames / 24.0 for frames in (fastest - 1, FRAMES - 1)]
    taken = "it takes {:.3g} s in place of {:.3g} s;".format(*seconds)
    assert taken in robot.robokin.solver.bake_reason
    assert "in that time cost of acceleration " in robot.robokin.solver.bake_reason
    assert fastest <= hasty < as_given == FRAMES < gentle


def test_what_is_too_fast_gets_the_time_that_it_needs(scene):
    scene.frame_start, scene.frame_end = 1, 8
    robot = add_robot()
    circle(add_target(robot, kind="POSITION"), 8, 0.3)
    baked(scene, robot)
    assert robot.robokin.solver.bake_status == "LIMIT"
    last, _ = baked(scene, robot, cost="DURATION")
    assert robot.robokin.solver.bake_status == "CONVERGED" and last > 8
    scene.frame_end = 4  # over the keys of the last bake
    with bpy.context.temp_override(object=robot), pytest.raises(RuntimeError, match="over the keys from frame 5"):
        bpy.ops.robokin.bake(mode="WHOLE", cost="DURATION")


def test_it_brakes_before_it_rests(scene):
    """Where the motion is over before the range is; what criteria cost is that of what is shown."""
    scene.frame_start, scene.frame_end = 1, 2 * FRAMES
    robot = add_robot()
    circle(add_target(robot, kind="POSITION"), 2 * FRAMES, 0.02)
    for bone in robot.data.bones:
        bone.robokin.use_acceleration, bone.robokin.acceleration = True, 5.0
    robot.robokin.criteria.add().kind = "KINETIC_ENERGY"
    baked(scene, robot)
    last, ended = baked(scene, robot, cost="DURATION")
    motion = finish(sample_motion(scene, robot, range(1, 2 * FRAMES + 1), binding(robot)))
    assert last < FRAMES and 24.0 * abs(ended.v[-1]).max() > 5.0 and abs(motion.v[-1]).max() < 1e-3
    assert not check_motion(motion, float32=True).violations
    np.testing.assert_allclose(motion.q[-1], ended.q[-1], atol=1e-3)
    cost = fcurves(robot)["robokin.criteria[0].cost", 0]
    assert cost.evaluate(last) > 1e-3 > cost.evaluate(2 * FRAMES)


@pytest.mark.slow
def test_a_target_that_stops_between_frames_gets_the_time_that_this_needs(scene):
    """Where frames lie, its stop is twice as sharp as where they were sought."""
    scene.frame_start, scene.frame_end = 1, 48
    bpy.ops.robokin.add_robot(robot="panda")
    robot = bpy.context.object
    bpy.ops.robokin.target_add()
    target = robot.robokin.tasks[0].target
    x, _, z = target.location
    for frame in range(1, 49, 3):
        turn = 2.0 * np.pi * (frame - 1) / 47.0
        target.location.x, target.location.z = x + 0.08 * np.sin(turn), z + 0.08 * (np.cos(turn) - 1.0)
        target.keyframe_insert("location", frame=frame)
    baked(scene, robot, cost="DURATION")
    assert robot.robokin.solver.bake_status == "CONVERGED", robot.robokin.solver.bake_reason


def test_frames_and_costs_in_another_time():
    """Steps of several frames, the cost beside the duration; and no more time is asked for than ten times as much."""
    frames, moments = frames_in_time(range(1, 10, 2), range(1, 10, 2), 1.4)
    assert list(frames) == [1, 3, 5, 7, 9, 11, 13]
    np.testing.assert_allclose(moments, np.linspace(1, 9, 7))
    assert WholeMotion(cost={"kinetic_energy": 2.0, "duration": 3.0}).timed_cost == {"kinetic_energy": 2.0}
    for cost in ("duration", {"duration": 3.0}):
        assert WholeMotion(cost=cost).timed_cost == "acceleration"
    assert with_duration("DURATION", 2.0) == "duration" and with_duration("JERK", 0.0) == "jerk"
    assert with_duration("JERK", 2.0) == {"jerk": 1.0, "duration": 2.0}
    late = [SimpleNamespace(is_late=np.array([False, True]))]
    longer = [BakeChoices(frames=range(1, last), q0=None, moments=[1, 11]) for last in (101, 102)]
    assert [is_too_fast(late, choices) for choices in longer] == [True, False]
    assert not is_too_fast([SimpleNamespace(is_late=np.zeros(2, bool))], longer[0])
    more = with_spare_frames(BakeChoices(frames=range(1, 10, 2), q0=None, moments=[1, 2, 3, 4, 5], spare=2))
    assert list(more.frames) == [1, 3, 5, 7, 9, 11, 13] and more.spare == 4
    np.testing.assert_allclose(more.read_at, np.linspace(1, 5, 7))


def test_a_whole_motion_is_met_where_what_counts_whole_is(scene):
    """Beside a target of half the influence that is out of reach."""
    scene.frame_start, scene.frame_end = 1, 6
    robot = add_robot()
    add_target(robot, kind="POSITION")
    far = add_target(robot, kind="POSITION")
    far.location.x += 5.0
    robot.robokin.tasks[1].influence, robot.robokin.tasks[1].priority = 0.5, 2
    baked(scene, robot)
    assert robot.robokin.solver.bake_status == "CONVERGED", robot.robokin.solver.bake_reason


def test_while_it_rests_it_keeps_away_from_where_an_obstacle_came_to():
    arm, q = planar_arm(2), np.array([0.3, 0.4])
    ways = np.stack([at(9.0), at(9.0), at(0.5407, 0.2824)])
    apart = ClearanceTask(CollisionModel(arm, [Obstacle("ball", Sphere(0.05), ways)]), 0.02, ways[:1])

    def distance(q):
        return apart.collisions.distances(q, obstacles=ways[2:])[0][..., 0].min(axis=1)

    assert 0.0 < distance(q[None])[0] < 0.02
    for clearance, is_away in ((apart, True), (None, False)):
        rest = finish(come_to_rest(rest_segment(arm, q, 20, 1.0 / 24.0, clearance, 3), np.tile(q, (3, 1)), 1.0 / 24.0))
        assert (distance(rest)[-1] >= 0.02 - 1e-4) == is_away


def test_one_frame_stays_one(scene):
    scene.frame_start = scene.frame_end = 1
    robot = add_robot()
    add_target(robot, kind="POSITION")
    assert baked(scene, robot, cost="DURATION")[0] == 1


def test_a_robot_that_stands_still_keeps_its_time_and_says_so(scene):
    scene.frame_start, scene.frame_end = 1, 6
    robot = add_robot()
    add_target(robot, kind="POSITION")
    assert baked(scene, robot, cost="DURATION")[0] == 6
    assert "the robot stands still, which may take any time" in robot.robokin.solver.bake_reason
