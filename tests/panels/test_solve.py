"""What Solve, Bake and Check say in their panels."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.operators.handlers.scene_marks import motion_mark
from robokin_addon.panels.prepared.robot_panel import row_letters
from robokin_addon.properties.bridge import binding
from robokin_addon.properties.results.stored_results import store_failures
from robokin_addon.solvers import Status
from support.blender.panels import draw, draw_page
from support.blender.scene_robots import add_robot, add_target


@pytest.fixture
def robot(scene):
    return add_robot()


def test_rows_of_failing_frames_say_what_and_one_says_why(robot):
    target = add_target(robot)
    scene = bpy.context.scene
    for frame, height in ((1, 0.5), (2, 9.0), (3, 0.5), (4, 12.0)):
        target.location = (0.3, 0.0, height)
        target.keyframe_insert("location", frame=frame)
    scene.frame_start, scene.frame_end = 1, 4
    bpy.ops.robokin.bake()
    bpy.context.window_manager.robokin_page = "ANIMATE"
    failures = robot.robokin.solver.bake_failures
    told = []
    for failure in failures:
        scene.frame_set(failure.first)
        drawn = draw_page()["ROBOKIN_PT_bake"]
        rows = [text for text in drawn["texts"] if text and text[0].isdigit()]
        assert len(rows) == len(failures) > 1 and rows[0].startswith(f"{failures[0].first}")
        told.append(drawn["labels"])
    assert "at least 8 m" in " ".join(told[0]) and "at least 11 m" in " ".join(told[-1])


def test_rows_of_the_same_frames_say_by_what_they_differ(robot):
    bpy.context.window_manager.robokin_page = "ANIMATE"
    reasons = ["a is 0.1 m deep in b", "a is 0.02 m deep in c", "c is 0.1 m deep in d"]
    robot.robokin.solver.bake_status = "COLLISION"
    for frames in ((1, 1, 1), (1, 1, 4), (1, 4, 7)):
        failures = [(frame, frame, Status.COLLISION, reason) for frame, reason in zip(frames, reasons, strict=True)]
        store_failures(robot.robokin.solver.bake_failures, failures)
        rows = [text for text in draw_page()["ROBOKIN_PT_bake"]["texts"] if text and text[0].isdigit()]
        assert len(set(rows)) == len(rows) == 3
    assert rows == ["1: Collision", "4: Collision", "7: Collision"]


def test_rows_that_are_longer_than_the_panel_keep_both_their_ends(robot):
    bpy.context.window_manager.robokin_page = "ANIMATE"
    reasons = [f"front_right_foot is {depth} mm deep in rear_right_calf" for depth in (7.35, 4.994)]
    robot.robokin.solver.bake_status = "COLLISION"
    store_failures(robot.robokin.solver.bake_failures, [(11, 14, Status.COLLISION, reason) for reason in reasons])
    rows = [text for text in draw_page()["ROBOKIN_PT_bake"]["texts"] if text and text[0].isdigit()]
    assert len(rows) == 2 and all(row.startswith("11 - 14: fr") and row.endswith("right_calf") for row in rows)
    assert max(map(len, rows)) <= row_letters(bpy.context, 1.0)


def test_segments_that_are_not_listed_are_counted(robot):
    failures = robot.robokin.solver.bake_failures
    robot.robokin.solver.bake_status = "LIMIT"
    bpy.context.window_manager.robokin_page = "ANIMATE"
    for count in range(1, 6):
        store_failures(failures, [(2 * i, 2 * i, Status.LIMIT, "a reason") for i in range(count)])
        labels = draw_page()["ROBOKIN_PT_bake"]["labels"]
        wanted = {4: "and 1 more segment of frames", 5: "and 2 more segments of frames"}
        assert [label for label in labels if "more segment" in label] == [*filter(None, [wanted.get(count)])]


def test_where_live_is_as_near_as_can_be_no_older_solve_contradicts_it(scene):
    robot = add_robot(live=True)
    target = add_target(robot)
    bpy.ops.robokin.posture_add()
    bpy.ops.robokin.task_add(kind="POSTURE")
    robot.robokin.tasks[1].priority, robot.robokin.tasks[1].posture = 2, robot.robokin.postures[-1].name
    target.location.x += 0.05
    robot.update_tag()
    bpy.context.view_layer.update()
    drawn = draw()
    assert any(label.startswith("Follows; met only as") for label in drawn["ROBOKIN_PT_tasks"]["labels"])
    assert drawn["ROBOKIN_PT_solve"]["labels"] == ["Options"]
    robot.robokin.live = False
    assert draw()["ROBOKIN_PT_solve"]["labels"] != ["Options"]


def test_solve_does_not_say_again_what_live_says(scene):
    robot = add_robot(live=True)
    target = add_target(robot)
    target.location.x += 0.01
    bpy.context.view_layer.update()
    assert "Follows its targets" in draw()["ROBOKIN_PT_tasks"]["labels"]
    assert draw()["ROBOKIN_PT_solve"]["labels"] == ["Options"]


def test_solve_again_is_offered_for_collisions_once_they_are_avoided(robot):
    bpy.context.scene.frame_end = 2
    bpy.ops.robokin.check()
    settings = robot.robokin.solver
    store_failures(settings.check_failures, [(1, 2, Status.COLLISION, "links in each other")])
    bpy.context.window_manager.robokin_page = "ANIMATE"

    def offered():
        drawn = draw_page()["ROBOKIN_PT_check"]
        return "robokin.solve_again" in drawn["operators"], "avoid_collisions" in drawn["props"]

    assert offered() == (False, True)
    settings.avoid_collisions = True
    assert offered() == (True, False)


def test_rows_name_the_joint_or_the_task_that_is_wrong_shortened_in_its_middle(robot):
    bpy.context.window_manager.robokin_page = "ANIMATE"
    robot.robokin.solver.check_summary = "a summary"
    reasons = {
        Status.LIMIT: "too fast: left_elbow_flex_joint moves at 2 rad/s, allowed 1 rad/s: needs 2 times more time",
        Status.MAX_ITERATIONS: "left_gripper_tool_center_point is off by up to 0.1 m",
    }
    failures = [(i, i, status, reason) for i, (status, reason) in enumerate(reasons.items())]
    store_failures(robot.robokin.solver.check_failures, failures)
    rows = [text for text in draw_page()["ROBOKIN_PT_check"]["texts"] if text and text[0].isdigit()]
    assert [row.partition(", ")[0] for row in rows] == ["0: Too fast", "1: Not reached"]
    for row, end in zip(rows, ("_joint", "_point"), strict=True):
        name = row.partition(", ")[2]
        assert name.startswith("left") and name.endswith(end[-4:])


def test_names_too_long_for_their_field_stand_above_it(robot):
    target = add_target(robot)
    bpy.context.window_manager.robokin_page = "TASKS"
    target.name = "left_gripper_tool_center_point target"
    assert f"Target {target.name}" in " ".join(draw_page()["ROBOKIN_PT_tasks"]["labels"])
    target.name = "short"
    assert "Target" in draw_page()["ROBOKIN_PT_tasks"]["labels"]


def test_what_binds_is_shortened_in_its_middle_too(robot):
    bpy.context.window_manager.robokin_page = "ANIMATE"
    solver = robot.robokin.solver
    store_failures(solver.retime_limits, [(12, 23, "acceleration", "left_shoulder_lift_joint")])
    solver.retime_mark = motion_mark(robot, binding(robot))
    (row,) = [text for text in draw_page()["ROBOKIN_PT_check"]["texts"] if text and text.startswith("12 - 23")]
    assert row.startswith("12 - 23: acceleration of l") and row.endswith("oint") and len(row) < 40
