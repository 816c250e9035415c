"""How a robot stands and is seen when it has just been made: in a natural pose, on the ground, in the view."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Vector

from ...properties.bridge import Binding, binding, read_configuration, write_configuration
from ...properties.postures import home_posture, posture_configuration, store_posture
from ...properties.results.result_text import quantity_text
from ...robokin import RobotModel, clamp
from ...robokin.arrays import Array
from ...robokin.spatial import quaternion
from ...robokin.structure.bodies import rigid_bodies
from ...robokin.structure.natural_root import Y, feet, up_axis, wheels
from ...scene.bake.start import own_values
from ...scene.contacts import foot_corners
from ...solvers.ik.natural_pose import natural_configuration

HOME = "Home"
ROOM = 1.4  # of the robot's size on the screen, which the view shows at least
SUNK = 0.05  # of the robot's height: what reaches farther into the ground does not belong there


def stand(context: bpy.types.Context, obj: bpy.types.Object) -> None:
    """Take the home posture; where there is none, the stored one that says most, or a natural pose, which is home from
    then on. A home of zeros says nothing: it is kept, and the pose is a natural one. A floating base comes down to the
    ground, the XY plane of the object. Where the base does not move, but knees do, the object comes down."""
    robot = binding(obj)
    model = robot.model
    home = home_posture(obj) or _fullest_posture(obj, model)
    q = zero = clamp(model, model.neutral())
    if home is not None:
        q = posture_configuration(model, home)
    if np.array_equal(q, zero):
        corners: dict[str, Array] = {}
        for link, points in foot_corners(obj, robot):
            name = model.links[link].name
            corners[name] = np.vstack((corners.get(name, points), points))
        q = natural_configuration(model, corners)
    write_configuration(obj, q, robot)
    context.view_layer.update()
    if model.root == "floating":
        if up_axis(model) == Y:
            q[3:7] = quaternion.exp(np.array([0.5 * np.pi, 0.0, 0.0]))
            write_configuration(obj, q, robot)
            context.view_layer.update()
        inverse = obj.matrix_world.inverted()
        lowest = min((inverse @ point).z for point in _points(obj))
        q[2] -= lowest * context.scene.unit_settings.scale_length
        write_configuration(obj, q, robot)
        context.view_layer.update()
    elif feet(model):
        obj.location.z -= max(min(point.z for point in _points(obj)) - obj.matrix_world.translation.z, 0.0)
        context.view_layer.update()
    home = home or store_posture(obj, model, HOME, own_values(model, read_configuration(obj, robot)))
    obj.robokin.home_posture = home.name


def raise_onto_ground(context: bpy.types.Context, obj: bpy.types.Object) -> list[str]:
    """Raise a robot that stands far in the ground, the height of its object; one line that says so."""
    depth = _depth(obj, binding(obj))
    if depth <= 0.0:
        return []
    obj.location.z += depth
    context.view_layer.update()
    raised = quantity_text(context.scene, "LENGTH", depth * context.scene.unit_settings.scale_length)
    return [f"raised by {raised}, onto the ground"]


def _depth(obj: bpy.types.Object, robot: Binding) -> float:
    """How far [Blender units] a robot is to be raised; 0 where the ground is right. One that drives stands on its
    wheels, a base without that moves on all that it wears, and so does what has feet. Another fixed one stands on what
    does not move, unless something that moves is lower: that hangs, as from a ceiling."""
    model, bodies = robot.model, rigid_bodies(robot.model).of
    own = {bodies[link] for link in wheels(model)} or {model.root_link.name}
    standing: list[float] = []
    others: list[float] = []
    for child in _worn(obj):
        link = robot.link_of_bone.get(robot.own_bone(child.parent_bone), "")
        (standing if bodies.get(link) in own else others).extend(point.z for point in _corners(child))
    heights = [*standing, *others]
    foot = min(standing if standing and wheels(model) else heights, default=0.0)
    stands = heights if model.root != "fixed" or feet(model) else standing and min(standing) <= foot
    depth = obj.matrix_world.translation.z - foot
    return depth if stands and depth > SUNK * np.ptp(heights) else 0.0


def _fullest_posture(obj: bpy.types.Object, model: RobotModel) -> bpy.types.PropertyGroup | None:
    """The stored posture that poses most joints away from zero; None where none poses half of them."""
    counts = [(int(np.count_nonzero(posture_configuration(model, item))), item) for item in obj.robokin.postures]
    count, item = max(counts, key=lambda each: each[0], default=(0, None))
    return item if 2 * count >= model.nv else None


def show(context: bpy.types.Context, obj: bpy.types.Object) -> list[str]:
    """Let the 3D views of the window show the robot; one line for each thing that was put out of its way."""
    points = np.array(_points(obj))
    low, high = points.min(axis=0), points.max(axis=0)
    for area in context.window.screen.areas if context.window is not None else ():
        view = getattr(area.spaces.active, "region_3d", None)
        if area.type == "VIEW_3D" and view is not None and view.view_perspective != "CAMERA":
            middle = (low + high) / 2.0
            view.view_location = Vector(middle)
            view.view_distance = _distance(area, (points - middle) @ np.array(view.view_rotation.to_matrix()))
    return _hide_default_cube(context)


def _distance(area: bpy.types.Area, points: Array) -> float:
    """From where the lens of a view shows points (n, 3), in the view's axes about what it looks at."""
    region = next(region for region in area.regions if region.type == "WINDOW")
    sides = np.maximum([region.width, region.height], 1.0)
    tangents = 36.0 / area.spaces.active.lens * sides / sides.max()  # of half the angles
    return float(np.max(ROOM * np.abs(points[:, :2]) / tangents + points[:, 2:]))


def _points(obj: bpy.types.Object) -> list[Vector]:
    """Corners in the world: of what the robot wears as it is posed, without anything of its bones."""
    found = [point for child in _worn(obj) for point in _corners(child)]
    bones = (end for bone in obj.pose.bones for end in (bone.head, bone.tail))
    return found or [obj.matrix_world @ end for end in bones]


def _worn(obj: bpy.types.Object) -> list[bpy.types.Object]:
    return [child for child in obj.children_recursive if child.type == "MESH" and child.visible_get()]


def _corners(child: bpy.types.Object) -> list[Vector]:
    """The outermost vertices of a mesh object along each axis of the world."""
    corners = np.empty(3 * len(child.data.vertices), np.float32)
    child.data.vertices.foreach_get("co", corners)
    world = np.array(child.matrix_world)
    placed = corners.reshape(-1, 3) @ world[:3, :3].T + world[:3, 3]
    return [Vector(placed[i]) for axis in placed.T if len(axis) for i in (axis.argmin(), axis.argmax())]


def _hide_default_cube(context: bpy.types.Context) -> list[str]:
    """The cube of a new file would stand around the robot; one that was touched is somebody's work."""
    cube = context.scene.objects.get("Cube")
    if cube is None or bpy.data.filepath or not _is_untouched(cube) or cube.hide_get():
        return []
    cube.hide_set(True)
    cube.hide_render = True
    return ["the default cube, which stood in its place, is hidden"]


def _is_untouched(cube: bpy.types.Object) -> bool:
    if cube.type != "MESH" or cube.animation_data or cube.modifiers or cube.constraints or cube.children or cube.parent:
        return False
    corners = {tuple(vertex.co) for vertex in cube.data.vertices}
    as_new = {(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)}
    return corners == as_new and len(cube.data.polygons) == 6 and cube.matrix_world.is_identity
