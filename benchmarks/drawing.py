"""What drawing costs in Blender's own window: pages of the sidebar, handles and overlays, and frames of a drag.

`blender --factory-startup --enable-event-simulate --python benchmarks/drawing.py -- ROBOT.urdf:TIP,TIP ...`, with the
kernel installed; each tip is given a target, in a level of its own. Times of the main thread in microseconds, medians
of redraws: of a page all that Python does in it (polls, draws, lists, values of sliders), beside it the same of
Blender's own panels and the whole redraw; of handles and overlays what is prepared, with nothing moved and with a robot
that follows its target; beside it what the driver takes to draw batches and letters, which without a graphics card
works on each vertex in the main thread. Of a drag of the first target by the mouse: frames in a second, and what each
takes.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
import traceback
from collections import defaultdict

sys.path.insert(0, __file__.rpartition("/")[0])
import checkout

checkout.load()

import bpy  # noqa: E402
import robokin_addon  # noqa: E402
from robokin_addon import panels  # noqa: E402
from robokin_addon.panels.gizmos import handle_gizmo  # noqa: E402
from robokin_addon.panels.overlays import drawing  # noqa: E402
from robokin_addon.properties.bridge import binding  # noqa: E402
from robokin_addon.properties.joint_values import joint_range  # noqa: E402
from robokin_addon.properties.pages import PAGES  # noqa: E402

REDRAWS = {"UI": 60, "WINDOW": 15}  # a view with meshes takes a second to draw without a graphics card
SECONDS = 6.0  # of a drag
OVERLAYS = ("axes", "names", "limits", "center_of_mass", "manipulability", "task_errors")
spent: dict[str, float] = defaultdict(float)
_running: list[str] = []


def timed(owner, name: str, group: str) -> None:
    """Count what a function takes, without what counted ones that it calls take."""
    real = vars(owner).get(name)
    if real is None:
        return
    is_bound = isinstance(real, classmethod)
    function = real.__func__ if is_bound else real
    counting = counted(function, group)
    if not isinstance(owner, type):
        setattr(owner, name, counting)
        return
    names = ", ".join(function.__code__.co_varnames[: function.__code__.co_argcount])  # Blender counts the arguments
    whole = eval(f"lambda {names}: counting({names})", {"counting": counting})
    setattr(owner, name, classmethod(whole) if is_bound else whole)


def counted(function, group: str):
    def counting(*arguments):
        if _running and _running[-1] == group:
            return function(*arguments)
        _running.append(group)
        begin = time.thread_time()
        try:
            return function(*arguments)
        finally:
            taken = time.thread_time() - begin
            spent[_running.pop()] += taken
            if _running:
                spent[_running[-1]] -= taken

    return counting


def count_all() -> None:
    for module in (*panels.MODULES, sys.modules[f"{panels.__name__}.prepared.robot_panel"]):
        for cls in vars(module).values():
            if isinstance(cls, type) and cls.__module__.startswith(panels.__name__):
                for name in ("poll", "draw", "draw_item", "filter_items"):
                    if not issubclass(cls, bpy.types.Gizmo | bpy.types.GizmoGroup):
                        timed(cls, name, "panels")
    for name in dir(bpy.types):
        cls = getattr(bpy.types, name)
        if name.startswith(("VIEW3D_PT_", "BONE_PT", "OBJECT_PT")) and issubclass(cls, bpy.types.Panel):
            for each in cls.__mro__:
                if each.__module__.startswith(("bl_ui", "bl_operators")):
                    for function in ("poll", "draw", "draw_header"):
                        timed(each, function, "Blender's panels")
    timed(handle_gizmo.HandleGroup, "poll", "handles")
    timed(handle_gizmo.HandleGroup, "draw_prepare", "handles")
    timed(handle_gizmo.ROBOKIN_GT_handle, "draw", "handles")
    for handlers in (bpy.app.handlers.depsgraph_update_post, bpy.app.handlers.frame_change_post):
        for i, handler in enumerate(handlers):
            if handler.__module__.startswith(robokin_addon.__name__):
                handlers[i] = counted(handler, "handlers")


def area() -> tuple:
    window = bpy.context.window_manager.windows[0]
    return window, next(each for each in window.screen.areas if each.type == "VIEW_3D")


def region(kind: str) -> bpy.types.Region:
    return next(each for each in area()[1].regions if each.type == kind)


def add(file: str, tips: list[str]) -> tuple[bpy.types.Object, bpy.types.Object]:
    """A robot alone in its scene with a Pose task of each tip; the robot, and the first target."""
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    window, own = area()
    with bpy.context.temp_override(window=window, area=own, region=region("WINDOW")):
        bpy.ops.robokin.import_urdf(filepath=file)
        obj = next(each for each in bpy.data.objects if each.type == "ARMATURE")
        bpy.context.view_layer.objects.active = obj
        for level, tip in enumerate(tips, 1):
            bpy.ops.robokin.target_add(tip=binding(obj).bone_of_link[tip], kind="POSE")
            obj.robokin.tasks[-1].priority = level
        bpy.context.view_layer.objects.active = obj
        bpy.ops.object.mode_set(mode="POSE")
        bone = obj.data.bones[binding(obj).bone_of_link[tips[0]]].parent_recursive[2]
        obj.data.bones.active = bone
        bpy.ops.view3d.view_all()
    return obj, obj.robokin.tasks[0].target


def redraws(kind: str, move) -> dict[str, float]:
    """Median of each group [us], and of the whole redraw, whose region is of a kind."""
    window, own = area()
    found = defaultdict(list)
    for i in range(REDRAWS[kind]):
        move(i)
        spent.clear()
        begin = time.thread_time()
        with bpy.context.temp_override(window=window, area=own, region=region(kind)):
            bpy.ops.wm.redraw_timer(type="DRAW_SWAP" if kind == "UI" else "DRAW", iterations=1)
        found["whole redraw"].append(time.thread_time() - begin)
        for group in ("panels", "Blender's panels", "handles", "overlays", "driver"):
            found[group].append(spent[group])
    return {group: 1e6 * statistics.median(times[3:]) for group, times in found.items()}


def told(what: str, times: dict[str, float], *groups: str) -> None:
    print(f"{what:28s}" + "   ".join(f"{group} {times[group]:6.0f}" for group in groups), flush=True)


def drag(obj: bpy.types.Object, target: bpy.types.Object, what: str):
    """The mouse goes to and fro with G, once for each turn of Blender's loop."""
    window, own = area()
    with bpy.context.temp_override(window=window, area=own, region=region("WINDOW")):
        bpy.ops.object.mode_set(mode="OBJECT")
        bpy.ops.object.select_all(action="DESELECT")
    target.select_set(True)
    bpy.context.view_layer.objects.active = target
    x, y = own.x + own.width // 2, own.y + own.height // 2
    drawn: list[tuple[float, float]] = []
    handle = bpy.types.SpaceView3D.draw_handler_add(
        lambda: drawn.append((time.perf_counter(), time.thread_time())), (), "WINDOW", "POST_PIXEL"
    )
    window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
    yield 0.5
    for value in ("PRESS", "RELEASE"):
        window.event_simulate(type="G", value=value, x=x, y=y)
    yield 1.0
    found, before, begun, i = defaultdict(list), 0, time.perf_counter(), 0
    while time.perf_counter() - begun < SECONDS:
        i += 1
        window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x + 40 - abs(i % 160 - 80), y=y)
        yield 0.0
        if len(drawn) > before:
            before = len(drawn)
            for group in ("handlers", "panels", "handles", "overlays"):
                found[group].append(spent[group])
            spent.clear()
    for value in ("PRESS", "RELEASE"):
        window.event_simulate(type="ESC", value=value, x=x, y=y)
    bpy.types.SpaceView3D.draw_handler_remove(handle, "WINDOW")
    (first, own_first), (last, own_last) = drawn[0], drawn[-1]
    times = {group: 1e6 * statistics.median(each) for group, each in found.items()}
    times["main thread"] = 1e6 * (own_last - own_first) / (len(drawn) - 1)
    print(f"  drag, {what}: {(len(drawn) - 1) / (last - first):.1f} frames a second", flush=True)
    told("    of a frame", times, "handlers", "panels", "handles", "overlays", "main thread")
    yield 0.5
    bpy.context.view_layer.objects.active = obj


def measure(file: str, tips: list[str]):
    obj, target = add(file, tips)
    settings = bpy.context.scene.robokin.overlays
    place = target.location.copy()

    def still(i: int) -> None:
        pass

    def moved(i: int) -> None:
        target.location.z = place.z + 0.004 * (i % 7)
        bpy.context.view_layer.update()

    yield 2.0
    area()[1].spaces[0].show_region_ui = True
    yield 1.0
    print(f"{obj.name}, {len(tips)} tasks", flush=True)
    for category in ("Robot", "View", "Tool", "Item"):
        region("UI").active_panel_category = category
        for page, *_ in PAGES if category == "Robot" else [("", "")]:
            bpy.context.window_manager.robokin_page = page or "POSE"
            yield 0.3
            for state, move in (("still", still), ("moved", moved)):
                own = "panels" if page else "Blender's panels"
                told(f"  {category} {page.lower()} {state}", redraws("UI", move), own, "whole redraw")
    for state, move in (("still", still), ("moved", moved)):
        for name, shown in (("handles", ()), ("six overlays", OVERLAYS)):
            for each in OVERLAYS:
                setattr(settings, each, each in shown)
            yield 0.3
            told(f"  {name} {state}", redraws("WINDOW", move), "handles", "overlays", "driver", "whole redraw")
    for each in OVERLAYS:
        setattr(settings, each, False)
    for hidden in (False, True):
        for child in obj.children_recursive:
            child.hide_viewport = hidden and child.type == "MESH"
        for live in (True, False):
            obj.robokin.live = live
            yield from drag(obj, target, f"{'live' if live else 'not live'}, {'no meshes' if hidden else 'meshes'}")


def all_of(files: list[str]):
    yield 3.0
    for each in files:
        file, _, tips = each.partition(":")
        yield from measure(file, tips.split(","))


def step() -> float | None:
    try:
        pause = next(work, None)
    except BaseException:  # of a timer Blender would only print it, and stay open
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    if pause is None:
        bpy.ops.wm.quit_blender()
    return pause


timed(joint_range, "share_of_range", "panels")
for draw in ("_draw_shapes", "_draw_labels"):
    timed(drawing, draw, "overlays")
for owner, draw in ((drawing, "_draw_batches"), (drawing, "_draw_texts"), (handle_gizmo, "_draw")):
    timed(owner, draw, "driver")
robokin_addon.register()
count_all()
bpy.context.preferences.view.show_splash = False
work = all_of(sys.argv[sys.argv.index("--") + 1 :])
bpy.app.timers.register(step, first_interval=1.0, persistent=True)
