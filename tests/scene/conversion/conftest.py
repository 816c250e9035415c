"""A captured person, and a humanoid that follows."""

from __future__ import annotations

from dataclasses import replace

import addon_utils
import bpy
import pytest
from robokin_addon.properties.bridge import binding, write_configuration
from robokin_addon.robokin import RobotModel
from support.blender.scene_robots import build, model_of
from support.captures import bvh

LEGS = {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3}


@pytest.fixture
def person(scene, tmp_path):
    (tmp_path / "person.bvh").write_text(bvh())
    addon_utils.enable("io_anim_bvh")
    assert bpy.ops.import_anim.bvh(filepath=str(tmp_path / "person.bvh"), global_scale=0.01) == {"FINISHED"}
    yield bpy.context.object
    addon_utils.disable("io_anim_bvh")


@pytest.fixture
def humanoid(scene):
    model = model_of("g1_29dof_rev_1_0", root="floating")
    links = [replace(link, collisions=()) for link in model.links]  # whose hulls take seconds
    robot = build(RobotModel(model.name, links, model.joints[1:], root="floating"))
    robot.robokin.live = False
    found = binding(robot)
    values = {f"{side}_{joint}_joint": value for side in ("left", "right") for joint, value in LEGS.items()}
    write_configuration(robot, found.model.configuration(values))
    bpy.context.view_layer.update()
    return robot
