"""The tools of Pose Mode without a window: what they take hold of, the poses that they make, the jog keys."""

from __future__ import annotations

import math
from types import SimpleNamespace
from unittest.mock import Mock

import bpy
import numpy as np
import pytest
from mathutils import Euler
from robokin_addon.operators.tools import gesture, jog_3d_mouse
from robokin_addon.operators.tools.gesture import Gesture, settle
from robokin_addon.operators.tools.grab_link import ROBOKIN_OT_grab_link, _Pulling
from robokin_addon.operators.tools.jog_3d_mouse import SPEED, TURNS, ROBOKIN_OT_jog_3d_mouse
from robokin_addon.operators.tools.toolbar import GrabLinkTool, JogTool
from robokin_addon.operators.tools.turn_joint import joint_and_limits
from robokin_addon.operators.tools.typed import TypedNumber
from robokin_addon.properties.bridge import binding, read_configuration, write_configuration
from robokin_addon.properties.joint_values.ball_angles import angles_text
from robokin_addon.robokin import RobokinError, difference, in_limits
from robokin_addon.scene.posing.joint_turn import JointTurn
from robokin_addon.scene.posing.link_pull import LinkPull
from support.blender.scene_robots import TOOL, add_robot, add_target, world, world_error

ELBOW = "panda_joint4"


def test_a_grabbed_link_comes_along_in_the_world_of_a_turned_and_scaled_robot(robot):
    robot.location, robot.rotation_euler, robot.scale = (1.0, 2.0, 0.5), (0.0, 0.0, 0.7), (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    point = world(robot, TOOL)
    pull = LinkPull(robot, TOOL, point)
    np.testing.assert_allclose(pull.grip[:3, 3], point, atol=1e-5)
    T = pull.grip.copy()
    T[:3, 3] += 0.1, -0.06, 0.08
    write_configuration(robot, pull.to(T))
    assert pull.is_met
    np.testing.assert_allclose(world(robot, TOOL) - point, (0.1, -0.06, 0.08), atol=1e-4)


def test_self_motion_keeps_the_tool_and_a_padlock_ends_it(robot):
    add_target(robot)
    tool, elbow = world(robot, TOOL), world(robot, ELBOW)
    pull = LinkPull(robot, ELBOW, is_self_motion=True)
    assert pull.freedom >= 1
    T = pull.grip.copy()
    for _ in range(10):
        T[1, 3] += 0.01
        q = pull.to(T)
    write_configuration(robot, q)
    np.testing.assert_allclose(world(robot, TOOL), tool, atol=1e-5)
    assert np.linalg.norm(world(robot, ELBOW) - elbow) > 0.05
    robot.data.bones["panda_joint2"].robokin.locked = True
    assert LinkPull(robot, ELBOW, is_self_motion=True).freedom == pull.freedom - 1


class SelfMotion(_Pulling):
    """Blender alone makes operators; their gesture is a plain class."""

    bl_label, is_self_motion = "Self-Motion", True

    def __init__(self, robot, bone):
        self._robot, self._typed, self.first = robot, TypedNumber(), np.zeros(2)
        self.begin(bpy.context, bone, None)


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_the_header_of_a_self_motion_says_how_far_the_link_has_moved(robot, scale):
    robot.scale = (scale, scale, scale)
    bpy.context.view_layer.update()
    elbow, gesture = world(robot, ELBOW), SelfMotion(robot, ELBOW)
    gesture.key(bpy.context, "Y")
    gesture._typed.take("NINE", "9")
    write_configuration(robot, gesture.pose(bpy.context, False))
    moved = (world(robot, ELBOW) - elbow)[1]
    assert 0.05 < moved < 0.5 * scale
    assert f": {moved:.4g} m along the world's Y" in gesture.header_text(bpy.context)


def test_a_link_that_stays_with_the_tool_has_no_self_motion(robot):
    with pytest.raises(RobokinError, match="no joint is left to move 'panda_joint7' while these stay"):
        SelfMotion(robot, "panda_joint7")


@pytest.mark.parametrize("pins", [False, True])
def test_selected_bones_are_pinned_where_that_is_chosen(robot, pins):
    """A box that selects many bones pins none of them by itself."""
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    grab = SimpleNamespace(_bone=TOOL, pins_selected=pins)
    pinned = ROBOKIN_OT_grab_link.pinned(grab, bpy.context)
    seen = {bone.name for bone in bpy.context.visible_pose_bones} - {TOOL}
    assert set(pinned) == (seen if pins else set()) and len(seen) > 6


def test_a_link_that_is_fixed_to_the_tool_is_grabbed_with_the_target(robot):
    """The hand is what a user takes hold of; the target of a live robot is at the frame of its tool."""
    target, before = add_target(robot), world(robot, TOOL)
    robot.robokin.live = True
    pull = LinkPull(robot, "panda_joint7")
    assert pull.freedom == 6
    T = pull.grip.copy()
    T[2, 3] -= 0.05
    write_configuration(robot, pull.to(T))
    settle(bpy.context, robot)
    np.testing.assert_allclose(world(robot, TOOL) - before, (0.0, 0.0, -0.05), atol=1e-4)
    assert world_error(robot, TOOL, target)[0] < 1e-4
    assert "panda_hand_tcp" in LinkPull(robot, ELBOW).anchors


def test_a_link_that_is_fixed_to_the_root_moves_the_base(scene):
    robot = add_robot("pr2", root="planar")
    fixed = next(j.child for j in binding(robot).model.joints[1:] if not j.nv)
    bone = binding(robot).bone_of_link[fixed]
    assert LinkPull(robot, bone).freedom == 3


def test_pinned_bones_and_a_base_that_could_move_stay(scene):
    robot = add_robot("panda", root="planar")
    root = binding(robot).model.root_link.name
    assert root in LinkPull(robot, TOOL).anchors
    assert LinkPull(robot, TOOL, pinned=[ELBOW]).anchors == (binding(robot).link_of_bone[ELBOW],)


def test_a_turned_joint_keeps_its_limits_and_is_under_the_point(robot):
    turn = JointTurn(robot, ELBOW)
    assert turn.joint.name == ELBOW and not turn.is_length
    assert turn.to(99.0)[turn.index] == turn.upper
    hand = JointTurn(robot, ELBOW, point=world(robot, TOOL))
    write_configuration(robot, hand.to(-1.0))
    np.testing.assert_allclose(hand.point_at(-1.0), world(robot, TOOL), atol=1e-5)
    assert abs(turn.point_at(-1.0) - turn.point_at(-2.0)).max() > 0.05


def test_targets_go_along_with_a_robot_that_follows_them(robot):
    target = add_target(robot)
    robot.robokin.live = True
    bpy.context.view_layer.update()
    q = JointTurn(robot, ELBOW).to(-1.5)
    write_configuration(robot, q)
    settle(bpy.context, robot)
    bpy.context.view_layer.update()
    np.testing.assert_allclose(read_configuration(robot), q, atol=1e-4)
    assert world_error(robot, TOOL, target)[0] < 1e-4


def test_jog_steps_the_chosen_joint_up_to_its_limit(robot):
    assert bpy.ops.robokin.choose_joint(number=4) == {"FINISHED"}
    assert robot.data.bones.active.name == ELBOW
    before = read_configuration(robot)
    bpy.ops.robokin.jog(direction="BACK", angle=math.radians(3.0))
    bpy.ops.robokin.jog(direction="FORWARD", angle=math.radians(3.0), fine=True)
    moved = read_configuration(robot) - before
    assert moved[3] == pytest.approx(-math.radians(2.7), abs=1e-6) and abs(np.delete(moved, 3)).max() == 0.0
    for _ in range(40):
        bpy.ops.robokin.jog(direction="BACK", angle=0.2)
    assert read_configuration(robot)[3] == pytest.approx(binding(robot).model.lower[3], abs=1e-6)
    with pytest.raises(RuntimeError, match=r"'panda_joint4' has 1 axis, no number 2"):
        bpy.ops.robokin.jog(axis="2")
    with pytest.raises(RuntimeError, match=r"has 8 joints that move, no number 20"):
        bpy.ops.robokin.choose_joint(number=20)


@pytest.mark.parametrize("frame", ["BASE", "TOOL"])
def test_jog_moves_the_tool_along_axes(robot, frame):
    before, T = world(robot, TOOL), np.array(robot.pose.bones[TOOL].matrix)
    bpy.ops.robokin.jog(frame=frame, axis="3", length=0.02)
    moved = world(robot, TOOL) - before
    assert np.linalg.norm(moved) == pytest.approx(0.02, abs=1e-4)
    if frame == "BASE":
        np.testing.assert_allclose(moved, (0.0, 0.0, 0.02), atol=1e-4)
    bpy.ops.robokin.jog(frame=frame, axis="3", turn=True, angle=0.1)
    assert world(robot, TOOL) == pytest.approx(before + moved, abs=1e-4)
    turned = np.array(robot.pose.bones[TOOL].matrix)[:3, :3] @ T[:3, :3].T
    assert math.acos((np.trace(turned) - 1.0) / 2.0) == pytest.approx(0.1, abs=1e-3)


def test_a_joint_that_was_chosen_says_which_arm_s_tool_is_jogged(robot):
    bpy.context.view_layer.objects.active = robot
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.robokin.choose_joint(number=4)
    before = world(robot, TOOL)
    bpy.ops.robokin.jog(frame="BASE", axis="1", length=0.02)
    np.testing.assert_allclose(world(robot, TOOL) - before, (0.02, 0.0, 0.0), atol=1e-4)
    bpy.ops.object.mode_set(mode="OBJECT")


def test_jog_s_length_is_in_units_of_the_scene(robot):
    before = world(robot, TOOL)
    bpy.context.scene.unit_settings.scale_length = 0.1
    bpy.ops.robokin.jog(frame="BASE", axis="3", length=0.2)
    assert bpy.ops.robokin.jog.get_rna_type().properties["length"].unit == "LENGTH"
    np.testing.assert_allclose(world(robot, TOOL) - before, (0.0, 0.0, 0.2), atol=1e-4)


def test_a_gesture_without_a_window_says_so(robot):
    bpy.context.view_layer.objects.active = robot
    with pytest.raises(RuntimeError, match="Pose Mode"):
        bpy.ops.robokin.grab_link()


def test_a_gesture_repeated_makes_the_pose_again_that_was_kept(robot):
    q = read_configuration(robot)
    wanted, kept = q.copy(), []
    wanted[3] -= 0.2
    stand = SimpleNamespace(_kept=wanted, _kept_of=robot.session_uid, kept=kept.append)
    assert Gesture.run(stand, bpy.context, robot) == {"FINISHED"}
    np.testing.assert_allclose(read_configuration(robot), wanted, atol=1e-6)
    assert kept and {"REGISTER", "UNDO"} <= Gesture.bl_options


@pytest.mark.parametrize(("bone", "axis"), [("neck", 0), ("left_shoulder", 1), ("right_wrist", 2)])
def test_a_ball_is_jogged_about_axes_of_its_own_and_stays_in_its_cone(scene, capfd, bone, axis):
    assert bpy.ops.robokin.add_robot(robot="puppet") == {"FINISHED"}
    robot = bpy.context.object
    robot.data.bones.active = robot.data.bones[bone]
    model, at = binding(robot).model, binding(robot).model.slot(bone).q.start
    before = read_configuration(robot)
    assert bpy.ops.robokin.jog(axis=str(axis + 1), angle=0.05) == {"FINISHED"}
    after = read_configuration(robot)
    turned = difference(model, before, after)
    own = np.zeros_like(turned)
    start = model.slot(bone).v.start
    own[start : start + 3] = 0.05 * model.limits.ball_axes(at)[:, axis]
    np.testing.assert_allclose(turned, own, atol=1e-6)
    assert f"{bone} axis {axis + 1}: {angles_text(robot.pose.bones[bone])}" in capfd.readouterr().out
    for _ in range(20):
        assert bpy.ops.robokin.jog(axis=str(axis + 1), angle=0.2, direction="BACK") == {"FINISHED"}
        assert in_limits(model, read_configuration(robot), 1e-6)
    assert np.abs(difference(model, after, read_configuration(robot))[start : start + 3]).max() > 0.2


def test_a_script_is_told_of_an_axis_that_a_joint_has_not(robot):
    robot.data.bones.active = robot.data.bones[ELBOW]
    with pytest.raises(RuntimeError, match="has 1 axis, no number 3"):
        bpy.ops.robokin.jog(axis="3")


@pytest.mark.parametrize(
    ("keys", "value"),
    [("1", 1.0), ("12.5", 12.5), ("-3", -3.0), ("3-", -3.0), ("3--", 3.0), ("", None), (".", None), ("1<", None)],
)
def test_typed_numbers(keys, value):
    typed = TypedNumber()
    names = {"-": "MINUS", "<": "BACK_SPACE", ".": "PERIOD"}
    for key in keys:
        assert typed.take(names.get(key, "ONE"), key)
    assert typed.value == value
    assert not typed.take("X", "x")


class Stand(Gesture):
    """It notes with which snap poses are made."""

    bl_options, hints, release_confirm = set(), "", False
    _taken = begin = lambda self, *_: ("", None)
    header_text = lambda self, context: ""  # noqa: E731

    def __init__(self, ctrl):
        self.snaps = []
        assert self.invoke(Mock(), Mock(ctrl=ctrl, mouse_region_x=0, mouse_region_y=0)) == {"RUNNING_MODAL"}

    def pose(self, context, snap):
        self.snaps.append(snap)
        return np.zeros(0)

    def send(self, kind, value="NOTHING", at=0, ctrl=False):
        for each in (kind, "TIMER"):
            event = SimpleNamespace(type=each, value=value, ctrl=ctrl, mouse_region_x=at, mouse_region_y=0)
            assert self.modal(Mock(), event) == {"RUNNING_MODAL"}
        return self.snaps[-1]


@pytest.fixture
def stands(monkeypatch):
    """Gestures begin without a robot, and end."""
    for name in ("has_events", "active_robot", "read_configuration", "write_configuration"):
        monkeypatch.setattr(gesture, name, Mock())
    begun = []

    def stand(ctrl):
        begun.append(Stand(ctrl))
        return begun[-1]

    yield stand
    for each in begun:
        each.cancel(Mock())


def test_a_drag_may_begin_with_ctrl_held_which_snaps(scene, stands):
    assert [event["ctrl"] for _, event, _ in GrabLinkTool.bl_keymap] == [False, True]
    assert [stands(ctrl).send("TIMER") for ctrl in (False, True)] == [False, True]


def test_ctrl_that_is_let_go_just_before_the_button_has_snapped(scene, stands):
    """A hand shakes by some pixels meanwhile; who goes on without Ctrl moves the mouse farther."""
    stand = stands(False)
    assert not stand.send("MOUSEMOVE", at=80)
    assert stand.send("LEFT_CTRL", "PRESS", ctrl=True)
    assert stand.send("MOUSEMOVE", at=100, ctrl=True)
    assert stand.send("LEFT_CTRL", "RELEASE") and stand.send("MOUSEMOVE", at=103)
    assert not stand.send("MOUSEMOVE", at=120) and not stand.send("MOUSEMOVE", at=101)


def test_the_jog_keys_are_those_of_the_list():
    keys = {(item[1]["type"], item[1].get("shift", False)) for item in JogTool.bl_keymap}
    assert {(key, fine) for key in ("J", "L", "U", "O", "M", "PERIOD") for fine in (False, True)} <= keys


@pytest.mark.parametrize("number", range(1, 9))
def test_the_header_of_jog_shows_the_joint_that_was_chosen_and_its_value_after_each_key(robot, capfd, number):
    shown = []

    class Layout:
        prop = staticmethod(lambda *_, **__: None)
        label = staticmethod(lambda text, **_: shown.append(text))

    def header():
        tool = SimpleNamespace(operator_properties=lambda _: SimpleNamespace(frame="JOINT"))
        context = SimpleNamespace(object=robot, scene=bpy.context.scene)
        JogTool.draw_settings(context, Layout, tool)
        return shown[-1]

    bpy.ops.robokin.choose_joint(number=number)
    joint = binding(robot).model.moving_joints[number - 1]
    assert header().startswith(f"{joint.name}: ") and "limits" in header()
    for direction in ("FORWARD", "BACK", "BACK"):
        bpy.ops.robokin.jog(direction=direction)
        assert f"Jog  {header()}" in capfd.readouterr().out
    assert len(set(shown)) > 1


def test_the_header_of_jog_shows_the_angles_of_a_ball_once(scene):
    bpy.ops.robokin.add_robot(robot="puppet")
    robot = bpy.context.object
    joint = next(joint for joint in binding(robot).model.moving_joints if joint.type == "spherical")
    bone = robot.pose.bones[binding(robot).bone_of_link[joint.child]]
    assert joint_and_limits(scene, robot, bone.name) == f"{joint.name}: {angles_text(bone)}"


def test_a_3d_mouse_moves_and_turns_the_tool_in_the_view(robot, monkeypatch):
    """The view looks along the world's -Y: its X is the world's, its Z (out of the screen) is the world's -Y."""
    view = Euler((math.pi / 2.0, 0.0, 0.0)).to_quaternion()
    window = SimpleNamespace(region_data=SimpleNamespace(view_rotation=view), area=Mock(), scene=bpy.context.scene)
    before = robot.pose.bones[TOOL].matrix.copy()
    motion = SimpleNamespace(translation=(0.5, 0.0, -1.0), rotation=(0.0, 0.0, 0.0), time_delta=0.1)
    monkeypatch.setattr(jog_3d_mouse, "settle", lambda *_: None)
    ROBOKIN_OT_jog_3d_mouse.go(None, window, robot, motion, 1.0)
    bpy.context.view_layer.update()
    shift = robot.pose.bones[TOOL].matrix.translation - before.translation
    np.testing.assert_allclose(shift, (0.5 * SPEED * 0.1, SPEED * 0.1, 0.0), atol=1e-5)
    motion = SimpleNamespace(translation=(0.0, 0.0, 0.0), rotation=(0.0, 0.2, 0.0), time_delta=0.1)
    before = robot.pose.bones[TOOL].matrix.copy()
    ROBOKIN_OT_jog_3d_mouse.go(None, window, robot, motion, 0.5)
    bpy.context.view_layer.update()
    turn = (robot.pose.bones[TOOL].matrix @ before.inverted()).to_euler()
    np.testing.assert_allclose(turn, (0.0, 0.0, 0.2 * 2.0 * math.pi * TURNS * 0.1 * 0.5), atol=1e-5)
    q = read_configuration(robot)
    motion = SimpleNamespace(translation=(1.0, 0.0, 0.0), rotation=(0.0, 0.0, 0.0), time_delta=20.0)
    with pytest.raises(RobokinError, match="cannot go on that way"):
        ROBOKIN_OT_jog_3d_mouse.go(None, window, robot, motion, 1.0)
    np.testing.assert_array_equal(read_configuration(robot), q)


@pytest.mark.parametrize(("scale", "unit"), [(2.0, 1.0), (1.0, 0.1)])
def test_a_3d_mouse_is_as_fast_in_the_world_whatever_the_scale_of_the_robot_and_of_the_scene(
    robot, monkeypatch, scale, unit
):
    bpy.context.scene.unit_settings.scale_length, robot.scale = unit, (scale,) * 3
    bpy.context.view_layer.update()
    window = SimpleNamespace(
        region_data=SimpleNamespace(view_rotation=Euler((0.0, 0.0, 0.0)).to_quaternion()),
        area=Mock(),
        scene=bpy.context.scene,
    )
    monkeypatch.setattr(jog_3d_mouse, "settle", lambda *_: None)
    before = world(robot, TOOL)
    motion = SimpleNamespace(translation=(0.0, 0.5, 0.0), rotation=(0.0, 0.0, 0.0), time_delta=0.1)
    ROBOKIN_OT_jog_3d_mouse.go(None, window, robot, motion, 1.0)
    np.testing.assert_allclose((world(robot, TOOL) - before) * unit, (0.0, 0.5 * SPEED * 0.1, 0.0), atol=1e-5)


@pytest.mark.parametrize(("unit", "angle"), [("DEGREES", math.radians(1.5)), ("RADIANS", 1.5)])
def test_typed_angles_are_in_the_unit_that_is_shown(scene, unit, angle):
    scene.unit_settings.system_rotation = unit
    typed = TypedNumber()
    assert typed.angle(scene) is None
    for kind, character in (("ONE", "1"), ("PERIOD", "."), ("FIVE", "5")):
        assert typed.take(kind, character)
    assert typed.angle(scene) == pytest.approx(angle)


@pytest.mark.parametrize(
    ("system", "unit", "scale", "length"),
    [
        ("METRIC", "MILLIMETERS", 1.0, 0.0015),
        ("METRIC", "MILLIMETERS", 0.001, 1.5),
        ("METRIC", "METERS", 0.1, 15.0),
        ("METRIC", "ADAPTIVE", 0.1, 15.0),
        ("IMPERIAL", "INCHES", 1.0, 1.5 * 0.0254),
        ("NONE", "ADAPTIVE", 0.1, 1.5),
    ],
)
def test_typed_lengths_are_in_the_unit_that_is_shown(scene, system, unit, scale, length):
    scene.unit_settings.system, scene.unit_settings.scale_length = system, scale
    if system != "NONE":
        scene.unit_settings.length_unit = unit
    typed = TypedNumber()
    assert typed.length(scene) is None
    for kind, character in (("ONE", "1"), ("PERIOD", "."), ("FIVE", "5")):
        assert typed.take(kind, character)
    assert typed.length(scene) == pytest.approx(length, rel=1e-6)


def test_a_link_is_grabbed_by_as_much_as_is_typed_in_millimetres(robot, monkeypatch):
    bpy.context.scene.unit_settings.length_unit = "MILLIMETERS"
    grab = type("Stand", (), {k: v for k, v in {**vars(Gesture), **vars(_Pulling)}.items() if not k.startswith("__")})()
    grab.is_self_motion, grab._axis, grab._is_own, grab._typed = False, 2, False, TypedNumber()
    grab._pull = LinkPull(robot, TOOL)
    grab._unit = 1.0
    for _ in range(2):
        assert grab._typed.take("FIVE", "5")
    T = grab._moving(bpy.context, False)
    np.testing.assert_allclose(T[:3, 3] - grab._pull.grip[:3, 3], (0.0, 0.0, 0.055), atol=1e-7)
