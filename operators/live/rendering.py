"""Renders show what is baked. A robot is not posed while one goes on, and one that is not baked is reported."""

from __future__ import annotations

import sys

import bpy
import numpy as np

from ...properties.bridge import binding, read_configuration
from ...properties.handlers import add_handler, remove_handler
from ...robokin import RobokinError
from ...scene.animation import frames as animation
from ...scene.animation.curves import own_keys, shown_by_keys
from ...scene.live.robots import live_robots

SHOWN_ALIKE = 1e-3  # [rad, m] keys that are nearer to the live pose than this show it
_PAUSE = 1.0  # [s] between two looks for something to tell

_rendering: list[str] = []  # names of the scenes that are rendered
_messages: list[str] = []  # reported by the main thread: a render runs in another one


def is_rendering() -> bool:
    return bool(_rendering) or bpy.app.is_job_running("RENDER")


def unbaked(scene: bpy.types.Scene, obj: bpy.types.Object) -> str:
    """Why a render does not show what Live shows; "" where it does."""
    try:
        robot = binding(obj)
        keyed = not own_keys(robot).keys().isdisjoint(animation.fcurves(obj))
        if not keyed:
            return f"{obj.name!r} follows its targets live but is not baked: a render of several frames shows no motion"
        baked = shown_by_keys(obj, [scene.frame_current_final], robot)
        if baked is None or np.allclose(baked[0], read_configuration(obj, robot), rtol=0.0, atol=SHOWN_ALIKE):
            return ""
        return f"{obj.name!r} is shown live in another pose than its keys have: the render shows the keys"
    except RobokinError:
        return ""


def watch() -> None:
    """While there are live robots, a timer reports messages in the window."""
    if not bpy.app.background and not bpy.app.timers.is_registered(_tell):
        bpy.app.timers.register(_tell, first_interval=_PAUSE)


def _tell() -> float:
    messages = list(dict.fromkeys(_messages))
    _messages.clear()
    if messages and bpy.context.window is not None:

        def draw(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
            for message in (*messages, "Bake writes the motion as keys"):
                menu.layout.label(text=message)

        bpy.context.window_manager.popup_menu(draw, title="Not baked", icon="ERROR")
    return _PAUSE


def _begin(scene: bpy.types.Scene, *_: object) -> None:
    _rendering.append(scene.name)
    for obj in live_robots(scene):
        message = unbaked(scene, obj)
        if message:
            print(f"Robokin: {message}. Bake writes the motion as keys.", file=sys.stderr)
            _messages.append(message)


def _end(*_: object) -> None:
    _rendering.clear()


_HANDLERS = (("render_init", _begin), ("render_complete", _end), ("render_cancel", _end))


def register() -> None:
    for event, handler in _HANDLERS:
        add_handler(event, handler)


def unregister() -> None:
    for event, handler in reversed(_HANDLERS):
        remove_handler(event, handler)
    if bpy.app.timers.is_registered(_tell):
        bpy.app.timers.unregister(_tell)
    _rendering.clear()
    _messages.clear()
