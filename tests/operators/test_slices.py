"""Long work on an animation that is read from its curves at once: the window is asked after every few frames."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.operators.solve.check import ROBOKIN_OT_check
from robokin_addon.operators.solve.key_columns import ROBOKIN_OT_key_dynamics
from support.blender.scene_bakes import bake
from support.blender.windows import called, window

FRAMES, FEW = 640, 64


@pytest.mark.parametrize("kind", [ROBOKIN_OT_check, ROBOKIN_OT_key_dynamics], ids=lambda cls: cls.bl_label)
def test_slices_are_short_however_long_the_animation_is(monkeypatch, robot, target, kind):
    bake(robot, frame_end=FRAMES)
    with window(monkeypatch, kind) as shown:
        operator = getattr(bpy.ops.robokin, kind.bl_idname.removeprefix("robokin."))
        assert called(operator, robot, frame_end=FRAMES) == {"FINISHED"}
    assert shown.slices > FRAMES / FEW and shown.shares == sorted(shown.shares)
