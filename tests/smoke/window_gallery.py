"""Run by `test_window.py` in Blender's window: the pictures of the documents that show panels and handles. The command
line is that of `window_session.py`."""

import importlib
import os
import shutil
import subprocess
import sys

import bpy

sys.path.insert(0, os.path.dirname(__file__))
from window_events import View, run

MODULE, ROBOT, OUT, PICTURES = sys.argv[-4:]
VIEW = ("-crop", "1310x880+0+24", "+repage", "-resize", "76%")  # with its sidebar
PANELS = ("-crop", "900x700+410+70", "+repage", "-resize", "90%")
HANDLES = ("-crop", "466x466+400+230", "+repage")  # in the middle of the view
SHAPE = ("-crop", "560x430+330+230", "+repage")
# Robots of the library, with the type of the joint whose handle is shown, and from how far away.
GIZMOS = (
    ("panda", "revolute", 4),
    ("gantry", "prismatic", 16),
    ("puppet", "spherical", 4),
    ("mobile_arm", "wheeled", 4),
)
view = View(MODULE)
readouts = importlib.import_module(f"{MODULE}.properties.results.readouts")
found = {}


def picture(name, how):
    yield from view.picture(os.path.join(PICTURES, f"{name}.png"), *how)


def open_folded():
    """Panels that are folded away at first, before they are drawn: Blender remembers what each was."""
    for panel in (bpy.types.ROBOKIN_PT_criteria, bpy.types.ROBOKIN_PT_moves):
        bpy.utils.unregister_class(panel)
        panel.bl_options = set()
        bpy.utils.register_class(panel)


def page(name, *shown):
    """Shows a page of the sidebar; of its panels only these."""
    for idname in [each for each in dir(bpy.types) if each.startswith("ROBOKIN_PT_")]:
        panel = getattr(bpy.types, idname)
        if getattr(panel, "page", "") == name and idname not in shown:
            panel.poll = classmethod(lambda cls, context: False)
    bpy.context.window_manager.robokin_page = name
    yield 0.5


def import_robot():
    view.clear()
    view.call(bpy.ops.robokin.import_urdf, filepath=ROBOT)
    yield 2.0


def mode(name):
    view.call(bpy.ops.object.mode_set, mode=name)


def activate(robot, bone):
    mode("POSE")
    for each in robot.pose.bones:
        view.selection.select(each, each.name == bone)
    robot.data.bones.active = robot.data.bones[bone]


def steps():
    open_folded()
    yield from view.sidebar("Robot")
    yield from import_robot()
    robot = bpy.context.object
    activate(robot, "panda_joint4")
    yield from page("POSE", "ROBOKIN_PT_joint_values", "ROBOKIN_PT_postures")
    yield from picture("joint-panel", VIEW)

    mode("OBJECT")
    yield from page("TASKS", "ROBOKIN_PT_tasks", "ROBOKIN_PT_task_axes", "ROBOKIN_PT_solve")
    view.call(bpy.ops.robokin.target_add)
    target, region = bpy.context.object, view.area.spaces.active.region_3d
    tool = target.location.copy()
    target.location += type(tool)((0.25, 0.55, 0.35))
    region.view_location, region.view_distance = (0.35, 0.6, 0.5), 2.1  # the robot, the target and both labels
    yield 1.0
    yield from picture("out-of-reach", VIEW)
    found["out of reach"] = readouts.live(robot).text
    region.view_location, region.view_distance = (0.2, 0.4, 0.45), 1.8  # the elbow turns outward
    target.location = tool + type(tool)((0.0, 0.15, -0.15))
    robot.robokin.tasks[0].kind = "POSITION"
    view.select(robot)
    for level, kind in enumerate(("ORIENTATION", "POSTURE"), 2):
        view.call(bpy.ops.robokin.task_add, kind=kind)
        robot.robokin.tasks[-1].priority = level
    robot.robokin.tasks[-1].posture = robot.robokin.postures[0].name
    robot.robokin.active_task = 0
    robot.update_tag()
    yield 1.0
    found["levels"] = readouts.live(robot).text
    yield from picture("tasks", VIEW)

    for kind in ("JOINT_SPRINGS", "KINETIC_ENERGY", "GRAVITY_TORQUE"):
        view.call(bpy.ops.robokin.criterion_add, kind=kind)
    for panel in (bpy.types.ROBOKIN_PT_tasks, bpy.types.ROBOKIN_PT_solve):
        panel.poll = classmethod(lambda cls, context: False)
    del bpy.types.ROBOKIN_PT_criteria.poll
    yield 0.5
    yield from picture("criteria", PANELS)

    yield from import_robot()
    robot = bpy.context.object
    for kind, way in (("LINE", (0.1, 0.1, -0.2)), ("CIRCLE", (0.05, 0.3, 0.1)), ("LINE", (0.15, -0.2, 0.2))):
        view.call(bpy.ops.robokin.move_add, kind=kind)
        move = robot.robokin.moves[-1]
        move.target.location += type(move.target.location)(way)
        if kind == "CIRCLE":
            move.via.location += type(move.target.location)((0.2, 0.2, -0.1))
    yield from page("ANIMATE", "ROBOKIN_PT_moves")
    view.area.spaces.active.region_3d.view_distance *= 1.4  # the paths too
    yield 3.0  # the preview is made while Blender is idle
    yield from picture("moves-preview", PANELS)

    view.area.spaces.active.show_region_ui = False
    taken = []
    for name, kind, away in GIZMOS:
        view.clear()
        view.call(bpy.ops.robokin.add_robot, robot=name)
        yield 1.0
        robot = bpy.context.object
        joints = [each.name for each in robot.data.bones if each.robokin.joint_type == kind]
        activate(robot, joints[len(joints) // 2])
        view.call(bpy.ops.view3d.view_selected)
        view.area.spaces.active.region_3d.view_distance *= away
        taken.append(f"{OUT}-{len(taken)}.png")
        yield from view.picture(taken[-1], *HANDLES)
        mode("OBJECT")
    view.clear()
    view.call(bpy.ops.robokin.import_urdf, filepath=ROBOT)
    yield 2.0
    robot = bpy.context.object
    view.invoke(bpy.ops.robokin.fit_collisions, shape="ROUNDED_BOX")
    yield 8.0
    activate(robot, "panda_joint4")
    bpy.context.scene.robokin.overlays.shape_gizmo = True
    region = view.area.spaces.active.region_3d
    region.view_location, region.view_distance = robot.matrix_world @ robot.pose.bones["panda_joint4"].head, 1.1
    yield from picture("shape-handles", SHAPE)
    if shutil.which("convert"):
        subprocess.run(["convert", *taken, "+append", os.path.join(PICTURES, "gizmos.png")], check=True)


run(steps(), found, OUT)
