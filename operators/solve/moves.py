"""The list of moves: add from the present pose, remove, order, and make keys of it."""

from __future__ import annotations

from collections.abc import Generator

import bpy
from mathutils import Matrix

from ...properties.bridge import Binding, binding
from ...properties.bridge.visuals.new_data import all_or_nothing, collections_for
from ...properties.moves import MOVE_KINDS
from ...properties.postures import free_name, store_posture
from ...properties.results.stored_results import store_failures
from ...properties.selected.tips import moved_tool
from ...robokin import RobokinError
from ...scene.animation.frames import after_end
from ...scene.animation.lists import add_entry
from ...scene.bake.moves import moves_steps
from ...scene.bake.retime import set_limits
from ...scene.bake.start import present_values
from ...scene.posing.move_end import pose_at_end
from ...scene.tasks.new_targets import new_target, robot_size
from ..common import RobotOperator
from ..handlers.scene_marks import motion_mark
from ..modal import ModalOperator
from ..tasks.entries import MoveEntryOperator, RemoveEntryOperator
from ..tasks.tasks import tip_pose

SIDE = 0.05  # of the robot's size: how far a circle's via is at least beside its way
_LABELS = {identifier: label for identifier, label, *_ in MOVE_KINDS}


class ROBOKIN_OT_move_add(RobotOperator, bpy.types.Operator):
    """Add a move that ends in the present pose, in a stored posture or an object at the tip, or at the 3D cursor"""

    bl_idname = "robokin.move_add"
    bl_label = "Add Move"

    kind: bpy.props.EnumProperty(
        name="Type", description="Path of the move: in the joints, or of the tip", items=MOVE_KINDS
    )
    end: bpy.props.EnumProperty(
        name="End",
        description="Where the move ends",
        items=(
            ("PRESENT", "Present Pose", "Where the robot is now"),
            ("CURSOR", "3D Cursor", "Where the 3D cursor is, turned as the tip is now"),
        ),
    )

    def draw(self, context: bpy.types.Context) -> None:
        self.draw_properties("kind", *(() if self.kind == "CURVE" else ("end",)))  # a curve has its own end

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        bound, robot, name = binding(obj), obj.robokin, _LABELS[self.kind].removeprefix("Joint ")  # fits the list
        if self.kind == "JOINT" and self.end == "PRESENT":
            name = free_name(name, {*robot.moves.keys(), *robot.postures.keys()})
            ends = {"posture": store_posture(obj, bound.model, name, present_values(obj, bound)).name}
        else:
            ends = self._targets(obj, bound)
        item = add_entry(obj, "moves", name, self.kind)
        for key, value in ends.items():
            setattr(item, key, value)
        return {"FINISHED"}

    def _targets(self, obj: bpy.types.Object, robot: Binding) -> dict[str, object]:
        """The tip's link, and new objects at it."""
        bone = moved_tool(obj, robot)
        pose, found = tip_pose(obj, robot, bone), {"tip": robot.link_of_bone[bone]}
        if self.kind == "CURVE":  # of the selection, or to be chosen
            curve = next((each for each in bpy.context.selected_objects if each.type == "CURVE"), None)
            return found | ({"target": curve} if curve is not None else {})
        if self.end == "CURSOR":
            pose.translation = bpy.context.scene.cursor.location
        places = {"target": pose}
        if self.kind == "CIRCLE":
            places["via"] = _beside(_last_end(obj, robot, bone), pose, robot_size(obj))
        with all_or_nothing():
            for role, place in places.items():
                found[role] = made = new_target(obj, robot, "POSE", bone, place)
                collections_for(obj)[0].objects.link(made)
        return found


def _last_end(obj: bpy.types.Object, robot: Binding, bone: str) -> Matrix:
    """World pose of the tip where the last move ends; the present one without moves, or where it has no end yet."""
    try:
        q = pose_at_end(obj, obj.robokin.moves[-1])[0]
    except (IndexError, RobokinError):
        q = None
    return tip_pose(obj, robot, bone, q)


def _beside(start: Matrix, end: Matrix, size: float) -> Matrix:
    """Beside the middle of the way, along the axis of the tip that is most across it: an arc leads over it."""
    chord = end.translation - start.translation
    across = min((end.col[i].to_3d() for i in range(3)), key=lambda axis: abs(axis @ chord))
    via = end.copy()
    via.translation = end.translation - 0.5 * chord + max(0.25 * chord.length, SIDE * size) * across
    return via


class ROBOKIN_OT_move_remove(RemoveEntryOperator, bpy.types.Operator):
    """Remove the active move; its posture or its objects stay"""

    bl_idname = "robokin.move_remove"
    bl_label = "Remove Move"
    entries = "moves"


class ROBOKIN_OT_move_move(MoveEntryOperator, bpy.types.Operator):
    """Move the active move in the list"""

    bl_idname = "robokin.move_move"
    bl_label = "Reorder Move"
    entries = "moves"


class ROBOKIN_OT_bake_moves(ModalOperator, bpy.types.Operator):
    """Key moves one after another, from the present pose and frame on, inside the limits of joints, and those of
    drives and tools that are set (Esc stops, and writes nothing)"""

    bl_idname = "robokin.bake_moves"
    bl_label = "Bake Moves"

    which: bpy.props.EnumProperty(
        name="Which",
        description="Moves that become keys",
        items=(("ALL", "All", "The whole list"), ("ACTIVE", "Active", "The active move alone")),
        options={"SKIP_SAVE"},
    )

    def steps(self, context: bpy.types.Context, obj: bpy.types.Object) -> Generator[float, None, None]:
        first = context.scene.frame_current
        settings = obj.robokin.solver
        robot = binding(obj)
        limits = set_limits(obj, robot)
        active, count = obj.robokin.active_move, len(obj.robokin.moves)
        if self.which == "ACTIVE" and count and not 0 <= active < count:
            raise RobokinError(f"{obj.name!r}: no move is active; choose one of {count}")
        which = slice(active, active + 1) if self.which == "ACTIVE" else slice(None)
        result = yield from moves_steps(context.scene, obj, robot, first, settings.efforts, limits, which)
        store_failures(settings.retime_limits, result.rows)
        settings.retime_mark = motion_mark(obj, robot)
        names = obj.robokin.moves.keys()[which]
        said, kept = (f"move {names[0]!r}", "a stretch") if len(names) == 1 else (f"{len(names)} moves", "stretches")
        end = after_end(context.scene, max(move.last for move in obj.robokin.moves[which]))
        kept += f" of action {obj.animation_data.action.name!r}"
        self.report({"INFO"}, f"{said} from frame {first} on: {result.duration:.3f} s, {kept}{end}")


CLASSES = (ROBOKIN_OT_move_add, ROBOKIN_OT_move_remove, ROBOKIN_OT_move_move, ROBOKIN_OT_bake_moves)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
