"""The shape of a curve in a bake."""

from __future__ import annotations

import pytest
from support.blender.scene_robots import add_robot, placed
from support.blender.scene_tasks import add, bezier, frames_of_bake, shown


@pytest.fixture
def robot(scene):
    scene.frame_start, scene.frame_end = 1, 24
    return placed(add_robot(), (1, -2, 0.5), (0, 0, 0.7))


def test_the_present_frame_makes_no_difference(scene, robot):
    """Shapes are read at the first frame of the bake."""
    path = bezier(robot, (0.5, 0.0, 0.5))
    path.keyframe_insert("scale", frame=1)
    path.scale *= 1.5
    path.keyframe_insert("scale", frame=24)
    add(robot, "CURVE", path)
    found = []
    for frame in (1, 20):
        scene.frame_set(frame)
        found.append([list(shown(robot).ravel()) for _ in frames_of_bake(robot, scene)])
    assert found[0] == found[1]
