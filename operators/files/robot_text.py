"""Tables of robots as text datablocks: examples to begin with, a robot from a text, the text of a robot."""

from __future__ import annotations

import bpy

from ...properties.bridge import binding, import_robot
from ...properties.registration import registration
from ...properties.robot import TABLES
from ...robokin import UnknownNameError, dh_table, read_robot_table, robot_table_text, screw_table
from ...robokin.construction.examples import EXAMPLES
from ...robokin.construction.table_file import ANGLES, LENGTHS
from ...robokin.units import counted
from ..common import ReportingOperator, RobotOperator, report_robot
from .import_urdf import ROOTS


def show_text(context: bpy.types.Context, text: bpy.types.Text) -> None:
    """Open `text` in the Text Editor from which it was asked for, or else in the first one of the window that is empty,
    or in the only one."""
    areas = context.screen.areas if context.screen else ()
    editors = [area.spaces.active for area in areas if area.type == "TEXT_EDITOR"]
    current = [editor for editor in editors if editor == context.space_data]
    empty = [editor for editor in editors if editor.text is None]
    if current or empty or len(editors) == 1:
        shown = (current or empty or editors)[0]
        shown.text, shown.top = text, 0


def new_text(context: bpy.types.Context, name: str, content: str) -> bpy.types.Text:
    text = bpy.data.texts.new(name)
    text.write(content)
    text.cursor_set(0)
    show_text(context, text)
    return text


def _units(units: dict[str, float]) -> list[tuple[str, str, str]]:
    return [(unit, unit, f"In {unit}") for unit in units]


class ROBOKIN_OT_table_example(bpy.types.Operator):
    """Write an example of a table into a new text, to be changed and made a robot"""

    bl_idname = "robokin.table_example"
    bl_label = "New Robot Table"
    bl_options = {"REGISTER", "UNDO"}

    kind: bpy.props.EnumProperty(
        name="Table",
        description="Which table",
        items=[(name, example.label, example.description) for name, example in EXAMPLES.items()],
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        example = EXAMPLES[self.kind]
        text = new_text(context, f"{example.label}.csv", example.text)
        self.report({"INFO"}, f"text {text.name!r}: change it in a Text Editor, then Make Robot from Text")
        return {"FINISHED"}


class ROBOKIN_OT_robot_from_text(ReportingOperator, bpy.types.Operator):
    """Make a robot of the table in a text: Denavit-Hartenberg parameters, screws or joint axes"""

    bl_idname = "robokin.robot_from_text"
    bl_label = "Make Robot from Text"

    text: bpy.props.StringProperty(
        name="Text",
        description="Text that holds the table; empty: the one in the Text Editor, or the only one",
        options={"SKIP_SAVE"},
    )
    root: bpy.props.EnumProperty(name="Base", description="How the robot's base moves", items=ROOTS)
    meshes: bpy.props.BoolProperty(
        name="Shapes", description="Show the links: rods between the joints, drums about their axes", default=True
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if not bpy.data.texts:
            cls.poll_message_set("There is no text: New Robot Table writes one")
            return False
        return True

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if not self.text:
            self.text = _default_text(context)
        return self.execute(context) if self.text else context.window_manager.invoke_props_dialog(self)

    def work(self, context: bpy.types.Context) -> set[str]:
        name = self.text or _default_text(context)
        if name not in bpy.data.texts:
            raise UnknownNameError("text", name, bpy.data.texts.keys())
        model = read_robot_table(bpy.data.texts[name].as_string(), name, self.root)
        obj, warnings = import_robot(context, model, meshes=self.meshes)
        report_robot(self, obj, model, warnings, name)
        return {"FINISHED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.draw_properties()
        layout.prop_search(self, "text", bpy.data, "texts")
        layout.prop(self, "root")
        layout.prop(self, "meshes")


def _default_text(context: bpy.types.Context) -> str:
    """Name of the text in this Text Editor, or one of the window; else of the only text; else ""."""
    spaces = [context.space_data] if context.space_data else []
    spaces += [area.spaces.active for area in context.screen.areas] if context.screen else []
    for space in spaces:
        if space.type == "TEXT_EDITOR" and space.text is not None:
            return space.text.name
    return bpy.data.texts[0].name if len(bpy.data.texts) == 1 else ""


class ROBOKIN_OT_robot_to_text(RobotOperator, bpy.types.Operator):
    """Write the robot's own Denavit-Hartenberg parameters or screws into a new text and the clipboard"""

    bl_idname = "robokin.robot_to_text"
    bl_label = "Table to Text"

    kind: bpy.props.EnumProperty(name="Table", description="Which table", items=TABLES, options={"SKIP_SAVE"})
    tip: bpy.props.StringProperty(
        name="Tip", description="Bone at which the table ends; empty: the robot's only tip", options={"SKIP_SAVE"}
    )
    angles: bpy.props.EnumProperty(name="Angles", description="Unit of angles", items=_units(ANGLES), default="degrees")
    lengths: bpy.props.EnumProperty(name="Lengths", description="Unit of lengths", items=_units(LENGTHS), default="m")
    clipboard: bpy.props.BoolProperty(name="Copy", description="Put the text on the clipboard too", default=True)

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        robot = binding(obj)
        kind, tip = self.given("kind", obj.robokin.table_kind), self.given("tip", obj.robokin.table_tip)
        if tip and tip not in robot.link_of_bone:
            raise UnknownNameError("bone of the robot", tip, robot.link_of_bone)
        link = robot.link_of_bone[tip] if tip else ""
        table = screw_table(robot.model, link) if kind == "SCREWS" else dh_table(robot.model, link, kind.lower())
        content = robot_table_text(table, self.angles, self.lengths)
        text = new_text(context, f"{robot.model.name} {kind.title()}.csv", content)
        if self.clipboard:
            context.window_manager.clipboard = content
        self.report({"INFO"}, f"text {text.name!r}: {counted(len(table.rows), 'row')}")
        return {"FINISHED"}


def draw_templates(menu: bpy.types.Menu, context: bpy.types.Context) -> None:
    menu.layout.operator_menu_enum(ROBOKIN_OT_table_example.bl_idname, "kind", text="Robot Table")


CLASSES = (ROBOKIN_OT_table_example, ROBOKIN_OT_robot_from_text, ROBOKIN_OT_robot_to_text)


register, unregister = registration(CLASSES, (bpy.types.TEXT_MT_templates, draw_templates))
