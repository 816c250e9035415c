"""Whatever a scene is made into, panels, operators and handlers say in one line what is wrong, and go on."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.operators.handlers import criterion_readouts
from robokin_addon.properties.bridge import robot_model
from robokin_addon.properties.task_kinds import KINDS
from robokin_addon.robokin import RobokinError
from support.blender.drawing import while_blender_draws
from support.blender.panels import draw
from support.blender.scene_robots import add_robot, add_target
from support.few import rest_slow
from support.hostile.hostile_edits import EDITS

CALLS = {
    "solve_pose": {},
    "bake": {"frame_end": 2},
    "check": {"frame_end": 2},
    "store_posture": {},
    "posture_add": {},
    "posture_apply": {},
    "posture_mirror": {},
    "mirror_pose": {},
    "reset_pose": {},
    "home": {},
    "helper_bones": {},
    "set_joint": {},
    "copy_joint": {},
    "inertia_from_mesh": {"which": "ALL"},
    "limits_from_arc": {"bone": "panda_joint1"},
    "robot_to_text": {},
    "convert_rig": {},
    "make_robot": {},
    "criterion_add": {"kind": "GRAVITY_TORQUE"},
}


def called(name: str, **options: object) -> None:
    """Call an operator, which may refuse, but not raise."""
    try:
        getattr(bpy.ops.robokin, name)(**options)
    except RuntimeError as error:
        assert "Traceback" not in str(error), f"{name}({options}): {error}"


@pytest.fixture
def panda(scene):
    robot = add_robot()
    add_target(robot)
    bpy.context.view_layer.objects.active = robot
    return robot


FEW = [(edit, ["POSE", "DISTANCE"]) for i, edit in enumerate(EDITS) if i % 2 == 0]


@pytest.mark.parametrize(
    ("edit", "kinds"),
    rest_slow([*FEW, *((edit, list(KINDS)) for edit in EDITS)], len(FEW)),
    ids=lambda value: value if isinstance(value, str) else len(value),
)
def test_nothing_raises_after(panda, tmp_path, monkeypatch, edit, kinds):
    EDITS[edit](panda)
    bpy.context.view_layer.update()
    panda.update_tag()
    bpy.context.view_layer.update()
    while_blender_draws(monkeypatch)
    with bpy.context.temp_override(object=panda, active_object=panda):
        draw()
        for name, options in CALLS.items():
            called(name, **options)
        for kind in kinds:
            called("task_add", kind=kind)
            called("target_add", kind=kind)
        called("solve_pose")
        called("bake", frame_end=2)
        called("export_motion", filepath=str(tmp_path / "motion.csv"), frame_end=2)
        called("export_urdf", filepath=str(tmp_path / "robot.urdf"))
        draw()
        criterion_readouts._compute_waiting()
        draw()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "robot.blend"))
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    bpy.context.view_layer.update()


def linked_duplicate(robot: bpy.types.Object) -> bpy.types.Object:
    """As Alt+D makes it."""
    for other in bpy.context.view_layer.objects:
        other.select_set(other == robot)
    assert bpy.ops.object.duplicate(linked=True) == {"FINISHED"}
    return bpy.context.object


@pytest.mark.parametrize("change", ["rename", "add", "remove", "nothing"])
def test_a_linked_duplicate_while_its_armature_is_in_edit_mode(panda, change):
    before = robot_model(panda)
    other = linked_duplicate(panda)
    assert other.data == panda.data
    bpy.context.view_layer.objects.active = panda
    bpy.ops.object.mode_set(mode="EDIT")
    bones = panda.data.edit_bones
    if change == "rename":
        bones["panda_joint3"].name = "another"
    elif change == "add":
        bones.new("more").tail = (0, 0, 1)
    elif change == "remove":
        bones.remove(bones["panda_leftfinger"] if "panda_leftfinger" in bones else bones["panda_finger_joint2"])
    other.location.x += 1.0
    bpy.context.view_layer.update()
    for robot in (other, panda):
        assert "Leave Edit Mode" in " ".join(draw(object=robot, active_object=robot)["ROBOKIN_PT_robot"]["labels"])
        with pytest.raises(RobokinError, match="is in Edit Mode"):
            robot_model(robot)
        with bpy.context.temp_override(object=robot, active_object=robot):
            for name in ("task_add", "solve_pose", "store_posture", "make_robot"):
                with pytest.raises(RuntimeError, match="Edit Mode"):
                    getattr(bpy.ops.robokin, name)()
    bpy.ops.object.mode_set(mode="OBJECT")
    other.location.x += 1.0
    bpy.context.view_layer.update()
    if change == "add":  # a second root: the robot says so
        return
    for robot in (other, panda):
        names = [joint.name for joint in robot_model(robot).joints]
        assert ("another" in names) == (change == "rename")
        assert len(names) == len(before.joints) - (change == "remove")
        with bpy.context.temp_override(object=robot, active_object=robot):
            assert bpy.ops.robokin.task_add(kind="POSE") == {"FINISHED"}
            assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
