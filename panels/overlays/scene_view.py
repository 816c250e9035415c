"""All overlays of a scene, prepared: only what has changed since the last time."""

from __future__ import annotations

from operator import attrgetter

import bpy
import numpy as np

from ...properties.bridge import binding_held
from ...properties.bridge.belonging import has_object
from ...properties.bridge.record.stored import ROBOT_KEY
from ...properties.handlers import going_on
from ...properties.results import readouts
from ...properties.results.change_marks import MARKS
from ...properties.selected.active_robot import active_robot, objects_showing
from ...properties.selected.selection import selected_bones
from ...robokin import RobokinError
from ...robokin.arrays import Array
from .collisions import CollisionOverlay
from .joints import JointOverlays
from .manipulability import ManipulabilityOverlay
from .mass import MassOverlay
from .motion import MotionOverlay
from .moves import MovesOverlay
from .pieces import Pieces, vertices
from .robot_view import forget_views, robot_view
from .tasks import task_errors

PARTS = (
    *("axes", "names", "limits", "center_of_mass", "manipulability", "collisions"),
    *("task_errors", "path", "moves", "ghosts"),
)
_PARTS = attrgetter(*PARTS)
_READ = attrgetter(
    *("show", "xray", "selected_only", "problem_frames", "path_color", "ghost_count", "ghost_step"),
    *("manipulability_scale", *PARTS),
)


def shows_anything(settings: bpy.types.PropertyGroup) -> bool:
    return settings.show and any(_PARTS(settings))


def robots_of(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Robots that are seen, of which overlays may be drawn."""
    found = []
    for armature in bpy.data.armatures:
        for obj in objects_showing(armature) if ROBOT_KEY in armature and not armature.is_editmode else ():
            if obj.pose is not None and has_object(context.scene, obj) and obj.visible_get():
                found.append(obj)
    return found


class RobotOverlays:
    """All that is drawn of one robot. Each part is made when it is first shown, for the structure as it is."""

    def __init__(self) -> None:
        self._count = -1  # of the view
        self._structure: object = None
        self._parts: dict[str, object] = {}
        self._still: tuple[tuple, Pieces] | None = None

    def prepare(
        self, obj: bpy.types.Object, context: bpy.types.Context, settings: bpy.types.PropertyGroup, read: tuple
    ) -> Pieces:
        """read: of the settings. Raises RobokinError."""
        self._view = robot_view(obj)
        is_moved, self._count = self._view.count != self._count, self._view.count
        structure = self._view.structure
        assert structure is not None
        if structure is not self._structure:
            self._structure, self._still = structure, None
            self._parts.clear()
        with binding_held(obj, structure.robot):
            chosen = self._chosen(obj, settings)
            key = read, chosen
            shapes = self._parts.get("collisions")
            if is_moved or self._still is None or self._still[0] != key or (shapes and not shapes.is_complete):
                self._still = key, self._of_pose(obj, settings, chosen)
            found = Pieces()
            found.add(self._still[1])
            if settings.center_of_mass:
                mass = self._part("mass", lambda: MassOverlay(obj, self._view, structure.robot))
                found.add(mass.pieces(obj, self._view))
            if settings.task_errors and len(obj.robokin.tasks):
                found.add(task_errors(obj, self._view, context.scene))
            if settings.moves and len(obj.robokin.moves):
                found.add(self._part("moves", lambda: MovesOverlay(structure)).pieces(obj, self._view))
            if settings.path:  # over the moves: where they are one, its colors are asked for
                found.add(self._motion().path(obj, self._view, settings))
            if settings.ghosts:
                found.add(self._motion().ghosts(obj, self._view, settings, context.scene.frame_current_final))
        return found

    def _of_pose(
        self, obj: bpy.types.Object, settings: bpy.types.PropertyGroup, chosen: tuple[str, ...] | None
    ) -> Pieces:
        """What follows from the pose alone."""
        found, view, structure = Pieces(), self._view, self._view.structure
        assert structure is not None
        if settings.axes or settings.limits or settings.names:
            joints = self._part("joints", lambda: JointOverlays(structure))
            shown = self._shown(chosen)
            for name in ("axes", "limits", "names"):
                if getattr(settings, name):
                    found.add(getattr(joints, name)(view, shown))
        if settings.manipulability:
            ellipsoids = self._part("manipulability", lambda: ManipulabilityOverlay(structure))
            found.add(ellipsoids.pieces(view, settings.manipulability_scale))
        if settings.collisions:
            found.add(self._part("collisions", lambda: CollisionOverlay(structure)).pieces(view))
        return found

    def _motion(self) -> MotionOverlay:
        return self._part("motion", lambda: MotionOverlay(self._view.structure))

    def _part(self, name: str, make) -> object:
        if name not in self._parts:
            self._parts[name] = make()
        return self._parts[name]

    def _chosen(self, obj: bpy.types.Object, settings: bpy.types.PropertyGroup) -> tuple[str, ...] | None:
        """Bones whose joints alone are shown; None for all."""
        return tuple(selected_bones(obj)) if settings.selected_only and obj.mode == "POSE" else None

    def _shown(self, chosen: tuple[str, ...] | None) -> Array:
        """(n,) bool of the nodes."""
        structure = self._view.structure
        assert structure is not None
        if chosen is None:
            return np.ones(len(structure.joint), bool)
        joints = structure.robot.joint_of_bone
        names = {joints[bone].name for bone in chosen if bone in joints}
        return np.array([structure.names[joint] in names for joint in structure.joint], bool)


class SceneOverlays:
    """lines, triangles: (points (v, 3), colours (v, 4)) in single precision, or None.   labels.   version: another
    number for other ones.   count: how often anything was prepared."""

    def __init__(self) -> None:
        self.lines: tuple[Array, Array] | None = None
        self.triangles: tuple[Array, Array] | None = None
        self.labels: list = []
        self.version = self.count = 0
        self._robots: dict[int, RobotOverlays] = {}
        self._key: tuple | None = None
        self._pieces = Pieces()

    @property
    def is_any(self) -> bool:
        """Whether there is something to draw."""
        return bool(self.labels) or self.lines is not None or self.triangles is not None

    def look(self, context: bpy.types.Context) -> None:
        """Prepare what is drawn anew, once for each change of the scene."""
        settings = context.scene.robokin.overlays
        active = context.view_layer.objects.active
        uid = 0 if active is None else active.session_uid
        mode = "" if active is None else active.mode
        counts = readouts.motion_count(), readouts.moves_count(), readouts.broken_count()
        read = _READ(settings)
        key = MARKS.scene, counts, context.scene.session_uid, uid, mode, read
        if key == self._key:
            return
        self._key = key
        self.count += 1
        pieces = self._prepared(context, settings, read) if shows_anything(settings) else Pieces()
        self.labels = pieces.labels
        if not pieces.are_those_of(self._pieces):
            self._pieces = pieces
            self.lines, self.triangles = vertices(pieces.lines), vertices(pieces.triangles)
            self.version += 1

    def forget(self) -> None:
        self.lines = self.triangles = self._key = None
        self.labels, self._pieces = [], Pieces()
        self._robots.clear()
        self.version += 1
        forget_views()

    def _prepared(self, context: bpy.types.Context, settings: bpy.types.PropertyGroup, read: tuple) -> Pieces:
        found = Pieces()
        robots = robots_of(context)
        if settings.selected_only:
            active = active_robot(context)
            robots = [obj for obj in robots if obj == active or obj.select_get()]
        seen = {obj.session_uid for obj in robots}
        for gone in self._robots.keys() - seen:
            del self._robots[gone]
        forget_views(seen)
        for obj in robots:
            own = self._robots.setdefault(obj.session_uid, RobotOverlays())
            with going_on("preparing overlays"):
                try:
                    found.add(own.prepare(obj, context, settings, read))
                except RobokinError:  # the panel says why it cannot be read
                    del self._robots[obj.session_uid]
        return found
