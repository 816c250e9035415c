"""An operation looks its robot up once and passes it on."""

from __future__ import annotations

from collections import Counter

import bpy
import pytest
from robokin_addon.operators.handlers import hand_limits
from robokin_addon.properties.bridge.model import binding as bindings
from robokin_addon.scene.bake.smooth import smooth_steps
from robokin_addon.scene.posing.solve import solve_steps
from robokin_addon.scene.tasks.present_postures import present_postures
from robokin_addon.solvers.progress import finish
from support.blender.scene_robots import add_target, circle

FRAMES = range(1, 7)
CALLS = {
    "solve": lambda robot: finish(solve_steps(bpy.context, robot, 0)),
    "postures": lambda robot: finish(present_postures(bpy.context, robot)),
    "smooth": lambda robot: finish(smooth_steps(bpy.context.scene, robot, FRAMES, 0.0)),
    "home": lambda robot: bpy.ops.robokin.home(),
    "reset": lambda robot: bpy.ops.robokin.reset_pose(start="POSTURE"),
    "store": lambda robot: bpy.ops.robokin.store_posture(),
    "add a posture": lambda robot: bpy.ops.robokin.posture_add(name="here"),
    "apply a posture": lambda robot: bpy.ops.robokin.posture_apply(name="here"),
    "overwrite a posture": lambda robot: bpy.ops.robokin.posture_overwrite(name="here"),
    "mirror": lambda robot: bpy.ops.robokin.mirror_pose(),
    "copy joint values": lambda robot: bpy.ops.robokin.copy_joint_values(),
    "paste joint values": lambda robot: bpy.ops.robokin.paste_joint_values(text="panda_joint1: 0.1"),
    "move": lambda robot: bpy.ops.robokin.move_add(kind="LINE"),
    "solve pose": lambda robot: bpy.ops.robokin.solve_pose(),
    "bake": lambda robot: bpy.ops.robokin.bake(frame_start=1, frame_end=6),
    "check": lambda robot: bpy.ops.robokin.check(frame_start=1, frame_end=6),
    "retime": lambda robot: bpy.ops.robokin.retime(frame_start=1, frame_end=6),
    "bake moves": lambda robot: bpy.ops.robokin.bake_moves(),
}


@pytest.fixture
def looked(monkeypatch):
    """How often the contents of each armature were looked at."""
    found, content = Counter(), bindings.armature_content

    def counted(obj):
        found[obj.name] += 1
        return content(obj)

    monkeypatch.setattr(bindings, "armature_content", counted)
    return found


def test_each_operation_looks_its_robot_up_once(scene, robot, looked, monkeypatch):
    monkeypatch.setattr(hand_limits, "_look_after", lambda *_: None)  # of what a hand has changed, in each update
    circle(add_target(robot), 6)
    counts = {}
    with bpy.context.temp_override(object=robot):
        for name, call in CALLS.items():
            bpy.context.view_layer.update()
            looked.clear()
            call(robot)
            counts[name] = looked[robot.name]
    assert counts == dict.fromkeys(CALLS, 1)


def test_a_drag_looks_its_robot_up_at_its_first_move(scene, robot, looked, monkeypatch):
    """Until it ends: what an edit has changed since is seen at the next move of another one."""
    robot.robokin.live = is_dragged = False
    monkeypatch.setattr(hand_limits, "transform_running", lambda: is_dragged)
    joint, bone = robot.pose.bones["panda_joint2"], robot.data.bones["panda_joint2"]
    bpy.context.view_layer.update()
    looked.clear()
    is_dragged = True
    for angle in (0.1, 0.2, 0.3):
        joint.rotation_euler.y = angle
        bpy.context.view_layer.update()
    assert looked[robot.name] == 1
    is_dragged = False
    bone.robokin.upper_angle = 0.25
    bpy.context.view_layer.update()
    is_dragged = True
    joint.rotation_euler.y = 0.3
    bpy.context.view_layer.update()
    assert joint.rotation_euler.y == pytest.approx(0.25)
