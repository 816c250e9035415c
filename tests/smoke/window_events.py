"""Simulated events in Blender's window, for the scripts that `test_window.py` runs there."""

import importlib
import json
import shutil
import subprocess
import traceback

import addon_utils
import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d


def press(kind, x, y, **options):
    for value in ("PRESS", "RELEASE"):
        bpy.context.window_manager.windows[0].event_simulate(type=kind, value=value, x=int(x), y=int(y), **options)
    if options:  # Blender goes on to count a simulated modifier as held, until a key without one
        press("F18", x, y)


def move(start, way):
    """The mouse goes along `way` from `start`; each yield is a time to wait [s]."""
    window, count = bpy.context.window_manager.windows[0], 6
    for i in range(count + 1):
        x, y = (int(start[k] + way[k] * i / count) for k in range(2))
        window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
        yield 0.15


def drag(start, way):
    window = bpy.context.window_manager.windows[0]
    window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=int(start[0]), y=int(start[1]))
    yield 0.2
    window.event_simulate(type="LEFTMOUSE", value="PRESS", x=int(start[0]), y=int(start[1]))
    yield from move(start, way)
    yield 0.7
    window.event_simulate(type="LEFTMOUSE", value="RELEASE", x=int(start[0] + way[0]), y=int(start[1] + way[1]))
    yield 0.5


def hold(key, start, way):
    """A key that begins a drag, and the mouse moved; it goes on."""
    press(key, *start)
    yield 0.3
    yield from move(start, way)
    yield 0.5


class View:
    """The first 3D view, with the extension of a name enabled."""

    def __init__(self, module):
        addon_utils.enable(module)
        self.bridge = importlib.import_module(f"{module}.properties.bridge")
        self.selection = importlib.import_module(f"{module}.properties.selected.selection")
        self.active_shape = importlib.import_module(f"{module}.properties.selected.active_shape").active_shape
        self.placements = importlib.import_module(f"{module}.robokin").forward_kinematics
        bpy.context.preferences.view.show_splash = False
        self.find()

    def find(self):
        """The view of the file that is open."""
        self.window = bpy.context.window_manager.windows[0]
        self.area = next(each for each in self.window.screen.areas if each.type == "VIEW_3D")
        self.region = next(each for each in self.area.regions if each.type == "WINDOW")

    @property
    def here(self):
        return {"window": self.window, "area": self.area, "region": self.region}

    def call(self, operator, **options):
        with bpy.context.temp_override(**self.here):
            return operator(**options)

    def invoke(self, operator, **options):
        """As a button calls it."""
        with bpy.context.temp_override(**self.here):
            return operator("INVOKE_DEFAULT", **options)

    def clear(self):
        for obj in list(bpy.data.objects):
            bpy.data.objects.remove(obj)

    def select(self, obj):
        for other in bpy.context.view_layer.objects:
            other.select_set(other == obj)
        bpy.context.view_layer.objects.active = obj

    def sidebar(self, tab):
        self.area.spaces.active.show_region_ui = True
        yield 1.0
        region = next(each for each in self.area.regions if each.type == "UI")
        for y in range(region.y + region.height - 20, region.y, -20):  # Blender 4 takes it from a click alone
            if region.active_panel_category == tab:
                break
            x = region.x + region.width - 8
            yield from self.settle((x, y))
            for value in ("PRESS", "RELEASE"):
                self.window.event_simulate(type="LEFTMOUSE", value=value, x=x, y=y)
                yield 0.2
        yield 0.5

    def settle(self, place):
        """The window learns where the mouse is."""
        self.window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=int(place[0]), y=int(place[1]))
        yield 0.5

    def seen(self, point):
        """[pixels] of the window at which a point of the world is."""
        place = location_3d_to_region_2d(self.region, self.area.spaces.active.region_3d, point)
        return self.region.x + place.x, self.region.y + place.y

    def picture(self, path, *how):
        """Of the whole window, as X shows it, or as the options of ImageMagick say. Made where that is installed."""
        for _ in range(3):  # panels grow and shrink over several redraws
            for area in self.window.screen.areas:
                area.tag_redraw()
            yield 0.7
        if shutil.which("import"):
            how = [*(how or ("-resize", "75%")), "+dither", "-colors", "160"]
            subprocess.run(["import", "-window", "root", *how, f"PNG8:{path}"], check=True)

    def q(self, obj):
        return self.bridge.read_configuration(obj)


def run(work, found, out):
    """The work goes on after each time that it yields [s]; then what was found is written, and Blender ends."""

    def tick():
        try:
            return next(work)
        except StopIteration:
            pass
        except Exception:  # not lost: the test fails with it, and Blender ends in time
            found["fault"] = traceback.format_exc()
        with open(out, "w") as file:
            json.dump(found, file)
        bpy.ops.wm.quit_blender()
        return None

    bpy.app.timers.register(tick, first_interval=4.0, persistent=True)
