"""Whatever changes what a bake or a check was about is noticed; what does not is not."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.operators.handlers.scene_marks import motion_mark
from robokin_addon.properties.bridge import binding
from robokin_addon.scene.animation.curves import own_keys
from robokin_addon.scene.animation.frames import fcurves
from support.blender.scene_robots import add_empty


@pytest.fixture
def parent(target):
    found = add_empty("parent")
    target.parent = found
    constraint = target.constraints.new("LIMIT_LOCATION")
    constraint.influence = 0.5
    bpy.context.view_layer.update()
    return found


def curve(owner, path="location"):
    return fcurves(owner)[path, 0]


def own_curve(robot):
    return fcurves(robot)[next(iter(own_keys(binding(robot))))]


def point(target):
    return curve(target).keyframe_points[2]


def handle(target):
    key = point(target)
    key.handle_right_type = key.handle_left_type = "FREE"
    key.handle_right[1] += 0.1


def driven(robot, target):
    driver = target.driver_add("location", 2).driver
    driver.type, driver.expression = "SCRIPTED", "0.4"


def keyed_influence(robot, target):
    robot.robokin.tasks[0].influence = 0.5
    robot.keyframe_insert("robokin.tasks[0].influence", frame=5)


def strip(robot, target):
    track = target.animation_data.nla_tracks.new()
    action = bpy.data.actions.new("more")
    track.strips.new("more", 1, action)


def removed_key(robot, target):
    keys = curve(target).keyframe_points
    keys.remove(keys[3])


def other_action(robot, target):
    target.animation_data.action = None


CHANGES = {
    "key": lambda robot, target: setattr(point(target), "co", (point(target).co.x, 9.0)),
    "key's time": lambda robot, target: setattr(point(target), "co", (point(target).co.x + 0.5, point(target).co.y)),
    "removed key": removed_key,
    "interpolation": lambda robot, target: setattr(point(target), "interpolation", "CONSTANT"),
    "easing": lambda robot, target: (
        setattr(point(target), "interpolation", "BOUNCE"),
        setattr(point(target), "easing", "EASE_IN"),
    ),
    "handle": lambda robot, target: handle(target),
    "extrapolation": lambda robot, target: setattr(curve(target), "extrapolation", "LINEAR"),
    "modifier": lambda robot, target: curve(target).modifiers.new("NOISE"),
    "muted curve": lambda robot, target: setattr(curve(target), "mute", True),
    "driver": driven,
    "strip": strip,
    "no action": other_action,
    "parent": lambda robot, target: setattr(target.parent, "location", (1.0, 0.0, 0.0)),
    "parent's inverse": lambda robot, target: setattr(target, "parent", None),
    "delta": lambda robot, target: setattr(target, "delta_location", (0.1, 0.0, 0.0)),
    "delta rotation": lambda robot, target: setattr(target, "delta_rotation_euler", (0.1, 0.0, 0.0)),
    "unkeyed channel": lambda robot, target: setattr(target, "rotation_euler", (0.3, 0.0, 0.0)),
    "constraint": lambda robot, target: setattr(target.constraints[0], "influence", 0.7),
    "constraint's limit": lambda robot, target: setattr(target.constraints[0], "use_max_x", True),
    "new constraint": lambda robot, target: target.constraints.new("COPY_LOCATION"),
    "robot's key": lambda robot, target: setattr(own_curve(robot).keyframe_points[3], "co", (4.0, 0.7)),
    "robot's interpolation": lambda robot, target: setattr(
        own_curve(robot).keyframe_points[3], "interpolation", "CONSTANT"
    ),
    "robot's place": lambda robot, target: setattr(robot, "location", (0.1, 0.0, 0.0)),
    "robot's size": lambda robot, target: setattr(robot, "scale", (2.0, 2.0, 2.0)),
    "keyed influence": keyed_influence,
    "influence": lambda robot, target: setattr(robot.robokin.tasks[0], "influence", 0.5),
    "priority": lambda robot, target: setattr(robot.robokin.tasks[0], "priority", 2),
    "tolerance": lambda robot, target: setattr(robot.robokin.tasks[0], "position_tolerance", 0.2),
    "axes": lambda robot, target: setattr(robot.robokin.tasks[0], "use_rotation", (True, True, False)),
    "offset": lambda robot, target: setattr(robot.robokin.tasks[0], "offset_location", (0.0, 0.0, 0.1)),
    "disabled": lambda robot, target: setattr(robot.robokin.tasks[0], "enabled", False),
    "new task": lambda robot, target: bpy.ops.robokin.task_add(kind="POSITION"),
    "mode": lambda robot, target: setattr(robot.robokin.solver, "mode", "WEIGHTED"),
    "criterion": lambda robot, target: bpy.ops.robokin.criterion_add(kind="MANIPULABILITY"),
    "limit": lambda robot, target: setattr(robot.data.bones["panda_joint2"].robokin, "upper", 1.0),
    "velocity": lambda robot, target: setattr(robot.data.bones["panda_joint2"].robokin, "velocity", 0.5),
    "another target": lambda robot, target: setattr(robot.robokin.tasks[0], "target", add_empty("other")),
    "frame rate": lambda robot, target: setattr(bpy.context.scene.render, "fps", 30),
}
NO_CHANGES = {
    "frame": lambda robot, target: bpy.context.scene.frame_set(7),
    "selection": lambda robot, target: target.select_set(True),
    "another object": lambda robot, target: setattr(add_empty("other"), "location", (1.0, 1.0, 1.0)),
    "name of the task": lambda robot, target: setattr(robot.robokin.tasks[0], "name", "weld"),
    "live": lambda robot, target: setattr(robot.robokin, "live", True),
}


def changed(robot, target, change) -> bool:
    with bpy.context.temp_override(object=robot, active_object=robot):
        bpy.context.view_layer.update()
        before = motion_mark(robot, binding(robot))
        change(robot, target)
        for owner in (robot, target):
            owner.update_tag()
            if owner.animation_data is not None and owner.animation_data.action is not None:
                owner.animation_data.action.update_tag()
        bpy.context.view_layer.update()
        return motion_mark(robot, binding(robot)) != before


@pytest.mark.parametrize("changes", [CHANGES, NO_CHANGES], ids=["changes", "no changes"])
def test_every_change_of_a_motion_is_noticed_and_no_other(robot, target, parent, changes, tmp_path):
    bpy.ops.robokin.bake(frame_end=6)
    names, path = (robot.name, target.name), str(tmp_path / "baked.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, check_existing=False)
    noticed = set()
    for what, change in changes.items():
        bpy.ops.wm.open_mainfile(filepath=path)
        if changed(*(bpy.data.objects[name] for name in names), change):
            noticed.add(what)
    assert noticed == (set(changes) if changes is CHANGES else set())
