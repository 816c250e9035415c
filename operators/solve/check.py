"""Check: limits, speeds, accelerations and tasks of the animation as it stands; nothing is moved."""

from __future__ import annotations

import json
from collections.abc import Generator

import bpy

from ...properties.bridge import is_robot
from ...properties.results.result_text import status_words, told
from ...scene.bake.check import AnimationCheck, check_steps
from ...scene.bake.report import MET
from ...solvers import Status
from ..common import FramesOperator, RobotOperator, check_report
from ..handlers.scene_marks import motion_mark
from ..modal import ModalOperator
from .bake import show_rows

_MARKER_NAME, _ROBOT_NAME = 63, 24  # bytes, characters


class ROBOKIN_OT_check(ModalOperator, FramesOperator, bpy.types.Operator):
    """Compare the animation as it stands with the tasks and with the limits on position, speed and acceleration"""

    bl_idname = "robokin.check"
    bl_label = "Check Animation"

    markers: bpy.props.BoolProperty(
        name="Timeline Markers", description="Mark where something begins to fail", options={"SKIP_SAVE"}
    )
    efforts: bpy.props.BoolProperty(
        name="Efforts", description="Check the efforts of the drives, too", options={"SKIP_SAVE"}
    )
    singularity: bpy.props.FloatProperty(
        name="Singularity",
        description="Warn of frames in which the smallest singular value of a tool is less; 0: do not look",
        min=0.0,
        options={"SKIP_SAVE"},
    )
    report_path: bpy.props.StringProperty(
        name="Report", description="Write the findings as JSON", subtype="FILE_PATH", options={"SKIP_SAVE"}
    )

    def steps(self, context: bpy.types.Context, obj: bpy.types.Object) -> Generator[float, None, None]:
        check_report(self.report_path)
        scene, settings = context.scene, obj.robokin.solver
        frames, efforts = self.frames(scene, settings), self.given("efforts", settings.efforts)
        near = self.given("singularity", settings.singularity)
        found = yield from check_steps(scene, context.view_layer, obj, frames, efforts=efforts, singularity=near)
        settings.check_summary, settings.check_passed = found.summary(), found.passed
        settings.check_mark = motion_mark(obj)
        show_rows(settings.check_failures, [(r.first, r.last, r.status, r.reason) for r in found.rows()])
        clear_markers(obj)
        if self.given("markers", settings.markers):
            set_markers(scene, obj, found)
        self.write_report(self.report_path, found.to_dict())
        self.report({"INFO" if found.passed else "WARNING"}, told(scene, found.summary()))


def set_markers(scene: bpy.types.Scene, obj: bpy.types.Object, found: AnimationCheck) -> None:
    """A marker at each frame where a task begins to be missed or a limit begins to be broken."""
    notes: dict[int, list[str]] = {}
    last = Status.CONVERGED
    for frame, status in zip(found.frames, found.statuses, strict=True):
        if status is not last and status not in MET:
            notes.setdefault(frame, []).append(status_words(status).lower())
        last = status
    broken = {(v.frame, v.joint, v.kind) for v in found.limits.violations}
    for violation in found.limits.violations:
        if (violation.frame - 1, violation.joint, violation.kind) not in broken:
            notes.setdefault(found.frames[violation.frame], []).append(f"{violation.joint} {violation.kind}")
    near = found.singularities.near if found.singularities else ()
    seen = {(each.frame, each.joint) for each in near}
    for each in near:
        if (each.frame - 1, each.joint) not in seen:
            notes.setdefault(found.frames[each.frame], []).append(f"{each.joint} near singularity")
    markers = []
    for frame, texts in notes.items():
        more = f" +{len(texts) - 1}" if len(texts) > 1 else ""
        name = f"{_shortened(obj.name)} check: {texts[0]}".encode()[: _MARKER_NAME - len(more)].decode(errors="ignore")
        markers.append([scene.timeline_markers.new(name + more, frame=int(frame)).name, int(frame)])
    obj.robokin.solver.check_markers = json.dumps({"robot": obj.name, "scene": scene.name, "markers": markers})


def _shortened(name: str) -> str:
    return name if len(name) <= _ROBOT_NAME else f"{name[: _ROBOT_NAME // 2]}…{name[-_ROBOT_NAME // 2 :]}"


def clear_markers(obj: bpy.types.Object) -> int:
    """Remove the markers of this robot's last check, of whatever scene, but for those that were renamed or moved; how
    many they were."""
    kept, obj.robokin.solver.check_markers = obj.robokin.solver.check_markers, ""
    try:
        written = json.loads(kept)
        robot, scene, markers = str(written["robot"]), str(written["scene"]), list(written["markers"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return 0  # none were set, or the text is damaged
    if is_robot(bpy.data.objects.get(robot)) and robot != obj.name:
        return 0  # they are of the robot that this one is a copy of
    scene = bpy.data.scenes.get(scene)
    if scene is None:
        return 0
    ours = [marker for marker in scene.timeline_markers if [marker.name, marker.frame] in markers]
    for marker in ours:
        scene.timeline_markers.remove(marker)
    return len(ours)


class ROBOKIN_OT_check_clear(RobotOperator, bpy.types.Operator):
    """Remove the timeline markers and the result of the last check"""

    bl_idname = "robokin.check_clear"
    bl_label = "Clear Check"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        clear_markers(obj)
        obj.robokin.solver.check_summary = ""
        show_rows(obj.robokin.solver.check_failures, [])
        return {"FINISHED"}


CLASSES = (ROBOKIN_OT_check, ROBOKIN_OT_check_clear)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
