"""Dragging a joint or a limit: what the mouse means, limits, snapping, typed values, keys."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from robokin_addon.operators.posture import drag_joint, drag_operator, mouse_drag
from robokin_addon.operators.posture.drag_joint import freedoms, moved_configuration
from robokin_addon.operators.posture.mouse_drag import Sliding, Turning, angle_under, length_under
from robokin_addon.properties.bridge import binding, read_configuration
from robokin_addon.robokin import forward_kinematics, in_limits
from robokin_addon.robokin.spatial import se3
from support.blender.scene_robots import add_robot, build
from support.joint_row import row_of_joints

DOWN = np.array([0.0, 0.0, -1.0])


@pytest.fixture
def panda(scene):
    obj = add_robot()
    obj.data.bones.active = obj.data.bones["panda_joint4"]
    return obj


def ray(x, y):
    return np.array([x, y, 5.0]), DOWN


def test_a_ray_is_an_angle_and_a_length_of_a_frame():
    T = se3.exp(np.array([0.3, -0.2, 0.5, 0.4, 0.1, -0.3]))
    point = T @ [2.0 * np.cos(0.7), 2.0 * np.sin(0.7), 0.0, 1.0]
    eye = np.array([1.0, 2.0, 6.0])
    assert angle_under(eye, point[:3] - eye, T) == pytest.approx(0.7)
    assert angle_under(T[:3, 3], T[:3, 0], T) is None
    on_axis = (T @ [0.0, 0.0, 0.4, 1.0])[:3]
    assert length_under(eye, on_axis - eye, T) == pytest.approx(0.4)
    assert length_under(eye, T[:3, 2], T) is None


def test_a_turn_goes_on_over_several_turns_and_from_the_side():
    angles = 0.2 + np.linspace(0.0, 5.0 * np.pi, 60)
    turning = Turning(np.eye(4), *ray(np.cos(0.2), np.sin(0.2)), 1.0)
    for angle in angles:
        turned = turning.moved(*ray(np.cos(angle), np.sin(angle)))
    assert turned == pytest.approx(5.0 * np.pi)
    eye, way = np.array([0.0, 5.0, 0.0]), np.array([0.0, -1.0, 0.0])
    side = Turning(np.eye(4), eye, way, 0.5)
    assert side.moved(eye - np.array([0.1, 0.0, 0.0]), way) == pytest.approx(0.1 / 0.5)  # the front moves to -X


def test_a_slide_follows_the_mouse_along_its_axis():
    T = np.eye(4)[[2, 1, 0, 3]] * [[1], [1], [1], [1]]
    sliding = Sliding(T, *ray(0.5, 0.3))
    assert sliding.moved(*ray(0.9, -0.3)) == pytest.approx(0.4)
    assert mouse_drag.snapped(0.37, 0.25) == 0.25


def test_the_freedoms_of_each_kind_of_joint(scene):
    robot = binding(build(row_of_joints()))
    for joint in robot.model.joints:
        found = freedoms(robot, joint.name)
        assert len(found) == (0 if joint.type == "floating" else joint.nv), joint.type
        kinds = ["LENGTH" if length else "ROTATION" for length in joint.kind.lengths]
        assert [free.kind for free in found] == kinds[: len(found)]


def test_a_ball_turns_about_its_own_axis(scene):
    obj = build(row_of_joints())
    robot = binding(obj)
    twist = freedoms(robot, "spherical")[2]
    start = read_configuration(obj)
    q = moved_configuration(robot, moved_configuration(robot, start, freedoms(robot, "spherical")[0], 0.3), twist, 0.2)
    there, back = forward_kinematics(robot.model, q), moved_configuration(robot, q, twist, -0.2)
    axis = robot.model.joint("spherical").axis
    link = robot.model.joint("spherical").child
    assert (there[link][:3, :3] @ axis) == pytest.approx(forward_kinematics(robot.model, back)[link][:3, :3] @ axis)
    assert moved_configuration(robot, back, freedoms(robot, "spherical")[0], -0.3) == pytest.approx(start, abs=1e-12)


@pytest.mark.parametrize(("angle", "reached"), [(-1.2, -1.2), (9.0, -0.0698), (-9.0, -3.0718)])
def test_the_operator_sets_the_value_inside_the_limits(panda, angle, reached):
    assert bpy.ops.robokin.drag_joint(angle=angle) == {"FINISHED"}
    q = read_configuration(panda)
    assert q[3] == pytest.approx(reached, abs=1e-4) and in_limits(binding(panda).model, q)


def test_the_operator_moves_limits_but_not_past_each_other(panda):
    settings = panda.data.bones["panda_joint4"].robokin
    assert bpy.ops.robokin.drag_joint(angle=-1.0, end="UPPER") == {"FINISHED"}
    assert settings.upper == pytest.approx(-1.0) and binding(panda).model.upper[3] == pytest.approx(-1.0)
    assert bpy.ops.robokin.drag_joint(angle=0.5, end="LOWER") == {"FINISHED"}
    assert settings.lower == pytest.approx(-1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bone": "nobody"}, "no joint bone named 'nobody'"),
        ({"freedom": 2}, "its revolute joint has 1 degree of freedom to drag"),
        ({"bone": "panda_finger_joint2", "end": "LOWER"}, "cannot be dragged"),
    ],
)
def test_what_cannot_be_dragged_is_said(panda, options, message):
    with pytest.raises(RuntimeError, match=message):
        bpy.ops.robokin.drag_joint(**options)


class Drag:
    """The operator's own methods with a mouse that looks down on the joint."""

    def __init__(self, obj, monkeypatch, **settings):
        cls = drag_joint.ROBOKIN_OT_drag_joint
        own = {"bone": "", "freedom": 1, "end": "VALUE", "angle": 0.0, "length": 0.0} | settings
        parts = vars(drag_operator.DragOperator) | vars(cls)
        kind = type("Stand", (), {name: part for name, part in parts.items() if callable(part)})
        self.operator = kind()
        vars(self.operator).update(own, report=lambda *_: None)
        self.operator.ray = lambda context, event: (np.array(event.at), np.array(event.way))
        texts = SimpleNamespace(header_text_set=lambda text: None, status_text_set=lambda text: None)
        self.context = SimpleNamespace(
            object=obj,
            scene=bpy.context.scene,
            view_layer=bpy.context.view_layer,
            area=texts,
            workspace=texts,
            window_manager=SimpleNamespace(modal_handler_add=lambda operator: None),
        )
        bone = np.array(obj.matrix_world @ obj.pose.bones["panda_joint4"].matrix)
        self.center, self.axis = bone[:3, 3], bone[:3, 1]  # its axis is the bone's Y
        self.across = (bone[:3, 2], bone[:3, 0])
        assert self.operator.invoke(self.context, self.event("LEFTMOUSE", 0.0)) == {"RUNNING_MODAL"}

    def event(self, kind, angle, value="PRESS", ctrl=False, shift=False):
        point = self.center + 0.2 * (np.cos(angle) * self.across[0] + np.sin(angle) * self.across[1])
        at = point + self.axis
        character = {"NINE": "9", "ZERO": "0"}.get(kind, "")
        held = {"ctrl": ctrl, "shift": shift, "mouse_region_x": 500.0 * angle, "mouse_region_y": 0}
        return SimpleNamespace(type=kind, value=value, unicode=character, **held, at=at, way=-self.axis)

    def send(self, *events):
        for event in events:
            self.outcome = self.operator.modal(self.context, self.event(*event[:-1], **event[-1]))
        return self.outcome


def test_a_drag_turns_snaps_and_is_cancelled(panda, monkeypatch):
    start = read_configuration(panda)
    drag = Drag(panda, monkeypatch)
    drag.send(("MOUSEMOVE", 0.1, {}), ("MOUSEMOVE", 0.3, {}))
    assert read_configuration(panda)[3] == pytest.approx(start[3] + 0.3, abs=1e-5)
    drag.send(("MOUSEMOVE", 0.3, {"ctrl": True}))
    assert np.degrees(read_configuration(panda)[3]) % 5.0 == pytest.approx(0.0, abs=1e-3) or np.degrees(
        read_configuration(panda)[3]
    ) % 5.0 == pytest.approx(5.0, abs=1e-3)
    assert drag.send(("ESC", 0.3, {})) == {"CANCELLED"}
    assert read_configuration(panda) == pytest.approx(start, abs=1e-6)


def test_ctrl_that_is_let_go_just_before_the_button_has_snapped(panda, monkeypatch):
    drag = Drag(panda, monkeypatch)
    drag.send(("MOUSEMOVE", 0.3, {"ctrl": True}))
    snapped = read_configuration(panda)[3]
    drag.send(("LEFT_CTRL", 0.3, {"value": "RELEASE"}), ("MOUSEMOVE", 0.305, {}))
    assert read_configuration(panda)[3] == snapped
    drag.send(("MOUSEMOVE", 0.33, {}))
    assert read_configuration(panda)[3] != snapped
    assert drag.send(("LEFTMOUSE", 0.33, {"value": "RELEASE"})) == {"FINISHED"}


def test_the_header_says_which_axis_of_several_is_dragged(panda, scene, monkeypatch):
    drag = Drag(panda, monkeypatch)
    assert drag.operator.header_text(drag.context).startswith("panda_joint4: ")
    joint = panda.data.bones["panda_joint4"]
    joint.robokin.joint_type = "universal"
    drag = Drag(panda, monkeypatch, freedom=2)
    assert drag.operator.header_text(drag.context).startswith("panda_joint4 axis 2: ")


def test_the_header_of_a_follower_says_what_moves_with_it(panda, monkeypatch):
    drag = Drag(panda, monkeypatch, bone="panda_finger_joint2")
    assert drag.operator.header_text(drag.context).endswith("moves panda_finger_joint1, which it follows")
    assert "follows" not in Drag(panda, monkeypatch).operator.header_text(drag.context)


def test_shift_is_finer_and_typed_values_win(panda, monkeypatch):
    start = read_configuration(panda)[3]
    drag = Drag(panda, monkeypatch)
    drag.send(("MOUSEMOVE", 0.5, {"shift": True}))
    assert read_configuration(panda)[3] == pytest.approx(start + 0.05, abs=1e-5)
    keys = ("MINUS", "NINE", "ZERO")
    assert drag.send(*((key, 0.5, {}) for key in keys), ("LEFTMOUSE", 0.5, {"value": "RELEASE"})) == {"RUNNING_MODAL"}
    assert drag.send(("RET", 0.5, {})) == {"FINISHED"}
    assert read_configuration(panda)[3] == pytest.approx(-np.pi / 2.0, abs=1e-6)
    assert drag.operator.angle == pytest.approx(-np.pi / 2.0)


def test_a_limit_that_is_dragged_comes_back_when_cancelled(panda, monkeypatch):
    settings = panda.data.bones["panda_joint4"].robokin
    before = settings.upper
    drag = Drag(panda, monkeypatch, end="UPPER")
    drag.send(("MOUSEMOVE", -0.4, {}))
    assert settings.upper == pytest.approx(before - 0.4, abs=1e-5)
    assert drag.send(("RIGHTMOUSE", -0.4, {})) == {"CANCELLED"} and settings.upper == before


def test_a_limit_dragged_past_its_joint_gives_the_pose_back(panda, monkeypatch):
    start, drag = read_configuration(panda), Drag(panda, monkeypatch, end="UPPER")
    steps = [("MOUSEMOVE", angle, {}) for angle in (-1.0, -2.0, -2.5)]
    for step in steps:
        drag.send(step)
        bpy.context.view_layer.update()
    assert read_configuration(panda)[3] == pytest.approx(start[3] - 0.57, abs=0.02)  # pushed
    drag.send(("MOUSEMOVE", -1.0, {}))
    bpy.context.view_layer.update()
    assert read_configuration(panda) == pytest.approx(start, abs=1e-6)
    drag.send(steps[-1], ("ESC", -2.5, {}))
    bpy.context.view_layer.update()
    assert read_configuration(panda) == pytest.approx(start, abs=1e-6)


def test_automatic_keying_keys_a_drag(panda, auto_keying):
    assert bpy.ops.robokin.drag_joint(angle=-1.0) == {"FINISHED"}
    assert panda.animation_data.action is not None


def test_a_robot_that_follows_targets_keeps_the_value_and_its_targets_go_along(panda):
    bone = panda.data.bones.active.name
    assert bpy.ops.robokin.target_add() == {"FINISHED"}
    target, panda.robokin.live = bpy.context.object, True
    before = target.matrix_world.translation.copy()
    bpy.context.view_layer.objects.active = panda
    bpy.context.view_layer.update()
    robot = binding(panda)
    slot = robot.model.slot(robot.joint_of_bone[bone].name).q
    wanted = float(read_configuration(panda)[slot][0]) + 0.1
    assert bpy.ops.robokin.drag_joint(bone=bone, angle=wanted) == {"FINISHED"}
    bpy.context.view_layer.update()
    assert read_configuration(panda)[slot][0] == pytest.approx(wanted, abs=1e-5)
    assert (target.matrix_world.translation - before).length > 0.01


def test_a_drag_that_blender_cancels_leaves_no_text_behind() -> None:
    from contextlib import ExitStack
    from types import SimpleNamespace
    from unittest.mock import Mock

    from robokin_addon.operators.posture.drag_operator import DragOperator

    context = SimpleNamespace(area=Mock(), workspace=Mock())
    DragOperator.cancel(SimpleNamespace(_paused=ExitStack()), context)
    context.area.header_text_set.assert_called_once_with(None)
    context.workspace.status_text_set.assert_called_once_with(None)
