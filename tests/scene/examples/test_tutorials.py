"""The tutorials of the main paper's two examples: the script of a page is run, and stands for the tables above it."""

from __future__ import annotations

import re
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector
from support.blender.scene_tasks import shown

DOCS = Path(__file__).resolve().parents[3] / "docs"
NEAR = 1e-4  # [m] at frames and half frames


def followed(page: str) -> bpy.types.Object:
    """The robot after the script of a page; each number of it is in the prose, as metres, degrees or a frame."""
    text = (DOCS / page).read_text("utf-8")
    (script,) = re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    prose = text.replace(script, "")
    missing = {
        n for n in re.findall(r"(?<![\w.])\d+\.?\d*", script) if not re.search(rf"(?<![\d.]){float(n):g}(?!\d)", prose)
    }
    assert missing <= {"0.0", "1", "1.0"}, missing
    exec(compile(script, page, "exec"), {"__name__": "page"})
    robot = bpy.context.object
    solver = robot.robokin.solver
    assert solver.bake_status == "CONVERGED", solver.bake_reason
    assert solver.check_passed, solver.check_summary
    return robot


def halves():
    scene = bpy.context.scene
    for half in range(2, 2 * scene.frame_end + 1):
        scene.frame_set(half // 2, subframe=half % 2 / 2.0)
        yield half / 2.0


@pytest.mark.slow
def test_two_laser_circles(scene):
    robot = followed("tutorial-lasers.md")
    away = []
    for _ in halves():
        found = []
        for task in robot.robokin.tasks:
            beam = Matrix.LocRotScale(Vector(task.offset_location), Euler(task.offset_rotation), None)
            T = np.linalg.inv(np.array(task.target.matrix_world)) @ shown(robot, "tool_joint") @ np.array(beam)
            found.append(T[:2, 3] - T[2, 3] / T[2, 2] * T[:2, 2])
        away.append(found)
    away = np.array(away)
    assert abs(np.linalg.norm(away, axis=2) - (0.2, 0.12)).max() < NEAR
    turned = np.unwrap(np.arctan2(away[:, :, 1], away[:, :, 0]), axis=0)
    turns = abs(turned[-1] - turned[0]) / (2.0 * np.pi)
    assert turns == pytest.approx((16 * 0.08 / (2 * np.pi * 0.2), 16 * 0.1 / (2 * np.pi * 0.12)), rel=2e-3)


def test_a_door(scene):
    robot = followed("tutorial-door.md")
    for _ in halves():
        for task in robot.robokin.tasks:
            assert np.linalg.norm(shown(robot, task.tip)[:3, 3] - np.array(task.target.matrix_world)[:3, 3]) < NEAR
    leaf = bpy.data.objects["Leaf"]
    assert leaf.matrix_world.to_euler().z == pytest.approx(np.radians(88.0), abs=1e-5)
