"""What is read of a robot for what is drawn of it."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.panels.overlays import robot_view
from robokin_addon.panels.overlays.scene_view import PARTS, SceneOverlays
from robokin_addon.panels.shapes.lines import ROUND
from robokin_addon.robokin import read_urdf_text
from support.blender.scene_robots import add_robot, build

_TWO_LINKS = """<robot name="two"><link name="a"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="b"/><link name="c"/>
<joint name="ab" type="continuous"><parent link="a"/><child link="b"/><origin xyz="0 0 {reach}"/></joint>
<joint name="bc" type="continuous"><parent link="b"/><child link="c"/><origin xyz="0 0 {reach}"/></joint></robot>"""


@pytest.mark.parametrize("size", [0.02, 1.0, 30.0])
def test_the_mark_of_the_center_of_mass_is_small_beside_the_robot(scene, size):
    """That of a hand of 2 cm was as large as its palm."""
    build(read_urdf_text(_TWO_LINKS.format(reach=0.5 * size)))
    for name in PARTS:
        setattr(scene.robokin.overlays, name, name == "center_of_mass")
    overlays = SceneOverlays()
    bpy.context.view_layer.update()
    overlays.look(bpy.context)
    ball = overlays.lines[0][: 6 * ROUND]
    assert 0.01 * size < np.ptp(ball, axis=0).max() < 0.1 * size


def test_frames_of_joints_are_found_only_for_what_shows_them(scene, monkeypatch):
    """Errors of tasks are shown by default: a drag pays for no more than these."""
    robot, overlays = add_robot(), SceneOverlays()
    found = []
    real = robot_view.motion_frames
    monkeypatch.setattr(robot_view, "motion_frames", lambda *given: found.append(1) or real(*given))
    for names, count in ((("task_errors", "center_of_mass"), 0), (("axes", "limits", "names"), 1)):
        for name in PARTS:
            setattr(scene.robokin.overlays, name, name in names)
        found.clear()
        for turn in (0.1, 0.2):
            robot.pose.bones["panda_joint4"].rotation_euler[1] -= turn
            bpy.context.view_layer.update()
            overlays.look(bpy.context)
        assert len(found) == 2 * count
