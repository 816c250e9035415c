"""An operation looks its robot up once and passes it on."""

from __future__ import annotations

from collections import Counter

import bpy
import pytest
from robokin_addon.properties.bridge.model import binding as bindings
from robokin_addon.scene.bake.bake import bake_steps
from robokin_addon.scene.bake.check import check_steps
from robokin_addon.scene.bake.moves import moves_steps
from robokin_addon.scene.bake.retime import retime_steps
from robokin_addon.scene.bake.smooth import smooth_steps
from robokin_addon.scene.posing.solve import solve_steps
from robokin_addon.scene.tasks.present_postures import present_postures
from robokin_addon.solvers.progress import finish
from support.blender.scene_robots import add_target, circle

FRAMES = range(1, 7)
STEPS = {
    "solve": lambda robot: solve_steps(bpy.context, robot, 0),
    "postures": lambda robot: present_postures(bpy.context, robot),
    "bake": lambda robot: bake_steps(bpy.context.scene, bpy.context.view_layer, robot, FRAMES, None),
    "check": lambda robot: check_steps(bpy.context.scene, bpy.context.view_layer, robot, FRAMES, efforts=True),
    "smooth": lambda robot: smooth_steps(bpy.context.scene, robot, FRAMES, 0.0),
    "retime": lambda robot: retime_steps(bpy.context.scene, robot, 1, 6),
    "moves": lambda robot: moves_steps(bpy.context.scene, robot, 10),
}


@pytest.fixture
def looked(monkeypatch):
    """How often the contents of each armature were looked at."""
    found, content = Counter(), bindings.armature_content

    def counted(obj):
        found[obj.name] += 1
        return content(obj)

    monkeypatch.setattr(bindings, "armature_content", counted)
    return found


def test_each_operation_looks_its_robot_up_once(scene, robot, looked):
    circle(add_target(robot), 6)
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.move_add(kind="JOINT")
        bpy.ops.robokin.move_add(kind="LINE")
    counts = {}
    for name, steps in STEPS.items():
        looked.clear()
        finish(steps(robot))
        counts[name] = looked[robot.name]
    assert counts == dict.fromkeys(STEPS, 1)
