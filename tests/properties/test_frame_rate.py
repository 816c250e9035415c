"""How long a frame is, also in a file that says nonsense."""

from __future__ import annotations

import math
from types import SimpleNamespace

import bpy
import pytest
from robokin_addon.properties.frame_rate import frame_seconds
from robokin_addon.robokin import RobokinError


def test_the_seconds_of_a_frame(scene: bpy.types.Scene) -> None:
    scene.render.fps, scene.render.fps_base = 30, 1.001
    assert frame_seconds(scene) == pytest.approx(1.001 / 30, rel=1e-7)


@pytest.mark.parametrize(("fps", "base"), [(0, 1.0), (-3, 1.0), (24, 0.0), (24, math.nan), (24, math.inf)])
def test_a_rate_that_only_a_damaged_file_has(fps: int, base: float) -> None:
    """Blender itself does not let it be set."""
    damaged = SimpleNamespace(name="Scene", render=SimpleNamespace(fps=fps, fps_base=base))
    with pytest.raises(RobokinError, match=r"scene 'Scene': the frame rate is .*: set it in Output Properties"):
        frame_seconds(damaged)
