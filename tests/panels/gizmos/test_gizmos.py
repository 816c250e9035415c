"""Handles of joints: where they are, what takes hold of them, and when they are there."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from robokin_addon.panels.gizmos import handle_gizmo
from robokin_addon.panels.gizmos.handle_gizmo import HandleGroup, Shown
from robokin_addon.panels.gizmos.handles import LEAST, OUTSIDE, joint_handles
from robokin_addon.panels.gizmos.joint_gizmo import MOST, ROBOKIN_GGT_joint, shown_bone
from robokin_addon.panels.overlays.robot_view import RobotView
from robokin_addon.panels.shapes import colors
from robokin_addon.panels.shapes.on_screen import distance_to, pixel_size, seen, under
from robokin_addon.properties.bridge import binding
from robokin_addon.robokin.model.joint_types import MotionPrimitive
from support.blender.scene_robots import add_robot, build
from support.joint_row import row_of_joints

PIXEL = 1e-4
TURNS = MotionPrimitive.ROTATION, MotionPrimitive.HELICAL


def view_of(obj):
    bpy.context.view_layer.update()
    view = RobotView()
    view.look(obj)
    return view


def handles_of(obj, bone, pixel=PIXEL):
    view = view_of(obj)
    model = view.structure.robot.model
    joint = view.structure.robot.joint_of_bone[bone]
    return joint_handles(view, model.joint_index(joint.name), pixel)


def test_the_arc_goes_from_limit_to_limit_and_the_needle_shows_where_the_joint_is(scene):
    obj = add_robot()
    lower, upper, value = handles_of(obj, "panda_joint4")
    assert [handle.end for handle in (lower, upper, value)] == ["LOWER", "UPPER", "VALUE"]
    head = np.array(obj.matrix_world @ obj.pose.bones["panda_joint4"].head)
    size = OUTSIDE * obj.pose.bones["panda_joint4"].custom_shape_scale_xyz[0]
    joint = binding(obj).joint_of_bone["panda_joint4"]
    tip, radius = value.grip[-1] - head, np.linalg.norm(value.grip[-1] - head)
    first, last = lower.grip[0] - head, upper.grip[0] - head

    def between(a, b):
        return np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    assert between(first, tip) == pytest.approx(-2.0 - joint.lower[0], abs=1e-5)
    assert between(tip, last) == pytest.approx(joint.upper[0] + 2.0, abs=1e-5)
    assert radius == pytest.approx(size, rel=1e-5)
    assert np.linalg.norm(handles_of(obj, "panda_joint4", 0.01)[-1].grip[-1] - head) == pytest.approx(LEAST * 0.01)


def test_the_link_at_its_axis_is_left_to_the_tools(scene):
    """A drag that begins there is that of Grab Link or Self-Motion, not of the needle."""
    value = handles_of(add_robot(), "panda_joint4")[-1]
    obj = bpy.context.object
    head = np.array(obj.matrix_world @ obj.pose.bones["panda_joint4"].head)
    away = np.linalg.norm(value.grip - head, axis=1)
    assert away.min() == pytest.approx(0.5 * away[-1], rel=1e-4)


def test_a_joint_at_its_limit_is_red(scene):
    obj = add_robot()
    obj.pose.bones["panda_joint4"].rotation_euler[1] = binding(obj).joint_of_bone["panda_joint4"].upper[0]
    value = handles_of(obj, "panda_joint4")[-1]
    assert tuple(value.parts[0].pieces.lines[0][1]) == pytest.approx(colors.BAD, abs=0.02)


def test_a_robot_that_moves_has_the_same_shapes_in_other_frames(scene):
    """Else the graphics card takes them anew at each redraw."""
    obj = add_robot()
    before = handles_of(obj, "panda_joint4")
    obj.pose.bones["panda_joint2"].rotation_euler[1] += 0.1
    obj.pose.bones["panda_joint4"].rotation_euler[1] += 0.1
    after = handles_of(obj, "panda_joint4")
    kept = [(a, b) for x, y in zip(before, after, strict=True) for a, b in zip(x.parts, y.parts, strict=True)]
    swept = [(a, b) for a, b in kept if a.pieces is not b.pieces]
    assert len(kept) == 5 and len(swept) == 1 and not swept[0][0].pieces.lines
    assert all(np.abs(a.frame - b.frame).max() > 1e-3 for a, b in kept)
    pixels = [handle.grip[-1] for handle in after]
    assert np.abs(np.array(pixels) - [handle.grip[-1] for handle in before]).max(axis=1).min() > 1e-3


def test_a_robot_that_moves_is_drawn_with_the_same_batches(scene, monkeypatch):
    """What the graphics card has is placed by a matrix; only the sector that the joint has swept is another."""
    obj, made = add_robot(), []
    monkeypatch.setattr(handle_gizmo, "batch_of", lambda kind, points, colors: made.append(kind) or (points, colors))
    handle_gizmo.batches_of.cache_clear()
    drawn = []
    for step in (0.0, 0.1):
        obj.pose.bones["panda_joint2"].rotation_euler[1] += step
        obj.pose.bones["panda_joint4"].rotation_euler[1] += step
        handles = handles_of(obj, "panda_joint4")
        made.clear()
        parts = [part for handle in handles for part in handle.parts]
        drawn.append(Shown(handles, parts).batches(None))
    handle_gizmo.batches_of.cache_clear()
    assert made == ["TRIS"]
    assert sum(len(each.triangles[0]) for each in drawn[1]) == sum(
        3 * len(shape) for part in parts for shape, _ in part.pieces.triangles
    )
    for part in parts:
        ends = part.pieces.triangles[0][0].reshape(-1, 3) @ part.frame[:3, :3].T + part.frame[:3, 3]
        placed = [np.array(each.matrix) for each in drawn[1]]
        found = [each.triangles[0] @ T[:3, :3].T + T[:3, 3] for each, T in zip(drawn[1], placed, strict=True)]
        apart = np.linalg.norm(np.concatenate(found)[:, None] - ends, axis=2).min(axis=0)
        assert apart.max() < 1e-5


def test_no_kind_of_joint_is_given_to_the_graphics_card_again(scene, monkeypatch):
    """Not where the robot stays; where it moves and is seen from elsewhere, only sectors that joints have swept."""
    made, shifts, pixels = [], (0.0, 0.0, 0.02), (PIXEL, PIXEL, 60.0 * PIXEL)
    monkeypatch.setattr(handle_gizmo, "batch_of", lambda kind, points, colors: made.append(kind) or (points, colors))
    wide = build(row_of_joints())
    wide.data.bones["revolute"].robokin.upper = 3.0 * np.pi  # its needle ends on a spiral
    for obj in (wide, add_robot("tiago", "wheeled")):
        view = view_of(obj)
        monkeypatch.setattr(view.structure, "margin", np.full(len(view.structure.margin), -np.inf))  # none turns red
        for index, joint in enumerate(view.structure.robot.model.joints):
            handle_gizmo.batches_of.cache_clear()
            for redraw, (shift, pixel) in enumerate(zip(shifts, pixels, strict=True)):
                view.q = view.q + shift
                made.clear()
                handles = joint_handles(view, index, pixel)
                Shown(handles, [part for handle in handles for part in handle.parts]).batches(None)
                if redraw:
                    turns = sum(motion in TURNS for motion in view.structure.motions[index][1])
                    assert made == [] or (shift and set(made) == {"TRIS"} and len(made) <= turns), (joint.type, redraw)
            view.q = view.q - sum(shifts)
    handle_gizmo.batches_of.cache_clear()


def test_the_rail_of_a_slide_goes_from_limit_to_limit_at_every_size(scene):
    robot = add_robot()
    joint = binding(robot).joint_of_bone["panda_finger_joint1"]
    for pixel in (PIXEL, 0.01):
        (value,) = (each for each in handles_of(robot, "panda_finger_joint1", pixel) if each.end == "VALUE")
        points = [
            shape.reshape(-1, 3) @ part.frame[:3, :3].T + part.frame[:3, 3]
            for part in value.parts[:-1]
            for shape, _ in part.pieces.lines
        ]
        low, high = value.grip[0], value.grip[-1]
        along = (np.concatenate(points) - low) @ (high - low) / ((high - low) @ (high - low))
        assert np.linalg.norm(high - low) == pytest.approx(float(joint.upper[0] - joint.lower[0]), rel=1e-4)
        assert along.min() == pytest.approx(0.0, abs=1e-5) and along.max() == pytest.approx(1.0, abs=1e-5)


def test_every_kind_of_joint_has_its_handles(scene):
    for obj in (build(row_of_joints()), add_robot("tiago", "wheeled")):
        for joint, bone in zip(binding(obj).model.joints, binding(obj).bones, strict=True):
            found = handles_of(obj, bone)
            assert len(found) <= MOST and all(np.isfinite(handle.grip).all() for handle in found)
            values = sum(handle.end == "VALUE" for handle in found)
            assert values == (0 if joint.type == "floating" else joint.nv), joint.type


def test_the_mouse_takes_hold_of_what_is_near_on_the_screen():
    line = np.array([[0.0, 0.0], [100.0, 0.0], [100.0, 50.0]])
    assert distance_to(line, (50.0, 7.0)) == 7.0 and distance_to(line, (105.0, 25.0)) == 5.0
    assert distance_to(line[:1], (3.0, 4.0)) == 5.0
    assert under([line, line[1:2]], (100.0, 2.0), 9.0) == 1 and under([line, line[1:2]], (50.0, 2.0), 9.0) == 0
    assert (
        under([line, line + np.array([0.0, 3.0])], (50.0, 2.0), 9.0) == 1 and under([line], (50.0, 20.0), 9.0) is None
    )
    assert distance_to(np.full((2, 2), np.nan), (0.0, 0.0)) == np.inf
    perspective = np.diag([1.0, 1.0, 1.0, 0.0])
    perspective[3, 2] = -1.0
    points = seen(np.array([[0.0, 0.0, -2.0], [1.0, 0.0, -2.0], [0.0, 0.0, 2.0]]), perspective, 200.0, 100.0)
    assert points[:2].tolist() == [[100.0, 50.0], [150.0, 50.0]] and np.isnan(points[2]).all()
    assert pixel_size(np.array([0.0, 0.0, -2.0]), perspective, 200.0) == pytest.approx(1.0 / 50.0)


def test_the_gizmo_is_there_in_pose_mode_alone_and_can_be_switched_off(scene):
    obj = add_robot()
    obj.data.bones.active = obj.data.bones["panda_joint4"]
    assert not ROBOKIN_GGT_joint.poll(bpy.context)
    bpy.ops.object.mode_set(mode="POSE")
    assert ROBOKIN_GGT_joint.poll(bpy.context) and shown_bone(bpy.context).name == "panda_joint4"
    scene.robokin.overlays.joint_gizmo = False
    assert not ROBOKIN_GGT_joint.poll(bpy.context)
    scene.robokin.overlays.joint_gizmo = True
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not ROBOKIN_GGT_joint.poll(SimpleNamespace(object=None, mode="OBJECT", scene=scene))


def test_one_view_looks_at_two_robots(scene):
    """As the gizmo does when another robot becomes active: nothing tells of that."""
    first, second = add_robot(), add_robot()
    second.data.bones["panda_joint4"].robokin.upper = -1.0
    bpy.context.view_layer.update()
    view = RobotView()
    for obj in (first, second, first):
        view.look(obj)
        model, index = view.structure.robot.model, view.structure.robot.model.joint_index("panda_joint4")
        assert model.joints[index].upper[0] == pytest.approx(-1.0 if obj == second else -0.0698, abs=1e-3)


@pytest.mark.parametrize("end", [0, 1])
def test_a_slide_at_its_limit_is_taken_hold_of_by_its_value(scene, end):
    robot = add_robot()
    joint = binding(robot).joint_of_bone["panda_finger_joint1"]
    robot.pose.bones["panda_finger_joint1"].location[1] = float((joint.lower, joint.upper)[end][0])
    bpy.context.view_layer.update()
    handles = handles_of(robot, "panda_finger_joint1")
    (value,) = (handle for handle in handles if handle.end == "VALUE")
    here = value.grip[1] / PIXEL  # seen along an axis that is across the slide
    grips = [handle.grip[:, 1:] / PIXEL for handle in handles]
    assert handles[under(grips, tuple(here[1:]), 9.0)].end == "VALUE"
    for handle, grip in zip(handles, grips, strict=True):
        assert handles[under(grips, tuple(grip[0]), 9.0)] is handle or handle.end == "VALUE"


@pytest.mark.parametrize("ui_scale", [1.0, 2.0])
def test_handles_are_larger_with_the_rest_of_the_window(ui_scale, monkeypatch):
    """A pixel that is of the window's 2x scale is two of the screen."""
    widths = []
    group = SimpleNamespace(
        key=None,
        own=[],
        content=Shown(),
        parts=lambda handles: [],
        shown=lambda context: (1,),
        handles=lambda context, view, perspective, width: widths.append(width) or [],
    )
    monkeypatch.setattr(handle_gizmo, "robot_view", lambda obj: None)
    context = SimpleNamespace(
        object=None,
        region=SimpleNamespace(width=800, height=600),
        region_data=SimpleNamespace(perspective_matrix=np.eye(4)),
        preferences=SimpleNamespace(system=SimpleNamespace(ui_scale=ui_scale)),
    )
    HandleGroup._prepare(group, context)
    assert widths == [800 / ui_scale]
