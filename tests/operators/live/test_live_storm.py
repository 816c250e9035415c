"""Random changes around live robots, one after the other: nothing raises, limits hold, and a bake of the frame takes
what Live shows."""

from __future__ import annotations

from contextlib import suppress

import bpy
import numpy as np
import pytest
import robokin_addon
from mathutils import Euler
from robokin_addon.properties.bridge import is_robot, read_configuration, robot_model
from robokin_addon.properties.handlers import reported_faults
from robokin_addon.properties.overrides import takes_changes
from robokin_addon.robokin import RobokinError
from support.blender.scene_robots import add_robot, add_target
from support.hostile.fuzzing import SEED, TIMES, VARIABLE

STEPS = round(250 * TIMES)
ROBOTS = (("z1", "joint6"), ("kinova", "j2s6s200_joint_end_effector"), ("so100", "gripper"))


class LiveStorm:
    """log: what was done.   rng: as it was seeded."""

    def __init__(self, rng: np.random.Generator, folder) -> None:
        self.rng, self.folder, self.log, self.saved = rng, folder, [], 0

    def robots(self) -> list[bpy.types.Object]:
        return [obj for obj in bpy.context.scene.objects if is_robot(obj)]

    def robot(self) -> bpy.types.Object | None:
        return self._one(self.robots())

    def target(self) -> bpy.types.Object | None:
        return self._one([obj for obj in bpy.context.scene.objects if obj.type == "EMPTY"])

    def _one(self, found):
        return found[self.rng.integers(len(found))] if found else None

    def step(self) -> None:
        change = self._one(CHANGES)
        self.log.append(change.__name__)
        change(self)
        bpy.context.view_layer.update()
        if change not in (undo, redo):
            bpy.ops.ed.undo_push(message="storm")


def move_target(storm):
    if target := storm.target():
        target.location = np.array(target.location) + storm.rng.normal(scale=0.05, size=3)


def turn_target(storm):
    if target := storm.target():
        target.rotation_euler = Euler(storm.rng.normal(scale=0.3, size=3))


def throw_target(storm):
    if target := storm.target():
        target.location = storm.rng.normal(scale=1.0, size=3)


def key_target(storm):
    if target := storm.target():
        target.keyframe_insert("location", frame=int(storm.rng.integers(1, 10)))


def drive_target(storm):
    if (target := storm.target()) and target.animation_data is None:
        target.driver_add("location", 2).driver.expression = "0.3 + 0.01 * frame"


def delete_target(storm):
    if (target := storm.target()) and len(bpy.context.scene.objects) > 6 and storm.rng.random() < 0.4:
        bpy.data.objects.remove(target)


def new_target(storm):
    robot = storm.robot()
    if robot and takes_changes(robot) and len(robot.robokin.tasks) < 2 and bpy.context.mode == "OBJECT":
        bpy.context.view_layer.objects.active = robot
        for tip in [tip for name, tip in ROBOTS if tip in robot.data.bones]:
            if robot.name in bpy.context.view_layer.objects and robot.visible_get():
                add_target(robot, tip)


def hang_target(storm):
    """On a link of any robot: two may hold each other's."""
    target, robot = storm.target(), storm.robot()
    if target and robot:
        target.parent, target.parent_type = robot, "BONE"
        target.parent_bone = storm._one([bone.name for bone in robot.data.bones])


def free_target(storm):
    if target := storm.target():
        target.parent = None


def rename(storm):
    one = storm._one(list(bpy.context.scene.objects))
    if one is not None and takes_changes(one):
        one.name = f"n{storm.rng.integers(1000)}"


def rename_bone(storm):
    robot = storm.robot()
    if robot and robot.data.library is None and robot.data.override_library is None:
        storm._one(list(robot.data.bones)).name = f"b{storm.rng.integers(1000)}"


def delete_bone(storm):
    robot = storm.robot()
    if not robot or storm.rng.random() < 0.7 or not takes_changes(robot) or robot.data.library is not None:
        return
    if robot.data.override_library is not None or not robot.visible_get() or bpy.context.mode != "OBJECT":
        return
    bpy.context.view_layer.objects.active = robot
    bpy.ops.object.mode_set(mode="EDIT")
    leaves = [bone for bone in robot.data.edit_bones if not bone.children]
    robot.data.edit_bones.remove(storm._one(leaves))
    bpy.ops.object.mode_set(mode="OBJECT")


def undo(storm):
    if bpy.ops.ed.undo.poll():
        bpy.ops.ed.undo()


def redo(storm):
    if bpy.ops.ed.redo.poll():
        bpy.ops.ed.redo()


def reload_file(storm):
    storm.saved += 1
    path = str(storm.folder / f"{storm.saved}.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, check_existing=False)
    with suppress(RuntimeError):  # Blender tells what it mends of overrides
        bpy.ops.wm.open_mainfile(filepath=path)


def reload_addon(storm):
    robokin_addon.unregister()
    bpy.context.view_layer.update()
    robokin_addon.register()


def go_to_frame(storm):
    bpy.context.scene.frame_set(int(storm.rng.integers(1, 12)))


def exclude(storm):
    found = storm._one(list(bpy.context.view_layer.layer_collection.children))
    if found is not None:
        found.exclude = not found.exclude


def into_collection(storm):
    one, scene = storm._one(list(bpy.context.scene.objects)), bpy.context.scene
    if one is None:
        return
    holder = storm._one(list(scene.collection.children)) or bpy.data.collections.new("held")
    if holder.name not in scene.collection.children:
        scene.collection.children.link(holder)
    if one.name not in holder.objects and holder.library is None:
        holder.objects.link(one)


def another_view_layer(storm):
    layers = bpy.context.scene.view_layers
    if len(layers) < 3:
        layers.new(f"layer {len(layers)}")
    bpy.context.window.view_layer = storm._one(list(layers))


def another_scene(storm):
    if len(bpy.data.scenes) < 3:
        made = bpy.data.scenes.new("other")
        made.unit_settings.scale_length = float(storm._one([1.0, 0.01, 2.0]))
        for one in bpy.context.scene.objects:
            if storm.rng.random() < 0.7:
                made.collection.objects.link(one)
    bpy.context.window.scene = storm._one(list(bpy.data.scenes))


def switch_live(storm):
    if (robot := storm.robot()) and takes_changes(robot):
        robot.robokin.live = bool(storm.rng.random() < 0.8)


def lock(storm):
    robot = storm.robot()
    if robot and robot.data.library is None:
        bone = storm._one(list(robot.data.bones))
        bone.robokin.locked = not bone.robokin.locked


def change_limit(storm):
    robot = storm.robot()
    if robot and robot.data.library is None and robot.data.override_library is None:
        bone = storm._one(list(robot.data.bones))
        bone.robokin.upper = bone.robokin.upper - float(storm.rng.uniform(0.0, 0.05))


def pose_by_hand(storm):
    if (robot := storm.robot()) and takes_changes(robot):
        bone = storm._one(list(robot.pose.bones))
        bone.rotation_euler[1] += float(storm.rng.normal(scale=0.3))


def influence(storm):
    if (robot := storm.robot()) and len(robot.robokin.tasks) and takes_changes(robot):
        robot.robokin.tasks[0].influence = float(storm._one([0.0, 0.5, 1.0]))


def link_copy(storm):
    """A robot of another file, and its override."""
    robot = storm.robot()
    if robot is None or len(storm.robots()) > 4 or robot.library is not None or bpy.context.mode != "OBJECT":
        return
    storm.saved += 1
    path, name = str(storm.folder / f"lib{storm.saved}.blend"), robot.name
    bpy.data.libraries.write(path, {robot}, fake_user=False)
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.objects = [name]
    linked = into.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    if storm.rng.random() < 0.6:
        linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)


def reload_library(storm):
    if found := storm._one(list(bpy.data.libraries)):
        found.reload()


def duplicate(storm):
    robot = storm.robot()
    if robot and len(storm.robots()) < 5 and robot.library is None and robot.override_library is None:
        copy = robot.copy()
        if storm.rng.random() < 0.5:
            copy.data = robot.data.copy()
        bpy.context.scene.collection.objects.link(copy)


def remove_robot(storm):
    robot = storm.robot()
    if robot and len(storm.robots()) > 3:
        bpy.data.objects.remove(robot)


CHANGES = (
    *(move_target,) * 6,
    *(turn_target, throw_target, key_target, drive_target, delete_target, new_target, new_target, hang_target),
    *(free_target, rename, rename_bone, delete_bone, undo, undo, undo, redo, reload_file, reload_addon),
    *(go_to_frame, go_to_frame, exclude, into_collection, another_view_layer, another_scene, switch_live, lock),
    *(change_limit, pose_by_hand, influence, link_copy, reload_library, duplicate, remove_robot),
)


def broken_limits(robot: bpy.types.Object) -> float:
    """By how much a joint is beyond its limits [rad, m], at most."""
    try:
        model, q = robot_model(robot), read_configuration(robot)
    except RobokinError:  # of bones that were deleted: the panel says so
        return 0.0
    assert np.isfinite(q).all()
    joints = [joint for joint in model.joints if joint.nq == 1 and joint.mimic is None]
    values = model.joint_values(q)
    return max((max(values[j.name] - j.upper[0], j.lower[0] - values[j.name]) for j in joints), default=0.0)


def baked_apart(robot: bpy.types.Object) -> float | None:
    """How far the pose of a bake of the present frame is from what Live shows [rad, m]; None where there is nothing to
    bake, or it has curves already, or misses a target. The bake is taken back."""
    settings, frame = robot.robokin.solver, bpy.context.scene.frame_current
    data = robot.animation_data
    if settings.status != "CONVERGED" or bpy.context.mode != "OBJECT" or (data is not None and data.action is not None):
        return None
    bpy.context.scene.frame_set(frame)  # keyed targets that were moved go back to their curves, as the bake sees them
    before = read_configuration(robot)
    settings.range, settings.frame_start, settings.frame_end = "CUSTOM", frame, frame
    settings.start = "PRESENT"
    if settings.status != "CONVERGED":
        return None
    try:
        with bpy.context.temp_override(object=robot, active_object=robot):
            bpy.ops.robokin.bake()
    except RuntimeError as error:  # as where targets hang on the robot
        assert "Error: " in str(error)
        return None
    after = read_configuration(robot)
    robot.animation_data_clear()
    robot.robokin.baked_frames = (0, 0)
    return float(np.abs(after - before).max())


@pytest.mark.slow
def test_a_storm_around_live_robots(scene, tmp_path):
    rng = np.random.default_rng(SEED)
    for i, (name, tip) in enumerate(ROBOTS):
        robot = add_robot(name, live=True)
        robot.location.x = 1.5 * i
        bpy.context.view_layer.update()
        add_target(robot, tip)
    bpy.context.view_layer.update()
    storm, compared = LiveStorm(rng, tmp_path), 0
    for number in range(STEPS):
        storm.step()
        told = f"{VARIABLE}={SEED}, step {number}: {storm.log[-6:]}"
        assert reported_faults() == [], told
        for robot in storm.robots():
            if takes_changes(robot) and robot.visible_get() and robot.robokin.live and len(robot.robokin.tasks):
                assert broken_limits(robot) < 1e-6, (told, robot.name)
                if not compared or rng.random() < 0.1:
                    apart = baked_apart(robot)
                    compared += apart is not None
                    assert apart is None or apart < 1e-3, (told, robot.name)
    assert compared
