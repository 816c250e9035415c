"""A robot as it is drawn: where its joints and links are in the world, in Blender units. Numbers only, kept from one
redraw to the next for as long as they hold."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

import bpy
import numpy as np

from ...properties.bridge import Binding, PoseArrays, binding_held, metres_per_unit, world_from_root
from ...properties.bridge.pose.motion_frames import motion_frames
from ...properties.results.change_marks import MARKS
from ...robokin.arrays import Array
from ...robokin.backend import get_backend
from ...robokin.model.joint_types import MotionPrimitive
from ..prepared.redraw_cache import shown_binding
from ..shapes.joints import margins


class Structure:
    """What does not change with the pose, of a binding and the sizes of its bones.

    Nodes are elementary motions, as in `Tree`: each moves about or along its Z axis. joint: (n,) which joint of the
    model each belongs to.   sizes: (n,) of their joints [m].   lower, upper: (n,) bounds of their own coordinates.
    turns, slides: (n,) bool, of motions with an angle, with a length.   margin: (n,) how far from its bounds each comes
    near them.
    """

    def __init__(self, obj: bpy.types.Object, robot: Binding) -> None:
        tree = robot.model.tree
        self.robot = robot
        self.joint = np.asarray(tree.node_joint)
        self.sizes = joint_sizes(obj, robot)[self.joint]
        self.turns = np.isin(tree.motion, (MotionPrimitive.ROTATION, MotionPrimitive.HELICAL))
        self.slides = tree.motion == MotionPrimitive.TRANSLATION
        self.lower, self.upper = self._bounds()
        self.margin = margins(self.lower, self.upper, self.slides)

    def _bounds(self) -> tuple[Array, Array]:
        tree, single = self.robot.model.tree, self.turns | self.slides
        lower, upper = np.full(tree.n_nodes, -np.inf), np.full(tree.n_nodes, np.inf)
        for node in np.flatnonzero(single):
            iq = tree.iq[node]
            lower[node], upper[node] = sorted(
                tree.scale[node] * end + tree.offset[node] for end in (tree.lower[iq], tree.upper[iq])
            )
        return lower, upper

    def values(self, q: Array) -> Array:
        """(n,) coordinate of each motion about or along its axis; 0 of those that have none."""
        tree = self.robot.model.tree
        return np.where(self.turns | self.slides, tree.scale * q[tree.iq] + tree.offset, 0.0)

    @cached_property
    def motions(self) -> list[tuple[list[int], list[MotionPrimitive]]]:
        """The nodes of each joint of the model, and how they move."""
        own = [np.flatnonzero(self.joint == joint) for joint in range(len(self.names))]
        kinds = self.robot.model.tree.motion
        return [(nodes.tolist(), [MotionPrimitive(kind) for kind in kinds[nodes]]) for nodes in own]

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(joint.name for joint in self.robot.model.joints)


def joint_sizes(obj: bpy.types.Object, robot: Binding) -> Array:
    """(joints,) [m] of the shapes that their bones have: what is drawn around a joint is as large as its ring."""
    sizes = []
    for name in robot.bones:
        bone = obj.pose.bones[name]
        shown = bone.custom_shape_scale_xyz[0] if bone.custom_shape is not None else 0.5 * bone.length
        sizes.append(abs(shown) * robot.metres_per_unit)
    return np.array(sizes)


class RobotView:
    """q: (nq,).   world: (4, 4) from metres in the root frame to Blender units of the world.   nodes, before:
    (n, 4, 4) of each motion after and before it has moved.   links: (f, 4, 4). All of them in the world.   count: how
    often they were others.   seen: the mark and the scene at which `robot_view` looked last."""

    def __init__(self) -> None:
        self.structure: Structure | None = None
        self.count = 0
        self._looked: tuple[int, int, float] | None = None
        self._made_of: tuple[Binding, tuple[str, ...], bytes] | None = None
        self._arrays: PoseArrays | None = None
        self._key: tuple[bytes, bytes] | None = None
        self.seen: tuple[int, int] | None = None

    def look(self, obj: bpy.types.Object) -> bool:
        """Read what is there; whether anything is another than before. Raises RobokinError."""
        is_new = self._bind(obj)
        assert self._arrays is not None and self.structure is not None
        q, matrix = self._arrays.read(obj), np.array(obj.matrix_world, float)
        key = q.tobytes(), matrix.tobytes()
        if key == self._key and not is_new:
            return False
        if is_new or self._key is None or key[1] != self._key[1]:
            with binding_held(obj, self.structure.robot) as robot:
                self.world = world_from_root(obj)
            self.world[:3] /= robot.metres_per_unit
            self._scale = float(np.cbrt(np.linalg.det(self.world[:3, :3])))
        self._key, self.q = key, q
        self.count += 1
        tree = self.structure.robot.model.tree
        self.__dict__.pop("_frames", None)
        self.links = self.world @ get_backend("auto").frame_placements(tree, q)
        return True

    def _bind(self, obj: bpy.types.Object) -> bool:
        """Look whether the armature is another robot, where it or the unit changed; whether it is."""
        looked = obj.session_uid, MARKS.armatures, metres_per_unit(obj)
        if self.structure is not None and looked == self._looked:
            return False
        robot = shown_binding(obj)
        bones = obj.pose.bones
        scales = np.empty(3 * len(bones), np.float32)
        bones.foreach_get("custom_shape_scale_xyz", scales)
        made_of = obj.session_uid, robot, tuple(bones.keys()), scales.tobytes()
        self._looked = looked
        if made_of == self._made_of:
            return False
        self._made_of = made_of
        self._key = None
        self._arrays = PoseArrays(obj, robot)
        self.structure = Structure(obj, robot)
        return True

    @cached_property
    def _frames(self) -> tuple[Array, Array]:
        """Found where they are first asked for: what is shown of tasks alone does not need them."""
        assert self.structure is not None
        return motion_frames(self.structure.robot.model.tree, self.q, self.world)

    @property
    def before(self) -> Array:
        return self._frames[0]

    @property
    def nodes(self) -> Array:
        return self._frames[1]

    def scale(self) -> float:
        """Blender units of the world in a metre of the robot."""
        return self._scale

    def points(self, local: Array) -> Array:
        """Points (..., 3) [m] of the root frame in the world."""
        return local @ self.world[:3, :3].T + self.world[:3, 3]


_views: dict[int, RobotView] = {}  # by object


def robot_view(obj: bpy.types.Object) -> RobotView:
    """The robot as it is now, looked at once for each change, whoever draws it. Raises RobokinError."""
    view = _views.setdefault(obj.session_uid, RobotView())
    seen = MARKS.scene, bpy.context.scene.session_uid
    if view.seen != seen:
        view.look(obj)
        view.seen = seen
    return view


def forget_views(but: Collection[int] = ()) -> None:
    """but: session_uids of objects that are still drawn."""
    for gone in _views.keys() - set(but):
        del _views[gone]
