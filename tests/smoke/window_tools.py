"""Run by `test_window.py` in Blender's window: drags with the tools of Pose Mode, as a person makes them. What came of
each goes into the file named last but one on the command line."""

import os
import sys

import bpy
import numpy as np
from mathutils import Vector

sys.path.insert(0, os.path.dirname(__file__))
from window_events import View, drag, press, run

MODULE, _, OUT, _ = sys.argv[-4:]
view = View(MODULE)
found = {}


def steps():
    view.clear()
    view.call(bpy.ops.robokin.add_robot, robot="panda")
    view.call(bpy.ops.object.mode_set, mode="POSE")
    view.call(bpy.ops.view3d.view_all)
    bpy.ops.ed.undo_push(message="start")
    yield 2.0

    def q():
        return view.q(bpy.context.object)

    def seen(bone):
        robot = bpy.context.object
        return view.seen(robot.matrix_world @ robot.pose.bones[bone].head)

    def shape_points():
        """The center of the active shape, and where the knob of its radius is."""
        robot = bpy.context.object
        bone, _, geometry = view.active_shape(robot)
        bound = view.bridge.binding(robot)
        T = view.bridge.world_from_root(robot) @ view.placements(bound.model, view.q(robot))[bound.link_of_bone[bone]]
        points = np.array([[0.0, 0.0, 0.0, 1.0], [geometry.shape.radius, 0.0, 0.0, 1.0]])
        return [Vector(row[:3]) for row in points @ (T @ geometry.placement).T]

    def take(name):
        view.call(bpy.ops.wm.tool_set_by_id, name=f"robokin.{name}")

    take("grab_link")
    yield 0.7
    # Beside the robot, with no bone active: the box of Blender's Select Box selects nothing. An error that was shown
    # here would take the next press of the button.
    yield from drag((view.region.x + 80, view.region.y + 80), (30, 30))
    before = q()
    yield from drag(seen("joint_6"), (-100, 40))
    after = q()
    found["grab"] = float(abs(after - before).max())
    press("Z", *seen("joint_6"), ctrl=True)
    yield 1.0
    found["undo"] = float(abs(q() - before).max())
    press("Z", *seen("joint_6"), ctrl=True, shift=True)
    yield 1.0
    found["redo"] = float(abs(q() - after).max())
    press("Z", *seen("joint_6"), ctrl=True)
    yield 1.0
    bpy.context.object.data.bones.active = bpy.context.object.data.bones["joint_4"]
    view.call(bpy.ops.robokin.shape_add, kind="SPHERE")  # at the origin of its link
    bpy.context.scene.robokin.overlays.shape_gizmo = True
    bpy.ops.ed.undo_push(message="a shape")
    yield 1.0
    center, side = shape_points()
    found["radius"] = [bpy.context.object.robokin.shape.radius]
    start, end = view.seen(side), view.seen(2.0 * side - center)
    yield from drag(start, (end[0] - start[0], end[1] - start[1]))
    found["radius"].append(bpy.context.object.robokin.shape.radius)
    press("Z", *view.seen(center), ctrl=True)
    yield 1.0
    found["radius"].append(bpy.context.object.robokin.shape.radius)
    bpy.context.scene.robokin.overlays.shape_gizmo = False
    take("jog")
    yield 0.5
    before = q()
    x, y = seen("joint_4")
    press("TWO", x, y)
    yield 0.5
    press("O", x, y)  # the joint has no second axis: no window of an error takes the keys that come
    yield 0.5
    for _ in range(3):
        press("L", x, y)
        yield 0.4
    found["jog"] = np.degrees(q() - before).round(3).tolist()
    operators = bpy.context.window_manager.operators  # F9 offers the last one that has both
    found["offered"] = [each.bl_idname for each in operators if each.bl_options >= {"REGISTER", "UNDO"}]
    take("grab_link")
    yield 0.5
    view.call(bpy.ops.pose.select_all, action="DESELECT")
    bpy.context.object.data.bones.active = None
    x, y = seen("joint_6")
    yield from drag((x - 150, y + 90), (300, -180))
    found["boxed"] = view.selection.selected_bones(bpy.context.object)


run(steps(), found, OUT)
