"""Which robot is meant by what is selected, whatever was added, renamed, moved or removed since it was asked last."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.properties.selected import active_robot as active
from support.blender.scene_robots import add_empty, add_robot, add_target


def meant(obj):
    with bpy.context.temp_override(object=obj):
        return active.active_robot(bpy.context)


@pytest.fixture
def other(scene):
    """Nobody's."""
    other = add_empty("other")
    assert meant(other) is None
    return other


def test_parts_and_targets_mean_their_robot(scene, other):
    first, second = add_robot(), add_robot()
    targets = [add_target(robot) for robot in (first, second)]
    assert [meant(target) for target in targets] == [first, second]
    part = add_empty("part", add_empty("held", second))
    assert meant(part) == second and meant(first) == first and meant(other) is None


@pytest.mark.parametrize("updates", [True, False])
def test_what_has_changed_since_counts(scene, other, updates):
    def after():
        if updates:
            bpy.context.view_layer.update()

    after()
    robot = add_robot()
    after()
    target = add_target(robot)
    assert meant(target) == robot
    robot.name = "renamed"
    assert meant(target) == robot
    robot.robokin.tasks[0].target = other
    assert meant(target) is None and meant(other) == robot
    bpy.data.objects.remove(robot)
    after()
    assert meant(other) is None


def test_robots_of_another_scene_are_not_meant(scene, other):
    robot = add_robot()
    target = add_target(robot)
    elsewhere = bpy.data.scenes.new("elsewhere")
    elsewhere.collection.objects.link(target)
    assert meant(target) == robot
    with bpy.context.temp_override(scene=elsewhere, object=target):
        assert active.active_robot(bpy.context) is None
        elsewhere.collection.objects.link(robot)
        assert active.active_robot(bpy.context) == robot


def test_another_file_has_other_robots(scene, tmp_path):
    robot = add_robot()
    target = add_target(robot)
    assert meant(target) == robot
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert meant(add_empty("alone")) is None


def test_a_redraw_does_not_look_at_all_objects_anew(scene, other, monkeypatch):
    """As the panels and buttons of a sidebar ask, one after the other; names are swapped in between."""
    monkeypatch.setattr(active, "_objects", {})  # of other files, that tests before have opened
    first, second = add_robot(), add_robot()
    targets = [add_target(robot) for robot in (first, second)]
    assert meant(other) is None
    kept = dict(active._objects)
    assert sorted(len(names) for names in kept.values()) == [1, 1]
    monkeypatch.setattr(active, "_objects", watched := Watched(kept))
    assert meant(other) is None and [meant(target) for target in targets] == [first, second]
    assert not watched.written
    first.name, second.name = "swapped", first.name
    assert [meant(target) for target in targets] == [first, second] and watched.written


class Watched(dict):
    written = False

    def __setitem__(self, key, value):
        self.written = True
        super().__setitem__(key, value)
