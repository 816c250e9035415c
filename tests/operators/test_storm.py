"""Random edits of robots, one after the other: nothing raises, and what is recorded of other bones stays."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest
from robokin_addon.operators.handlers import criterion_readouts
from robokin_addon.properties.bridge import is_robot
from robokin_addon.properties.bridge.editing.records import bone_record
from robokin_addon.properties.bridge.record.stored import KEY
from robokin_addon.properties.bridge.record.writing import write_record
from robokin_addon.properties.handlers import reported_faults
from robokin_addon.robokin import RobokinError
from support.blender.drawing import while_blender_draws
from support.blender.panels import draw
from support.blender.storm import Storm
from support.blender.storm_edits import in_scene_units, readable
from support.hostile.fuzzing import SEED, TIMES, VARIABLE

STEPS = round(300 * TIMES)


def records() -> dict[tuple[str, str], object]:
    """What every bone of every robot is as a joint and link, its edited fields included; but for the names in it of
    other joints, which follow these, and for where the bone was, which is read anew where it was moved."""
    found: dict[tuple[str, str], object] = {}
    for armature in bpy.data.armatures:
        for bone in armature.bones:
            if KEY in bone:
                found[armature.name, bone.name] = _own(bone)
    return found


def _own(bone: bpy.types.Bone) -> object:
    try:
        data = json.loads(write_record(bone_record(bone)))
    except RobokinError:
        return str(bone[KEY])
    data["rest"] = data["joint"]["placement"] = data["joint"]["mimic"] = data["joint"]["drive"] = None
    return data


@pytest.mark.slow
def test_a_storm_of_edits(scene, tmp_path, monkeypatch, capfd):
    while_blender_draws(monkeypatch)
    rng = np.random.default_rng(SEED)
    storm = Storm(rng, tmp_path)
    bpy.context.view_layer.update()
    capfd.readouterr()
    waiting: set[str] | None = set()  # bones whose edits may not be in their records yet; None: all
    drawn = 0
    for number in range(STEPS):
        before = records()
        touched = storm.step()
        waiting = None if waiting is None or touched is None else waiting | touched
        for obj in bpy.context.view_layer.objects:
            obj.update_tag()
        bpy.context.view_layer.update()
        told = f"{VARIABLE}={SEED}, step {number}: {storm.log[-4:]}"
        after = records()
        for key in before.keys() & after.keys() if waiting is not None else ():
            assert key[1] in waiting or before[key] == after[key], (told, key)
        robots = filter(is_robot, bpy.context.view_layer.objects)
        if all(readable(robot) and in_scene_units(robot) for robot in robots):
            waiting = set()
        robot = storm.robot()
        if robot is not None and rng.random() < 0.7:
            drawn += 1
            draw(object=robot, active_object=robot)
            criterion_readouts._compute_waiting()
        assert reported_faults() == [], told
        printed = capfd.readouterr().err
        assert "Traceback" not in printed, (told, printed)
    assert drawn > 0.3 * STEPS
