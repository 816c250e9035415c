"""The gizmo of the active joint in Pose Mode: an arc with a needle, a rail, the rings and the cone of a ball; knobs at
its limits. What is dragged is the operator `robokin.drag_joint`."""

from __future__ import annotations

from typing import Any

import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

from ...properties.bridge.record.stored import ROBOT_KEY
from ...properties.handlers import going_on
from ...robokin import RobokinError
from ...robokin.arrays import Array
from ..overlays.marks import MARKS
from ..overlays.pieces import Pieces, vertices
from ..overlays.robot_view import RobotView
from .handles import Handle, joint_handles, pixel_size, seen, under

MOST = 9  # handles of a joint: three freedoms with two limits each
NEAR = 9.0  # [pixels] of the mouse from what it takes hold of
WIDTH, WIDE = 2.4, 4.2  # of lines, and of those under the mouse, in pixels


def shown_bone(context: bpy.types.Context) -> bpy.types.Bone | None:
    """The active bone, where its gizmo is to be shown; asked for at every redraw."""
    obj = context.object
    if obj is None or context.mode != "POSE" or obj.type != "ARMATURE" or ROBOT_KEY not in obj.data:
        return None
    settings = context.scene.robokin.overlays
    return obj.data.bones.active if settings.show and settings.joint_gizmo and obj.is_editable else None


class ROBOKIN_GT_joint(bpy.types.Gizmo):
    bl_idname = "ROBOKIN_GT_joint"

    __slots__ = ("all_on_screen", "batches", "handle", "index", "operates")

    def setup(self) -> None:
        self.handle: Handle | None = None
        self.index, self.all_on_screen = 0, list[Array]()
        self.batches: dict[str, Any] = {}
        self.operates: tuple[int, str] | None = None
        self.use_draw_modal = True

    def show(self, handle: Handle | None, index: int, all_on_screen: list[Array]) -> None:
        """all_on_screen: (n, 2) pixels of the grips of all handles of the joint, of which its own has this index."""
        self.handle, self.index, self.all_on_screen = handle, index, all_on_screen
        self.batches = {}
        self.hide = handle is None
        if handle is not None and self.operates != (handle.freedom, handle.end):
            self.operates = handle.freedom, handle.end
            settings = self.target_set_operator("robokin.drag_joint")
            settings.freedom, settings.end = self.operates

    def test_select(self, context: bpy.types.Context, location: tuple[float, float]) -> int:
        if self.handle is None:
            return -1
        return (
            0 if under(self.all_on_screen, location, NEAR * context.preferences.system.ui_scale) == self.index else -1
        )

    def draw(self, context: bpy.types.Context) -> None:
        if self.handle is None:
            return
        with going_on("drawing a gizmo"):
            gpu.state.blend_set("ALPHA")
            gpu.state.depth_test_set("NONE")
            try:
                self._draw(context)
            finally:
                gpu.state.blend_set("NONE")

    def _draw(self, context: bpy.types.Context) -> None:
        assert self.handle is not None
        if not self.batches:
            self.batches = _batches(self.handle.pieces)
        width = (WIDE if self.is_highlight else WIDTH) * context.preferences.system.ui_scale
        for kind, (shader, batch) in self.batches.items():
            shader.bind()
            if kind == "LINES":
                shader.uniform_float("viewportSize", (context.region.width, context.region.height))
                shader.uniform_float("lineWidth", width)
            batch.draw(shader)


def _batches(pieces: Pieces) -> dict[str, Any]:
    found = {}
    for kind, name, own in (
        ("TRIS", "SMOOTH_COLOR", pieces.triangles),
        ("LINES", "POLYLINE_SMOOTH_COLOR", pieces.lines),
    ):
        prepared = vertices(own)
        if prepared is not None:
            shader = gpu.shader.from_builtin(name)
            content: Any = {"pos": prepared[0], "color": prepared[1]}
            found[kind] = shader, batch_for_shader(shader, kind, content)
    return found


class ROBOKIN_GGT_joint(bpy.types.GizmoGroup):
    bl_idname = "ROBOKIN_GGT_joint"
    bl_label = "Joint"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return shown_bone(context) is not None

    def setup(self, context: bpy.types.Context) -> None:
        self.view, self.key = RobotView(), None
        self.own = [self.gizmos.new(ROBOKIN_GT_joint.bl_idname) for _ in range(MOST)]

    def draw_prepare(self, context: bpy.types.Context) -> None:
        with going_on("preparing a gizmo"):
            self._prepare(context)

    def _prepare(self, context: bpy.types.Context) -> None:
        bone = shown_bone(context)
        region, perspective = context.region, np.array(context.region_data.perspective_matrix, float)
        name = "" if bone is None else bone.name
        obj = context.object
        key = MARKS.scene, obj.session_uid, name, region.width, region.height, perspective.tobytes()
        if key == self.key:
            return
        self.key = key
        handles: list[Handle] = []
        if bone is not None:
            try:
                handles = self._handles(obj, name, perspective, region.width)
            except RobokinError:  # the panel says why it cannot be read
                handles = []
        on_screen = [seen(handle.grip, perspective, region.width, region.height) for handle in handles]
        for i, gizmo in enumerate(self.own):
            gizmo.show(handles[i] if i < len(handles) else None, i, on_screen)

    def _handles(self, obj: bpy.types.Object, bone: str, perspective: Array, width: float) -> list[Handle]:
        """Raises RobokinError."""
        self.view.look(obj)
        structure = self.view.structure
        joint = structure.robot.joint_of_bone.get(bone) if structure else None
        if structure is None or joint is None or not joint.nv:
            return []
        index = structure.robot.model.joint_index(joint.name)
        point = self.view.links[index, :3, 3]
        return joint_handles(self.view, index, pixel_size(point, perspective, width))


CLASSES = (ROBOKIN_GT_joint, ROBOKIN_GGT_joint)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
