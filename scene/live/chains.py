"""Robots that hang on one another: one holds what another one works on or keeps away from, or carries it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import bpy
import numpy as np

from ...properties.bridge import Binding
from ...properties.bridge.parents import with_parents
from ...robokin import forward_kinematics
from ...robokin.arrays import Array
from ...scene.collisions import avoids_collisions
from ...scene.obstacles import obstacles_in
from ...scene.tasks.ad_hoc import Place
from ...scene.tasks.targets import places_of, world_matrix


class Moves:
    """Where robots that were posed in this update take what hangs on their bones. Blender computes it afterwards."""

    def __init__(self) -> None:
        self._poses: dict[int, tuple[Binding, Array]] = {}
        self._links: dict[int, dict[str, Array]] = {}

    def note(self, obj: bpy.types.Object, robot: Binding, q: Array) -> None:
        self._poses[obj.session_uid] = robot, q

    def __call__(self, place: Place) -> Array | None:
        """(4, 4) world matrix of a place that hangs on one of them; None of any other."""
        if not self._poses:
            return None
        for owner, bone in _parent_bones(place):
            if owner.session_uid in self._poses:
                change = self._change(owner, bone)
                return None if change is None else change @ world_matrix(place)
        return None

    def _change(self, obj: bpy.types.Object, bone: str) -> Array | None:
        """(4, 4) from where a bone was in the world to where it is. None of one that no joint moves."""
        robot, q = self._poses[obj.session_uid]
        above = (each.name for each in with_parents(obj.data.bones.get(bone)))
        name = next((each for each in above if each in robot.link_of_bone), None)
        if name is None:
            return None
        if obj.session_uid not in self._links:
            self._links[obj.session_uid] = forward_kinematics(robot.model, q)
        T = robot.root @ self._links[obj.session_uid][robot.link_of_bone[name]]
        T[:3, :3] = T[:3, :3] @ robot.frames[robot.bones.index(name)]
        T[:3, 3] /= robot.metres_per_unit
        world = self((obj, ""))
        world = world_matrix((obj, "")) if world is None else world
        return world @ T @ np.linalg.inv(world_matrix((obj, name)))


def in_order(robots: Sequence[bpy.types.Object]) -> list[bpy.types.Object]:
    """Robots in order: one that others follow comes before them, as far as there is such an order."""
    if len(robots) < 2:
        return list(robots)
    known = {obj.session_uid: obj for obj in robots}
    found: list[bpy.types.Object] = []
    begun: set[int] = set()

    def visit(obj: bpy.types.Object) -> None:
        if obj.session_uid in begun:
            return
        begun.add(obj.session_uid)
        for owner in _owners(obj):
            if owner.session_uid in known:
                visit(owner)
        found.append(obj)

    for obj in robots:
        visit(obj)
    return found


def _owners(obj: bpy.types.Object) -> Iterator[bpy.types.Object]:
    places: list[Place] = [(obj, "")]
    for task in obj.robokin.tasks:
        if task.enabled and task.target is not None:
            places += places_of(task).values()
    if avoids_collisions(obj):
        scene = (obj.users_scene or (bpy.context.scene,))[0]
        places += [(owner, "") for each in obstacles_in(scene, obj) for owner in each.owners]
    for place in places:
        for owner, _ in _parent_bones(place):
            if owner != obj:
                yield owner


def _parent_bones(place: Place) -> Iterator[Place]:
    """The bones that a place hangs on, rigidly."""
    owner, bone = place
    if bone:
        yield place
    while owner.parent is not None and not any(not each.mute for each in owner.constraints):
        if owner.parent_type == "BONE":
            yield owner.parent, owner.parent_bone
        elif owner.parent_type != "OBJECT":
            return
        owner = owner.parent
