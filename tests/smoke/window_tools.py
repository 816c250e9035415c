"""Run by `test_window.py` in Blender's window: drags with the tools of Pose Mode, as a person makes them. What came of
each goes into the file named last on the command line."""

import importlib
import json
import sys
import traceback

import addon_utils
import bpy
import numpy as np
from bpy_extras.view3d_utils import location_3d_to_region_2d

MODULE, OUT = sys.argv[-2:]
addon_utils.enable(MODULE)
bridge = importlib.import_module(f"{MODULE}.properties.bridge")
found = {}


def press(kind, x, y, **options):
    for value in ("PRESS", "RELEASE"):
        bpy.context.window_manager.windows[0].event_simulate(type=kind, value=value, x=int(x), y=int(y), **options)
    if options:  # Blender goes on to count a simulated modifier as held, until a key without one
        press("F18", x, y)


def drag(start, way):
    window, steps = bpy.context.window_manager.windows[0], 6
    places = [(int(start[0] + way[0] * i / steps), int(start[1] + way[1] * i / steps)) for i in range(steps + 1)]
    window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=places[0][0], y=places[0][1])
    yield 0.2
    window.event_simulate(type="LEFTMOUSE", value="PRESS", x=places[0][0], y=places[0][1])
    for x, y in places:
        yield 0.15
        window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
    yield 0.7
    window.event_simulate(type="LEFTMOUSE", value="RELEASE", x=places[-1][0], y=places[-1][1])
    yield 0.5


def steps():
    window = bpy.context.window_manager.windows[0]
    area = next(each for each in window.screen.areas if each.type == "VIEW_3D")
    region = next(each for each in area.regions if each.type == "WINDOW")
    here = {"window": window, "area": area, "region": region}
    with bpy.context.temp_override(**here):
        for obj in list(bpy.data.objects):
            bpy.data.objects.remove(obj)
        bpy.ops.robokin.add_robot(robot="panda")
        bpy.ops.object.mode_set(mode="POSE")
        bpy.ops.view3d.view_all()
        bpy.ops.ed.undo_push(message="start")
    yield 2.0

    def robot():
        return bpy.context.object

    def q():
        return bridge.read_configuration(robot())

    def seen(bone):
        at = robot().matrix_world @ robot().pose.bones[bone].head
        place = location_3d_to_region_2d(region, area.spaces.active.region_3d, at)
        return region.x + place.x, region.y + place.y

    def take(name):
        with bpy.context.temp_override(**here):
            bpy.ops.wm.tool_set_by_id(name=f"robokin.{name}")

    take("grab_link")
    yield 0.7
    yield from drag((region.x + 80, region.y + 80), (30, 30))  # the window learns where the mouse is
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
    take("jog")
    yield 0.5
    before = q()
    x, y = seen("joint_4")
    press("TWO", x, y)
    yield 0.5
    for _ in range(3):
        press("L", x, y)
        yield 0.4
    found["jog"] = np.degrees(q() - before).round(3).tolist()


def run(work):
    def tick():
        try:
            return next(work)
        except StopIteration:
            pass
        except Exception:  # not lost: the test fails with it, and Blender ends in time
            found["fault"] = traceback.format_exc()
        with open(OUT, "w") as file:
            json.dump(found, file)
        bpy.ops.wm.quit_blender()
        return None

    bpy.app.timers.register(tick, first_interval=4.0)


run(steps())
