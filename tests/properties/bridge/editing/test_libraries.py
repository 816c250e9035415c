"""Robots of other files: appended, linked, overridden."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest
from robokin_addon.properties.bridge import robot_model
from support.blender.edited_robots import stays_right
from support.blender.rigs import HUMANOID, add_rig, disagreement, select


@pytest.fixture
def library(scene, tmp_path: Path) -> str:
    """A file with a robot, its target and its task."""
    obj = add_rig(HUMANOID, "body")
    assert bpy.ops.robokin.make_robot(base="FIXED") == {"FINISHED"}
    assert bpy.ops.robokin.target_add(tip="hand.L", kind="POSITION") == {"FINISHED"}
    target = obj.robokin.tasks[0].target
    target.name, target.location = "goal", (0.5, -0.3, 1.4)
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return path


def load(path: str, link: bool) -> bpy.types.Object:
    with bpy.data.libraries.load(path, link=link) as (_, into):
        into.objects = ["body", "goal"]
    for obj in into.objects:
        bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.update()
    return into.objects[0]


def test_an_appended_robot_is_whole(library):
    obj = load(library, link=False)
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
    assert obj.robokin.solver.status == "CONVERGED"
    stays_right(obj)


def test_a_linked_robot_can_be_read_and_says_why_it_cannot_be_posed(library):
    obj = load(library, link=True)
    bpy.context.view_layer.objects.active = obj
    assert disagreement(obj) < 1e-5 and len(robot_model(obj).joints) == len(HUMANOID)
    for operator in ("solve_pose", "reset_pose", "make_robot", "convert_rig", "set_joint", "task_add", "bake"):
        with pytest.raises(RuntimeError, match="'body' is linked from another file"):
            getattr(bpy.ops.robokin, operator)()


def test_an_override_is_posed_and_solved_and_its_joints_are_edited_in_their_file(library):
    linked = load(library, link=True)
    obj = linked.override_create(remap_local_usages=True)
    bpy.context.scene.collection.objects.link(obj) if obj.name not in bpy.context.scene.objects else None
    bpy.context.view_layer.objects.active = obj
    bpy.context.view_layer.update()
    goal = bpy.data.objects.new("own goal", None)
    bpy.context.scene.collection.objects.link(goal)
    goal.location = (0.5, -0.35, 1.35)
    assert bpy.ops.robokin.task_add(tip="hand.R", kind="POSITION") == {"FINISHED"}
    assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
    assert obj.robokin.solver.status == "CONVERGED"
    assert disagreement(obj) < 1e-5
    with pytest.raises(RuntimeError, match="tasks of 'body' come from another file"):
        bpy.ops.robokin.task_remove(index=0)
    assert bpy.ops.robokin.bake(frame_start=1, frame_end=3) == {"FINISHED"}
    obj.robokin.tasks[0].influence = 0.5
    bpy.ops.wm.save_as_mainfile(filepath=str(Path(library).with_name("override.blend")))
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = next(o for o in bpy.data.objects if o.override_library is not None and o.type == "ARMATURE")
    assert [(task.tip, task.influence) for task in obj.robokin.tasks] == [("hand.L", 0.5), ("hand.R", 1.0)]
    select(obj, "forearm.L")
    with pytest.raises(RuntimeError, match="linked from another file: edit them there"):
        bpy.ops.robokin.set_joint(joint_type="fixed")
    with pytest.raises(RuntimeError, match="linked from another file"):
        bpy.ops.robokin.make_robot()
