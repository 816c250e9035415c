"""Run by `test_window.py` in Blender's window: two robots, targets that are dragged, self-motion, saving and opening,
in the order in which a person may do so; and the pictures of the tutorial. The command line ends with the URDF of a
Panda, the file for what came of each, and the folder for pictures."""

import os
import shutil
import subprocess
import sys

import bpy
import numpy as np
from mathutils import Vector

sys.path.insert(0, os.path.dirname(__file__))
from window_events import View, drag, hold, press, run

MODULE, ROBOT, OUT, PICTURES = sys.argv[-4:]
view = View(MODULE)
found = {}


def tool(robot):
    """Where Blender shows the tip of the first task of a robot."""
    bpy.context.view_layer.update()  # after undo it is asked for before anything was drawn
    return robot.matrix_world @ robot.pose.bones[robot.robokin.tasks[0].tip].matrix


def away(robot):
    target = robot.robokin.tasks[0].target
    return (tool(robot).translation - target.matrix_world.translation).length


def picture(name):
    yield from view.picture(os.path.join(PICTURES, f"{name}.png"))


def film(name, key, place, reach, count=16):
    """The robot while a target is dragged once around, as a moving picture of the 3D view."""
    press(key, *place)
    yield 0.3
    frames = os.path.join(os.path.dirname(OUT), name)
    for i in range(count):
        turn = 2.0 * np.pi * i / count
        x, y = place[0] + reach * np.sin(turn), place[1] + 0.6 * reach * (np.cos(turn) - 1.0)
        view.window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=int(x), y=int(y))
        yield 0.5
        if shutil.which("import"):
            crop = ["-crop", "880x632+150+145", "+repage", "-resize", "440x316!"]
            subprocess.run(["import", "-window", "root", *crop, f"{frames}-{i:02d}.png"], check=True)
    press("ESC", *place)
    yield 0.5
    if shutil.which("import"):
        taken = [f"{frames}-{i:02d}.png" for i in range(count)]
        look = ["-delay", "12", "-loop", "0", *taken, "+dither", "-colors", "24", "-layers", "optimize"]
        subprocess.run(["convert", *look, os.path.join(PICTURES, f"{name}.gif")], check=True)


def page(name):
    bpy.context.window_manager.robokin_page = name
    yield 0.3


def steps():
    view.call(bpy.ops.robokin.import_urdf, filepath=ROBOT)
    first = bpy.context.object
    yield 3.0
    yield from view.sidebar("Robot")
    yield from page("POSE")
    yield from picture("tutorial-import")

    yield from page("TASKS")
    view.call(bpy.ops.robokin.target_add)
    yield 0.5
    target = bpy.context.object
    found["target at tool"] = away(first)
    before, pose, names = target.location.copy(), view.q(first), (first.name, target.name)
    place = view.seen(target.matrix_world.translation)
    yield from view.settle(place)
    yield from film("live", "G", place, 90)
    found["left"] = (target.location - before).length
    bpy.ops.ed.undo_push(message="before the drag")
    yield from hold("G", place, (70, 50))
    yield from picture("tutorial-live")
    press("RET", place[0] + 70, place[1] + 50)
    yield 0.7
    found["dragged"], found["followed"] = (target.location - before).length, away(first)
    press("Z", *place, ctrl=True)
    yield 1.0
    first, target = (bpy.data.objects[name] for name in names)
    found["undone"] = float(abs(view.q(first) - pose).max()) + (target.location - before).length
    press("Z", *place, ctrl=True, shift=True)
    yield 1.0
    first, target = (bpy.data.objects[name] for name in names)
    found["redone"] = (target.location - before).length, away(first)

    for frame, way in ((1, (0.0, 0.0, 0.0)), (60, (0.1, 0.25, 0.0)), (120, (0.0, -0.25, 0.1))):
        bpy.context.scene.frame_set(frame)
        target.location = before + Vector(way)
        target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_end = 120
    bpy.context.scene.frame_set(1)
    view.select(first)
    yield from page("ANIMATE")
    view.call(bpy.ops.robokin.bake)
    yield 2.0
    view.call(bpy.ops.robokin.check)
    yield 1.0
    found["baked"], found["checked"] = first.robokin.solver.bake_status, first.robokin.solver.check_passed
    yield from picture("tutorial-bake")
    overlays = bpy.context.scene.robokin.overlays
    overlays.path = overlays.ghosts = overlays.problem_frames = True
    overlays.ghost_count, overlays.ghost_step = 1, 20
    bpy.context.scene.frame_set(60)
    yield 1.0
    yield from picture("overlays-path")
    overlays.path = overlays.ghosts = False

    target.animation_data_clear()
    first.animation_data_clear()
    first.robokin.baked_frames = (0, 0)
    target.location = before
    yield 1.0
    with bpy.context.temp_override(**view.here):
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.wm.tool_set_by_id(name="robokin.self_motion")
    yield 0.7
    pose, held = view.q(first), tool(first).copy()
    yield from drag(view.seen(first.matrix_world @ first.pose.bones["panda_joint4"].head), (60, 30))
    found["self-motion"] = float(abs(view.q(first) - pose).max())
    found["held"] = float(np.abs(np.array(tool(first)) - np.array(held)).max())
    with bpy.context.temp_override(**view.here):
        bpy.ops.object.mode_set(mode="OBJECT")

    view.call(bpy.ops.robokin.add_robot, robot="puma560")
    second = bpy.context.object
    second.location.y += 1.5
    view.call(bpy.ops.robokin.target_add)
    yield 0.5
    other = bpy.context.object
    other.parent = target
    other.matrix_parent_inverse = target.matrix_world.inverted()
    yield 0.5
    target.location.z += 0.05
    yield 0.7
    found["two robots"] = away(first), away(second)

    path = os.path.join(os.path.dirname(OUT), "two.blend")
    names = first.name, second.name, target.name
    poses = [view.q(bpy.data.objects[name]) for name in names[:2]]
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    yield 3.0
    view.find()
    first, second, target = (bpy.data.objects[name] for name in names)
    found["opened"] = max(float(abs(view.q(obj) - q).max()) for obj, q in zip((first, second), poses, strict=True))
    target.location.z -= 0.05
    yield 0.7
    found["after opening"] = away(first), away(second)

    path = os.path.join(os.path.dirname(OUT), "motion.csv")
    view.select(first)
    view.call(bpy.ops.robokin.export_motion, filepath=path)
    found["exported"] = os.path.getsize(path)


run(steps(), found, OUT)
