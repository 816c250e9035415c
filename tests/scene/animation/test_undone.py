"""A write that fails leaves the action as it was."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import binding, read_configuration
from robokin_addon.robokin import RobokinError
from robokin_addon.scene.animation import curves
from robokin_addon.scene.animation.curves import own_keys, write_curves
from robokin_addon.scene.animation.frames import fcurves
from robokin_addon.scene.animation.undone import whole_or_undone

FRAMES = range(1, 11)


@pytest.fixture
def keyed(scene, robot):
    write(robot, 0.1, False)
    return robot


def write(robot, value, new_action):
    Q = np.tile(read_configuration(robot), (len(FRAMES), 1))
    Q[:, 0] = value
    write_curves(robot, FRAMES, Q, new_action, binding(robot))


def shown(robot):
    found = fcurves(robot)
    return np.array([[found[key].evaluate(frame) for key in own_keys(binding(robot))] for frame in FRAMES])


@pytest.mark.parametrize("is_asset", [True, False])
@pytest.mark.parametrize("new_action", [True, False])
def test_an_action_that_is_put_back_keeps_what_it_had_beside_its_curves(keyed, is_asset, new_action):
    action = keyed.animation_data.action
    if is_asset:
        action.asset_mark()
        action.asset_data.description = "welds"
    action.use_fake_user = not is_asset
    name, actions, before = action.name, len(bpy.data.actions), shown(keyed)
    with pytest.raises(RobokinError, match="full"), whole_or_undone(keyed):
        write(keyed, 0.3, new_action)
        raise RobokinError("full")
    kept = keyed.animation_data.action
    assert kept.name == name and len(bpy.data.actions) == actions
    assert np.array_equal(shown(keyed), before)
    assert kept.use_fake_user is not is_asset
    assert is_asset == (kept.asset_data is not None and kept.asset_data.description == "welds")


@pytest.mark.parametrize("new_action", [True, False])
def test_curves_of_which_some_are_written_are_put_back(keyed, monkeypatch, new_action):
    name, actions, before, done = keyed.animation_data.action.name, len(bpy.data.actions), shown(keyed), []
    write_keys = curves.replace_keys

    def write_two(*given):
        if len(done) == 2:
            raise MemoryError
        done.append(write_keys(*given))

    monkeypatch.setattr(curves, "replace_keys", write_two)
    with pytest.raises(MemoryError):
        write(keyed, 0.3, new_action)
    assert keyed.animation_data.action.name == name and len(bpy.data.actions) == actions
    assert np.array_equal(shown(keyed), before)


def test_what_had_no_action_has_none_again(scene, robot):
    with pytest.raises(RobokinError, match="full"), whole_or_undone(robot):
        write(robot, 0.3, False)
        raise RobokinError("full")
    assert robot.animation_data.action is None and not bpy.data.actions
