"""Find Meshes: what the links of an imported robot look like, where their files were not found."""

from __future__ import annotations

import os
from itertools import takewhile

import bpy

from ...properties.bridge import robot_model, show_found_meshes
from ...properties.bridge.visuals.link_visuals import unfound_meshes
from ...properties.selected.active_robot import active_robot
from ...robokin import ModelError, RobokinError
from ...robokin.files.resources import ResourceFinder
from ...robokin.units import counted
from ..common import RobotOperator

MOST_FOLDERS = 5000  # that are searched


class ROBOKIN_OT_find_meshes(RobotOperator, bpy.types.Operator):
    """Search a folder and those below it for the meshes that the import did not find, and show them"""

    bl_idname = "robokin.find_meshes"
    bl_label = "Find Meshes"

    directory: bpy.props.StringProperty(
        name="Folder",
        description="Folder that holds the meshes or their packages",
        subtype="DIR_PATH",
        options={"SKIP_SAVE"},
    )
    filter_folder: bpy.props.BoolProperty(default=True, options={"HIDDEN"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not super().poll(context):
            return False
        try:
            missing = bool(unfound_meshes(robot_model(active_robot(context))))
        except RobokinError:
            missing = False
        if not missing:
            cls.poll_message_set("No mesh of the robot is missing")
        return missing

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        described = active_robot(context).robokin.description
        if described and not self.directory:
            self.directory = os.path.join(os.path.dirname(bpy.path.abspath(described)), "")
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        folder = bpy.path.abspath(self.directory)
        if not self.directory or not os.path.isdir(folder):
            raise RobokinError(f"{folder or 'no folder'}: choose the folder that holds the meshes")
        names = unfound_meshes(robot_model(obj))
        found = {name: path for name in names if (path := _found(folder, name))}
        found |= _below(folder, [name for name in names if name not in found])
        if not found:
            raise RobokinError(f"{folder}: none of the {len(names)} missing meshes is there: {', '.join(names[:3])}")
        warnings = show_found_meshes(context, obj, found)
        for warning in warnings:
            self.report({"WARNING"}, warning)
        missing = len(names) - len(found)
        self.report(
            {"INFO"},
            counted(len(found), "mesh", "meshes") + " found" + (f", {missing} still missing" if missing else ""),
        )
        return {"FINISHED"}


def _found(folder: str, name: str) -> str | None:
    try:
        return ResourceFinder(os.path.join(folder, "robot.urdf"), [folder]).find(name).path
    except ModelError:
        return None


def _below(folder: str, names: list[str]) -> dict[str, str]:
    """{name: path} of files in the folder and below; of several files that are called so, the one whose folders are
    called as those of the name."""
    alike: dict[str, list[str]] = {_parts(name)[-1]: [] for name in names}
    for count, (place, folders, files) in enumerate(os.walk(folder) if names else ()):
        if count >= MOST_FOLDERS:
            break
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in files:
            if name.lower() in alike:
                alike[name.lower()].append(os.path.join(place, name))
    found = {}
    for name in names:
        own = _parts(name)
        paths = alike[own[-1]]
        if paths:
            found[name] = max(paths, key=lambda path: _alike(_parts(path), own))
    return found


def _alike(path: list[str], name: list[str]) -> int:
    """How many of their last parts are the same."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(path[::-1], name[::-1], strict=False)))


def _parts(path: str) -> list[str]:
    return path.lower().replace("\\", "/").split("/")


CLASSES = (ROBOKIN_OT_find_meshes,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
