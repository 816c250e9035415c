"""Timeline markers of a check: where something begins to fail."""

from __future__ import annotations

import json

import bpy

from ...properties.bridge import is_robot
from ...properties.results.result_text import status_words
from ...solvers import Status
from ..bake.report import MET
from .check import AnimationCheck

_MARKER_NAME, _ROBOT_NAME = 63, 24  # bytes, characters


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
    marked = {(each.frame, each.joint) for each in near}
    for each in near:
        if (each.frame - 1, each.joint) not in marked:
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
