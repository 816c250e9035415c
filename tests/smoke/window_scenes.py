"""Run by `test_window.py` in Blender's window: the pictures of the documents that show whole robots, the papers'
scenes, overlays, tables and curves. The command line is that of `window_session.py`."""

import importlib
import os
import shutil
import subprocess
import sys

import bpy
import numpy as np
from mathutils import Euler

sys.path.insert(0, os.path.dirname(__file__))
from window_events import View, run

MODULE, ROBOT, OUT, PICTURES = sys.argv[-4:]
ROBOTS = importlib.import_module(f"{MODULE}.robokin.library").ROBOTS
# The papers' scenes, the picture of each, and from which side [degrees about the vertical] it is taken.
EXAMPLES = (("door", "paper-door", -60.0), ("laser", "paper-laser", 200.0), ("nut", "paper-nut", 95.0))
ABOVE = 68.0  # [degrees] from the vertical
SHOTS = 4  # of a motion
VIEW = ("-crop", "1310x880+0+24", "+repage", "-resize", "76%")  # with its sidebar
CURVES = ("-crop", "1310x880+0+24", "+repage", "-resize", "60%")
STILL = ("-crop", "1200x870+55+30", "+repage")
GROUND = "srgb(230,230,230)"  # what the plain view shows behind the robots
TILE = "240x240"
view = View(MODULE)
readouts = importlib.import_module(f"{MODULE}.properties.results.readouts")
found = {}


def picture(name, how):
    yield from view.picture(os.path.join(PICTURES, f"{name}.png"), *how)


def shown_plain(is_plain):
    """Whether the view shows the robots alone."""
    space = view.area.spaces.active
    space.overlay.show_overlays = space.show_gizmo = not is_plain
    space.show_region_ui = space.show_region_toolbar = space.show_region_header = not is_plain
    space.shading.background_type, space.shading.background_color = (
        ("VIEWPORT" if is_plain else "THEME"),
        (0.8, 0.8, 0.8),
    )
    space.shading.show_shadows = space.shading.show_cavity = is_plain
    space.shading.studio_light = "paint.sl" if is_plain else "Default"


def tiles(name, pictures, across, size):
    """One picture of all, each of that size."""
    if shutil.which("montage"):
        how = ["-geometry", f"{size}+1+1", "-background", GROUND, "-tile", across, "+dither", "-colors", "160"]
        subprocess.run(["montage", *pictures, *how, f"PNG8:{os.path.join(PICTURES, name)}.png"], check=True)


def trimmed(pictures, size):
    """Cuts all pictures alike: to what any of them shows, and a border."""
    if shutil.which("convert"):
        asked = ["convert", *pictures, "-evaluate-sequence", "min", "-fuzz", "5%", "-format", "%@", "info:"]
        box = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
        how = ["-crop", box, "+repage", "-bordercolor", GROUND, "-border", "12", "-resize", size]
        subprocess.run(["mogrify", *how, *pictures], check=True)


def turned(side):
    """The view looks from there."""
    view.area.spaces.active.region_3d.view_rotation = Euler(np.radians((ABOVE, 0.0, side)).tolist()).to_quaternion()


def library():
    taken = []
    for name in ROBOTS:
        view.clear()
        view.call(bpy.ops.robokin.add_robot, robot=name)
        view.call(bpy.ops.view3d.view_all)
        taken.append(f"{OUT}-{name}.png")
        yield from view.picture(taken[-1], *STILL)
        trimmed(taken[-1:], TILE)
    tiles("library", taken, "6x", TILE)


def motions():
    for example, name, side in EXAMPLES:
        view.clear()
        scene = bpy.context.scene
        view.call(bpy.ops.robokin.add_example, example=example)
        robot = bpy.context.object
        view.call(bpy.ops.robokin.bake)
        found[example] = robot.robokin.solver.bake_status
        turned(side)
        view.call(bpy.ops.view3d.view_all)
        taken = []
        for i in range(SHOTS):
            scene.frame_set(scene.frame_start + i * (scene.frame_end - scene.frame_start) // (SHOTS - 1))
            taken.append(f"{OUT}-{name}-{i}.png")
            yield from view.picture(taken[-1], *STILL)
        trimmed(taken, "x300")
        tiles(name, taken, f"{SHOTS}x", "")


def overlays():
    view.clear()
    view.call(bpy.ops.robokin.add_robot, robot="panda")
    robot = bpy.context.object
    view.call(bpy.ops.robokin.target_add)
    target, shown = bpy.context.object, bpy.context.scene.robokin.overlays
    target.location += type(target.location)((0.3, 0.2, 0.5))
    shown.show = shown.center_of_mass = shown.manipulability = shown.task_errors = True
    view.area.spaces.active.show_region_ui = False
    yield 1.0
    view.call(bpy.ops.view3d.view_all)
    found["too far"] = readouts.live(robot).text
    yield from picture("overlays-errors", VIEW)
    shown.show = False
    yield from view.sidebar("Robot")


def tables():
    for panel in (bpy.types.ROBOKIN_PT_tables, bpy.types.ROBOKIN_PT_text_tables):
        bpy.utils.unregister_class(panel)
        panel.bl_options = set()
        bpy.utils.register_class(panel)
    bpy.types.ROBOKIN_PT_joint.poll = classmethod(lambda cls, context: False)
    view.clear()
    view.call(bpy.ops.robokin.add_robot, robot="panda")
    bpy.context.window_manager.robokin_page = "ROBOT"
    yield 0.5
    yield from picture("tables", VIEW)


def curves():
    """Of the costs of criteria over a bake."""
    view.clear()
    view.call(bpy.ops.robokin.import_urdf, filepath=ROBOT)
    robot, scene = bpy.context.object, bpy.context.scene
    view.call(bpy.ops.robokin.target_add, kind="POSITION")
    target = bpy.context.object
    for frame, way in ((1, 0.0), (24, 0.3), (48, -0.3)):
        target.location.y = way
        target.keyframe_insert("location", frame=frame)
    scene.frame_start, scene.frame_end = 1, 48
    view.select(robot)
    for kind in ("JOINT_SPRINGS", "KINETIC_ENERGY", "GRAVITY_TORQUE"):
        view.call(bpy.ops.robokin.criterion_add, kind=kind)
    view.call(bpy.ops.robokin.bake)
    found["costs"] = robot.robokin.solver.bake_status
    view.area.type = "GRAPH_EDITOR"
    view.area.spaces.active.use_normalization, view.area.spaces.active.show_region_ui = True, False
    view.area.spaces.active.dopesheet.filter_text = "cost"
    yield 1.0
    region = next(each for each in view.area.regions if each.type == "WINDOW")
    with bpy.context.temp_override(window=view.window, area=view.area, region=region):
        bpy.ops.anim.channels_expand(all=True)
        bpy.ops.graph.view_all()
    yield from picture("cost-curves", CURVES)
    view.area.type = "VIEW_3D"
    yield 0.5


def steps():
    view.find()
    shown_plain(True)
    yield 1.0
    yield from library()
    yield from motions()
    shown_plain(False)
    turned(40.0)
    bpy.context.scene.frame_set(1)
    yield 1.0
    yield from overlays()
    yield from tables()
    yield from curves()


run(steps(), found, OUT)
