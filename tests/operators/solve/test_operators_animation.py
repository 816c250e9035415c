"""Objects moved by keys alone are computed from their F-curves; Blender's own evaluation must agree."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.scene.animation import frames as animation
from support.blender.scene_robots import add_empty

FRAMES = [1, 2, 7.25, 10, 15.5, 20, 33]


def key(obj, path, rng, frames=(1, 8, 20), spread=1.5):
    for frame in frames:
        setattr(obj, path, rng.uniform(-spread, spread, len(getattr(obj, path))) + (1.0 if path == "scale" else 0.0))
        obj.keyframe_insert(path, frame=frame)


def evaluated(scene, obj, frames):
    matrices = []
    for frame in frames:
        animation.set_frame(scene, frame)
        matrices.append(np.array(obj.matrix_world))
    return np.array(matrices)


MODES = ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "QUATERNION", "AXIS_ANGLE"]


@pytest.mark.parametrize("mode", MODES)
def test_keyed_matrices_equal_blenders(scene, mode):
    rng = np.random.default_rng(MODES.index(mode))
    parent, child = add_empty("parent"), None
    child = add_empty("child", parent)
    parent.rotation_mode, child.rotation_mode = "XYZ", mode
    parent.location, parent.scale = (1, 2, 3), (0.5, 2, 1)
    key(parent, "rotation_euler", rng)
    child.matrix_parent_inverse = parent.matrix_world.inverted()
    child.location[1] = 0.7
    child.keyframe_insert("location", index=0, frame=1)
    child.location[0] = 4.0
    child.keyframe_insert("location", index=0, frame=20)
    key(child, animation.rotation_path(child), rng)
    key(child, "scale", rng, spread=0.5)
    assert animation.moved_by_keys_only(child)
    expected = evaluated(scene, child, FRAMES)
    assert abs(expected - expected[0]).max() > 0.1
    np.testing.assert_allclose(animation.keyed_matrices(child, FRAMES), expected, atol=2e-6)


def test_curve_modifiers_and_muted_curves_are_followed(scene):
    obj = add_empty("target")
    key(obj, "location", np.random.default_rng(3))
    curves = animation.fcurves(obj)
    curves["location", 0].mute = True
    curves["location", 1].modifiers.new("CYCLES")
    key(obj, "rotation_euler", np.random.default_rng(4))
    animation.fcurves(obj)["rotation_euler", 0].group.mute = True  # says nothing to Blender
    assert animation.moved_by_keys_only(obj)
    obj.location[0] = 9.0
    expected = evaluated(scene, obj, FRAMES)
    np.testing.assert_allclose(animation.keyed_matrices(obj, FRAMES), expected, atol=2e-6)


def make_constrained(obj, other):
    obj.constraints.new("COPY_LOCATION").target = other


def make_driven(obj, other):
    obj.driver_add("location", 0).driver.expression = "frame"


def make_strips(obj, other):
    obj.keyframe_insert("location", frame=1)
    obj.animation_data.nla_tracks.new()


def make_delta(obj, other):
    obj.delta_location[2] = 1.0


def make_animated_delta(obj, other):
    obj.keyframe_insert("delta_location", frame=1)


def make_bone_child(obj, other):
    obj.parent = bpy.data.objects.new("armature", bpy.data.armatures.new("armature"))
    obj.parent_type = "BONE"


def make_constrained_parent(obj, other):
    obj.parent = add_empty("between")
    make_constrained(obj.parent, other)


@pytest.mark.parametrize(
    "make",
    [
        make_constrained,
        make_driven,
        make_strips,
        make_delta,
        make_animated_delta,
        make_bone_child,
        make_constrained_parent,
    ],
)
def test_anything_else_is_left_to_blender(scene, make):
    obj = add_empty("target")
    assert animation.moved_by_keys_only(obj)
    make(obj, add_empty("other"))
    assert not animation.moved_by_keys_only(obj)


def test_frame_handlers_send_everything_to_blender(scene):
    obj = add_empty("target")
    handler = bpy.app.handlers.frame_change_pre
    handler.append(print)
    try:
        assert not animation.moved_by_keys_only(obj)
    finally:
        handler.remove(print)


def test_the_frame_comes_back_also_when_the_visit_is_abandoned(scene):
    animation.set_frame(scene, 5.25)
    visit = animation.visit_frames(scene, range(10, 20))
    assert next(visit) == 0 and scene.frame_current == 10
    visit.close()
    assert (scene.frame_current, scene.frame_subframe) == (5, 0.25)


def test_what_blender_does_not_evaluate_is_refused(scene):
    from robokin_addon.robokin import RobokinError

    obj, layer = add_empty("target"), bpy.context.view_layer
    animation.check_evaluated(obj, layer, "task 'a'")
    obj.hide_viewport = True
    with pytest.raises(RobokinError, match="task 'a': 'target' is disabled in viewports"):
        animation.check_evaluated(obj, layer, "task 'a'")
    with pytest.raises(RobokinError, match="'lost' is disabled in viewports or outside the view layer 'ViewLayer'"):
        animation.check_evaluated(bpy.data.objects.new("lost", None), layer, "task 'a'")
    hidden = bpy.data.collections.new("hidden")
    scene.collection.children.link(hidden)
    inside = bpy.data.objects.new("inside", None)
    hidden.objects.link(inside)
    animation.check_evaluated(inside, layer, "task 'a'")
    hidden.hide_viewport = True
    with pytest.raises(RobokinError, match="'inside' is disabled"):
        animation.check_evaluated(inside, layer, "task 'a'")
