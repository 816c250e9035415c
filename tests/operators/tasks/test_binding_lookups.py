"""Looking at the armature takes most of the time of a small edit: how often one looks."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.operators.robot.limits_from_arc import ROBOKIN_OT_limits_from_arc
from robokin_addon.operators.tasks.tasks import ROBOKIN_OT_target_add, ROBOKIN_OT_task_add
from robokin_addon.properties.bridge.model import binding as bindings
from support.blender.scene_robots import TOOL, add_robot


@pytest.fixture
def lookups(scene, monkeypatch):
    """Counts the looks at a robot's armature while the operator itself works, no handler."""
    bpy.context.view_layer.objects.active = add_robot()
    bpy.context.view_layer.update()
    real, count = bindings.armature_content, []

    def of_run(cls):
        run = cls.run

        def counted(*given):
            monkeypatch.setattr(bindings, "armature_content", lambda obj: (count.append(obj), real(obj))[1])
            try:
                return run(*given)
            finally:
                monkeypatch.setattr(bindings, "armature_content", real)

        monkeypatch.setattr(cls, "run", counted)
        return count

    return of_run


def test_a_task_takes_one(lookups) -> None:
    count = lookups(ROBOKIN_OT_task_add)
    assert bpy.ops.robokin.task_add(kind="POSE", tip=TOOL) == {"FINISHED"}
    assert len(count) == 1


def test_a_target_takes_one(lookups) -> None:
    count = lookups(ROBOKIN_OT_target_add)
    assert bpy.ops.robokin.target_add(kind="POSE", tip=TOOL) == {"FINISHED"}
    # The update of the view layer is in between, and finds the binding held.
    assert len(count) == 1


def test_limits_take_one_and_one_for_each_field_that_changes_the_armature(lookups) -> None:
    count = lookups(ROBOKIN_OT_limits_from_arc)
    assert bpy.ops.robokin.limits_from_arc(bone="panda_joint2") == {"FINISHED"}
    assert len(count) == 1 + 4  # both bounds, and both switches that say that they count
