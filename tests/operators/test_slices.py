"""Long work asks the window after every few frames of an animation that is read from its curves at once, and after each
part of a mesh."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.operators.robot.collisions import ROBOKIN_OT_fit_collisions
from robokin_addon.operators.solve.check import ROBOKIN_OT_check
from robokin_addon.operators.solve.key_columns import ROBOKIN_OT_key_dynamics
from robokin_addon.properties.bridge.editing.link_shapes import link_shapes
from support.blender.scene_bakes import bake
from support.blender.scene_robots import TOOL
from support.blender.windows import called, window

FRAMES, FEW = 640, 64


@pytest.mark.parametrize("kind", [ROBOKIN_OT_check, ROBOKIN_OT_key_dynamics], ids=lambda cls: cls.bl_label)
def test_slices_are_short_however_long_the_animation_is(monkeypatch, robot, target, kind):
    bake(robot, frame_end=FRAMES)
    with window(monkeypatch, kind) as shown:
        operator = getattr(bpy.ops.robokin, kind.bl_idname.removeprefix("robokin."))
        assert called(operator, robot, frame_end=FRAMES) == {"FINISHED"}
    assert shown.slices > FRAMES / FEW and shown.shares == sorted(shown.shares)


def test_each_convex_part_of_a_mesh_is_made_in_slices_of_its_own(monkeypatch, robot):
    """A cut, the points of the part and the hull around them: minutes for the fine meshes of an arm."""
    bpy.ops.mesh.primitive_torus_add(major_radius=0.1, minor_radius=0.02)
    bpy.context.object.parent, bpy.context.object.parent_type = robot, "BONE"
    bpy.context.object.parent_bone = TOOL
    bpy.context.view_layer.update()
    with window(monkeypatch, ROBOKIN_OT_fit_collisions) as shown:
        assert called(bpy.ops.robokin.fit_collisions, robot, shape="PARTS") == {"FINISHED"}
    parts = link_shapes(robot, TOOL)
    assert len(parts) > 3 and shown.slices > 2.9 * len(parts) and shown.shares == sorted(shown.shares)
