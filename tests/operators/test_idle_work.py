"""Work for when Blender is idle, of which undo takes away what it would look at."""

from __future__ import annotations

import bpy
from robokin_addon.operators.idle_work import IdleWork
from support.blender.scene_robots import add_robot


def test_the_timer_ends_where_undo_took_the_work_away(scene):
    robot, work = add_robot(), IdleWork("test")
    work.register()
    try:
        bpy.ops.ed.undo_push(message="before")
        bpy.ops.ed.undo_push(message="after")
        assert work.result(robot, "name", 1, lambda: iter([0.5])) is None
        bpy.ops.ed.undo()
        assert work._go_on() is None and work.count == 0
    finally:
        work.unregister()
