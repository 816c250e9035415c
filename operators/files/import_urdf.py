"""File > Import > Robot (.urdf), and dropping a .urdf file on a window."""

from __future__ import annotations

import os
import shlex

import bpy
from bpy_extras.io_utils import ImportHelper, poll_file_object_drop

from ...properties.bridge import import_robot, robot_model
from ...properties.preferences import package_paths, split_paths
from ...properties.registration import registration
from ...robokin import RobokinError, import_srdf, load_urdf
from ...robokin.structure.natural_root import natural_root
from ...robokin.urdf import parse_xacro_args
from ...robokin.urdf.srdf import srdf_beside
from ...scene.link_shapes import COLLISIONS, PARTS, fit_shapes
from ...scene.srdf import take_srdf
from ...solvers.progress import finish
from ..common import ReportingOperator, report_robot
from .first_look import raise_onto_ground, show, stand

ROOTS = (
    ("fixed", "Fixed", "The base does not move"),
    ("floating", "Floating", "The base moves freely: legged, flying and swimming robots"),
    ("planar", "Planar", "The base drives on the ground: two lengths and a heading"),
    ("wheeled", "Wheeled", "The base drives on two wheels of its own, or on two that are added"),
)


def split_words(text: str) -> list[str]:
    """Words as in a shell: quotes keep spaces. Raises RobokinError."""
    try:
        return shlex.split(text)
    except ValueError as fault:
        raise RobokinError(f"xacro arguments {text!r}: {fault}") from None


class ROBOKIN_OT_import_urdf(ReportingOperator, bpy.types.Operator, ImportHelper):
    """Load a robot description as one armature with a bone for each joint"""

    bl_idname = "robokin.import_urdf"
    bl_label = "Import URDF"
    bl_options = {"REGISTER", "UNDO", "PRESET"}

    filename_ext = ".urdf"
    filter_glob: bpy.props.StringProperty(default="*.urdf;*.xacro;*.xml", options={"HIDDEN"})
    root: bpy.props.EnumProperty(
        name="Base",
        description="How the robot's base moves",
        items=(
            ("auto", "Automatic", "On its wheels or legs, or flying, where it can, else fixed; the import says which"),
            *ROOTS,
        ),
    )
    postures: bpy.props.BoolProperty(
        name="Postures",
        description="Take the named poses, and the links that may touch, of the robot's .srdf file, beside this one or "
        "in the folder srdf next to its own",
        default=True,
    )
    meshes: bpy.props.BoolProperty(name="Meshes", description="Show what the links look like", default=True)
    convex_parts: bpy.props.BoolProperty(
        name="Convex Parts",
        description="Cut collision meshes into convex parts, which keep their holes; else they count as convex hulls",
    )
    package_paths: bpy.props.StringProperty(
        name="Package Folders",
        description="Folders that hold the packages of package:// meshes, separated by semicolons; the folders around "
        "the file and those of the preferences are searched too",
    )
    xacro_args: bpy.props.StringProperty(
        name="Xacro Arguments",
        description="Arguments of a .xacro file, as name:=value, separated by spaces",
        options={"SKIP_SAVE"},
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        # A file that was dropped is named; the last import's, which Blender remembers, does not count as set.
        if self.properties.is_property_set("filepath"):
            name = os.path.basename(self.filepath)
            return context.window_manager.invoke_props_dialog(self, title=name, confirm_text=self.bl_label)
        return super().invoke(context, event)

    def work(self, context: bpy.types.Context) -> set[str]:
        path = bpy.path.abspath(self.filepath)
        folders = [*split_paths(self.package_paths), *package_paths()]
        arguments = parse_xacro_args(split_words(self.xacro_args))
        model = load_urdf(path, folders, "fixed" if self.root == "auto" else self.root, arguments)
        if self.root == "auto" and (root := natural_root(model)) != "fixed":
            model = load_urdf(path, folders, root, arguments)
        obj, warnings = import_robot(context, model, meshes=self.meshes)
        obj.robokin.description = path
        notes = self._take_postures(path, obj) if self.postures else []
        if self.convex_parts:
            notes += self._cut_collision_meshes(context, obj)
        stand(context, obj)
        notes += [*raise_onto_ground(context, obj), *show(context, obj)]
        report_robot(self, obj, model, warnings, os.path.basename(path), notes)
        return {"FINISHED"}

    def _cut_collision_meshes(self, context: bpy.types.Context, obj: bpy.types.Object) -> list[str]:
        """What was made. Meshes that cannot be cut are no reason to refuse the robot."""
        try:
            return [str(finish(fit_shapes(context, obj, PARTS, COLLISIONS)))]
        except RobokinError as fault:
            self.report({"WARNING"}, f"collision meshes left as they are: {fault}")
            return []

    def _take_postures(self, path: str, obj: bpy.types.Object) -> list[str]:
        """What was taken. A file that cannot be read is no reason to refuse the robot."""
        model = robot_model(obj)
        beside = srdf_beside(path, model.name)
        if beside is None:
            return []
        try:
            found = import_srdf(beside, model)
        except RobokinError as fault:
            self.report({"WARNING"}, f"postures left out: {fault}")
            return []
        if not found.postures and not found.may_touch:
            return []
        return [f"{os.path.basename(beside)}: {take_srdf(obj, model, found)}"]

    def draw(self, context: bpy.types.Context) -> None:
        own = ("xacro_args",) if self.filepath.lower().endswith(".xacro") else ()
        self.draw_properties("root", "postures", "meshes", "convex_parts", *own)
        column = self.layout.column()
        column.use_property_split = False  # the whole name, beside a path
        column.label(text="Package Folders")
        column.prop(self, "package_paths", text="")


class ROBOKIN_FH_urdf(bpy.types.FileHandler):
    """Dropping a .urdf or .xacro file imports it."""

    bl_idname = "ROBOKIN_FH_urdf"
    bl_label = "Robot (.urdf, .xacro)"
    bl_import_operator = "robokin.import_urdf"
    bl_file_extensions = ".urdf;.xacro"

    @classmethod
    def poll_drop(cls, context: bpy.types.Context) -> bool:
        return poll_file_object_drop(context)


CLASSES = (ROBOKIN_OT_import_urdf, ROBOKIN_FH_urdf)


def draw_menu_item(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    menu.layout.operator(ROBOKIN_OT_import_urdf.bl_idname, text="Robot (.urdf, .xacro)")


register, unregister = registration(CLASSES, (bpy.types.TOPBAR_MT_file_import, draw_menu_item))
