"""Collision shapes of links, edited one by one in Blender: values, drags, copies, mirror images, undo of a drag."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from robokin_addon.operators.posture.drag_operator import DragOperator
from robokin_addon.operators.robot.drag_shape import ROBOKIN_OT_drag_shape
from robokin_addon.panels.gizmos.joint_gizmo import ROBOKIN_GGT_joint
from robokin_addon.panels.gizmos.shape_gizmo import HANDLES, ROBOKIN_GGT_shape
from robokin_addon.panels.gizmos.shape_handles import Tints, grips_of
from robokin_addon.properties.bridge import binding, read_configuration, world_from_root
from robokin_addon.properties.bridge.editing.link_shapes import link_shapes, put_link_shapes
from robokin_addon.properties.selected.selection import select
from robokin_addon.robokin.collision import Box, Capsule, Cylinder, Hull, Sphere
from robokin_addon.robokin.collision.core import core
from robokin_addon.robokin.kinematics import forward_kinematics
from robokin_addon.robokin.model.geometry import Geometry
from support.blender.panels import draw
from support.blender.scene_robots import add_robot

WHITE = (1.0, 1.0, 1.0, 1.0)


@pytest.fixture
def panda(scene):
    scene.unit_settings.scale_length = 0.1  # a Blender unit is 0.1 m
    obj = add_robot()
    obj.data.bones.active = obj.data.bones["panda_joint4"]
    put_link_shapes(obj, {"panda_joint4": ()})
    bpy.context.view_layer.objects.active = obj
    return obj


def shapes(obj, bone="panda_joint4"):
    return link_shapes(obj, bone)


def test_shapes_are_added_and_their_values_are_in_blender_units(panda):
    assert bpy.ops.robokin.shape_add(kind="CAPSULE") == {"FINISHED"}
    shown = panda.robokin.shape
    shown.location, shown.radius, shown.length = (1.0, 0.0, -1.0), 0.5, 2.0  # the length leaves its centre
    shown.rotation = (0.3, -0.4, 1.0)
    (found,) = shapes(panda)
    assert (found.shape.radius, found.shape.length) == pytest.approx((0.05, 0.2))
    assert found.placement[:3, 3] == pytest.approx([0.1, 0.0, -0.1])
    assert tuple(shown.rotation) == pytest.approx((0.3, -0.4, 1.0), abs=1e-6)
    bpy.ops.robokin.shape_add(kind="BOX")
    assert panda.robokin.active_shape == 1
    shown.size, shown.radius = (1.0, 2.0, 3.0), 0.2
    box = shapes(panda)[1].shape
    assert isinstance(box, Box) and box.size == pytest.approx((0.06, 0.16, 0.26)) and box.radius == pytest.approx(0.02)
    assert tuple(shown.size) == pytest.approx((1.0, 2.0, 3.0)) and shown.length == 0.0
    bpy.ops.robokin.shape_select(index=0)
    assert shown.length == pytest.approx(2.0)
    bpy.ops.robokin.shape_duplicate()
    bpy.ops.robokin.shape_remove()
    bpy.ops.robokin.shape_remove()
    assert [type(each.shape) for each in shapes(panda)] == [Capsule] and panda.robokin.active_shape == 0
    with pytest.raises(RuntimeError, match="1 collision shape, no number 5"):
        bpy.ops.robokin.shape_select(index=5)


def test_shapes_are_copied_to_the_selected_bones(panda):
    bpy.ops.robokin.shape_add(kind="SPHERE")
    for bone in panda.pose.bones:
        select(bone, bone.name in ("panda_joint4", "panda_joint5", "panda_joint6"))
    bpy.ops.robokin.shapes_copy()
    assert [len(shapes(panda, f"panda_joint{k}")) for k in (4, 5, 6)] == [1, 1, 1]
    with pytest.raises(RuntimeError, match="has no collision shape"):
        put_link_shapes(panda, {"panda_joint4": ()})
        bpy.ops.robokin.shapes_copy()


def test_shapes_are_mirrored_to_the_other_side(scene):
    assert bpy.ops.robokin.add_robot(robot="humanoid") == {"FINISHED"}
    obj = bpy.context.object
    robot = binding(obj)
    left = "left_elbow"
    T = np.eye(4)
    T[:3, 3] = 0.02, 0.03, 0.1
    T[:3, :3] = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    T[:3, 0] *= np.linalg.det(T[:3, :3])
    hull = Hull(np.random.default_rng(2).normal(size=(6, 3)) * 0.05)
    put_link_shapes(obj, {left: [Geometry(Cylinder(0.05, 0.2), T), Geometry(hull, T)]})
    obj.data.bones.active = obj.data.bones[left]
    for bone in obj.pose.bones:
        select(bone, bone.name == left)
    assert bpy.ops.robokin.shapes_mirror() == {"FINISHED"}
    robot = binding(obj)
    other = "right_elbow"
    placed = forward_kinematics(robot.model, robot.model.neutral())

    def corners(bone):
        link = placed[robot.link_of_bone[bone]]
        found = [
            core(each.shape).points @ (link @ each.placement)[:3, :3].T + (link @ each.placement)[:3, 3]
            for each in link_shapes(obj, bone)
        ]
        points = np.concatenate(found)
        return points[np.lexsort(points.round(6).T)]

    image = corners(other) * (1.0, -1.0, 1.0)
    assert image[np.lexsort(image.round(6).T)] == pytest.approx(corners(left), abs=1e-6)
    assert all(np.linalg.det(each.placement[:3, :3]) > 0.0 for each in link_shapes(obj, other))


def test_the_handles_are_where_the_shape_is(panda):
    T = np.diag([10.0, 10.0, 10.0, 1.0])
    tints = Tints(WHITE, WHITE, (WHITE,) * 3, WHITE)
    box = Geometry(Box((0.2, 0.4, 0.6)))
    body, *grips = grips_of(box, T, 0.01, tints)
    found = {each.operates[1]["handle"]: each for each in grips}
    assert body.operates is None and not len(body.grip) and len(found) == HANDLES - 1
    assert found["Y_NEGATIVE"].grip == pytest.approx(np.array([[0.0, -2.0, 0.0]]))
    assert found["MOVE_Z"].grip[:, 2].min() > 3.0  # beyond the shape
    ball = grips_of(Geometry(Sphere(0.3)), T, 0.01, tints)
    assert ball[1].grip == pytest.approx(np.array([[3.0, 0.0, 0.0]]))


def test_the_gizmo_is_there_when_it_is_switched_on(panda, scene):
    bpy.ops.object.mode_set(mode="POSE")
    assert ROBOKIN_GGT_joint.poll(bpy.context) and not ROBOKIN_GGT_shape.poll(bpy.context)
    scene.robokin.overlays.shape_gizmo = True
    assert ROBOKIN_GGT_shape.poll(bpy.context) and not ROBOKIN_GGT_joint.poll(bpy.context)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert ROBOKIN_GGT_shape.poll(bpy.context)


class Drag:
    """The operator's own methods with a mouse that looks along the shape's Y."""

    def __init__(self, obj, handle):
        parts = vars(DragOperator) | vars(ROBOKIN_OT_drag_shape)
        self.operator = type("Stand", (), {name: part for name, part in parts.items() if callable(part)})()
        vars(self.operator).update(handle=handle, value=0.0, report=lambda *_: None)
        robot = binding(obj)
        self.link = np.array(obj.matrix_world @ obj.pose.bones["panda_joint4"].matrix)
        world = world_from_root(obj)
        world[:3] /= robot.metres_per_unit
        name = robot.link_of_bone["panda_joint4"]
        (geometry,) = shapes(obj)
        self.T = world @ forward_kinematics(robot.model, read_configuration(obj))[name] @ geometry.placement
        self.operator.ray = lambda context, event: (np.array(event.at), np.array(event.way))
        texts = SimpleNamespace(header_text_set=self.tell, status_text_set=lambda text: None)
        modal = SimpleNamespace(modal_handler_add=lambda operator: None)
        own = {"scene": bpy.context.scene, "object": obj, "view_layer": bpy.context.view_layer}
        self.context = SimpleNamespace(**own, area=texts, workspace=texts, window_manager=modal)
        assert self.operator.invoke(self.context, self.event("LEFTMOUSE", 0.0)) == {"RUNNING_MODAL"}

    def tell(self, text):
        self.told = text or self.told

    def event(self, kind, along, value="PRESS", ctrl=False, shift=False):
        """along: [m] of the shape's own Z."""
        at = self.T @ [0.0, -1.0, along, 1.0]
        way = self.T[:3, 1]
        character = {"THREE": "3"}.get(kind, "")
        held = {"ctrl": ctrl, "shift": shift, "mouse_region_x": 500.0 * along, "mouse_region_y": 0}
        return SimpleNamespace(type=kind, value=value, unicode=character, **held, at=at[:3], way=way)

    def send(self, *events):
        for kind, along, options in events:
            self.outcome = self.operator.modal(self.context, self.event(kind, along, **options))
        return self.outcome


def test_a_drag_snaps_is_finer_typed_and_cancelled(panda):
    bpy.ops.robokin.shape_add(kind="CYLINDER")
    panda.robokin.shape.radius, panda.robokin.shape.length = 0.5, 2.0
    panda.robokin.shape.rotation = (0.3, -0.4, 1.0)
    drag = Drag(panda, "TOP")
    drag.send(("MOUSEMOVE", 0.047, {}))
    assert shapes(panda)[0].shape.length == pytest.approx(0.247, abs=1e-6)
    assert "Length" in drag.told and "panda_joint4" in drag.told
    drag.send(("MOUSEMOVE", 0.047, {"ctrl": True}))
    assert shapes(panda)[0].shape.length == pytest.approx(0.25, abs=1e-9)
    drag.send(("MOUSEMOVE", 0.147, {"shift": True}))
    assert shapes(panda)[0].shape.length == pytest.approx(0.257, abs=1e-6)
    assert drag.send(("ESC", 0.1, {})) == {"CANCELLED"}
    assert shapes(panda)[0].shape.length == pytest.approx(0.2)
    drag = Drag(panda, "BOTTOM")
    drag.send(("MOUSEMOVE", -0.05, {}), ("THREE", -0.05, {}))
    assert drag.send(("RET", -0.05, {})) == {"FINISHED"} and drag.operator.value == pytest.approx(30.0)  # 3 m
    assert shapes(panda)[0].shape.length == pytest.approx(3.0)
    assert shapes(panda)[0].placement[:3, 3] == pytest.approx(-1.4 * shapes(panda)[0].placement[:3, 2], abs=1e-6)


def test_an_obstacle_that_is_selected_has_a_button(panda):
    wall = bpy.data.objects.new("Wall", bpy.data.meshes.new("Wall"))
    bpy.context.scene.collection.objects.link(wall)
    assert "robokin.obstacle" not in draw(object=wall)["ROBOKIN_PT_robot"]["operators"]
    wall.select_set(True)
    for is_obstacle in (False, True):
        wall.robokin.is_obstacle = is_obstacle
        drawn = draw(object=wall)["ROBOKIN_PT_robot"]
        assert "robokin.obstacle" in drawn["operators"] and "Wall" in drawn["labels"]
    wall.parent = panda  # a link of it
    assert "robokin.obstacle" not in draw(object=wall)["ROBOKIN_PT_robot"]["operators"]


def test_each_handle_of_a_shape_says_what_a_drag_does():
    said = [item.description for item in bpy.ops.robokin.drag_shape.get_rna_type().properties["handle"].enum_items]
    assert all(text.startswith(("Moves", "Changes")) for text in said) and len(set(said)) == len(said)
