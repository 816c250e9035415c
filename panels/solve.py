"""Solve, bake, check and export: settings, one button each, and what the last run said."""

from __future__ import annotations

import bpy

from ..properties.results import readouts
from ..properties.results.result_text import TOO_FAST, in_scene_units, named_first, status_words
from ..robokin.structure.short_names import clipped
from ..robokin.units import counted
from .prepared.robot_panel import RobotPanel, draw_status, draw_text, options, row_letters
from .why import draw_path_remedy, draw_why

SHOWN = 3  # segments of frames that fail: the page fits a screen, and the timeline marks them all
SAME_FRAME = 0.01  # frames, in single precision
LIMITS_SHOWN = 8  # segments of frames and what limits them, which nothing marks


class ROBOKIN_PT_solve(RobotPanel, bpy.types.Panel):
    bl_label = "Solve"
    bl_idname = "ROBOKIN_PT_solve"
    page = "TASKS"
    bl_order = 3

    def draw_robot(self, context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        settings = obj.robokin.solver
        _button(layout, "robokin.solve_pose", "ARMATURE_DATA")
        layout.operator("robokin.postures", icon="POSE_HLT")
        layout.operator("robokin.snap_targets", icon="SNAP_ON")
        if settings.status and not (obj.robokin.live and readouts.live(obj)):  # Live says it above
            draw_status(context, layout, settings.status, settings.reason, readouts.is_present(obj, "solve"))
            draw_why(layout, obj)
        body = options(layout, "robokin_solve_options")
        if body is not None:
            body.prop(settings, "key")
            body.prop(settings, "seed")
            body.operator("robokin.solve_by_method", text="Solve by Method...")


class ROBOKIN_PT_bake(RobotPanel, bpy.types.Panel):
    bl_label = "Bake"
    bl_idname = "ROBOKIN_PT_bake"
    page = "ANIMATE"
    bl_order = 4

    def draw_robot(self, context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        settings = obj.robokin.solver
        column = layout.column()
        column.prop(settings, "bake_mode")
        if settings.bake_mode == "WHOLE":
            column.prop(settings, "motion_cost")
            if settings.motion_cost != "DURATION":
                column.prop(settings, "duration_weight")
            row = column.row(heading="Limits")
            row.prop(settings, "efforts")
            row.prop(settings, "bake_jerk")
        else:
            column.prop(settings, "at_singularities")
            if settings.at_singularities == "DEVIATE":
                column.prop(settings, "deviation_position")
                column.prop(settings, "deviation_orientation")
        column.prop(settings, "start")
        if settings.start == "POSTURE":
            column.prop_search(settings, "posture", obj.robokin, "postures", icon="POSE_HLT")
        _button(layout, "robokin.bake", "ACTION")
        if not obj.robokin.tasks:
            draw_text(context, layout, "Nothing to bake yet: add a target on the page Tasks", "INFO")
        failures = [item for item in settings.bake_failures if item.status]
        if settings.bake_status:
            is_present = readouts.is_present(obj, "bake")
            if failures and _check_lists(obj):  # the page fits a screen
                words = status_words(settings.bake_status, settings.bake_reason) if is_present else "Before the Change"
                body = options(layout, "robokin_bake_failures", words)
            else:
                draw_status(context, layout, settings.bake_status, settings.bake_reason, is_present, len(failures))
                body = layout
            if body is not None:
                _draw_failures(context, body, failures, "BAKE", is_present)
                if is_present:
                    _draw_bake_remedies(body, obj, failures)
        body = options(layout, "robokin_bake_options")
        if body is not None:
            body.prop(settings, "step")
            body.prop(settings, "new_action")


class ROBOKIN_PT_check(RobotPanel, bpy.types.Panel):
    bl_label = "Check"
    bl_idname = "ROBOKIN_PT_check"
    page = "ANIMATE"
    bl_order = 5

    def draw_robot(self, context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        settings = obj.robokin.solver
        row = _button(layout, "robokin.check", "VIEWZOOM")
        row.operator("robokin.check_clear", text="", icon="X")
        row = layout.row(align=True)
        row.operator("robokin.smooth", icon="SMOOTHCURVE")
        row.operator("robokin.reduce_keys", icon="DECORATE_KEYFRAME")
        row = layout.row(align=True)
        row.operator("robokin.retime", icon="TIME")
        row.prop(settings, "retime_mode", text="")
        if settings.retime_mode == "DURATION":
            layout.prop(settings, "retime_duration")
        _draw_limits(context, layout, obj, [item for item in settings.retime_limits if item.status])
        is_present = bool(settings.check_summary) and readouts.is_present(obj, "check")
        if not is_present:
            _draw_edited(context, layout, obj)
        if settings.check_summary:
            box = layout.box()
            box.alert, box.active = is_present and not settings.check_passed, is_present
            if not is_present:
                box.label(text="Before the change:", icon="TIME")
            text = in_scene_units(context.scene, settings.check_summary)
            draw_text(context, box, text, "CHECKMARK" if settings.check_passed else "ERROR")
            failures = [item for item in settings.check_failures if item.status]
            _draw_failures(context, layout, failures, "CHECK", is_present)
            if is_present and failures:
                _draw_check_remedies(layout, obj, failures)
        body = options(layout, "robokin_check_options")
        if body is not None:
            body.prop(settings, "markers")
            body.prop(settings, "tipping")
            row = body.row(align=True)
            row.prop(settings, "singularity")
            row.operator("robokin.key_singularities", text="", icon="FCURVE")
            row.operator("robokin.clear_singularities", text="", icon="X")
            limits = options(body, "robokin_retime_options", "Limits of Drives and Tools")
            if limits is not None:
                limits.prop(settings, "efforts")
                for name in ("jerk", "power", "tool_speed", "tool_acceleration"):
                    limits.prop(settings, f"retime_{name}")


class ROBOKIN_PT_export(RobotPanel, bpy.types.Panel):
    bl_label = "Export"
    bl_idname = "ROBOKIN_PT_export"
    page = "ANIMATE"
    bl_order = 6

    def draw_robot(self, context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
        settings = obj.robokin.solver
        column = layout.column()
        column.prop(settings, "format")
        own = "" if settings.rate else f" (0: {context.scene.render.fps / context.scene.render.fps_base:.4g})"
        column.prop(settings, "rate", text=f"Rate Hz{own}")
        row = _button(layout, "robokin.export_motion", "EXPORT")
        row.operator("robokin.import_motion", icon="IMPORT")


def _check_lists(obj: bpy.types.Object) -> bool:
    """Whether Check lists frames of the present motion, which those of the bake are among."""
    has_failures = any(item.status for item in obj.robokin.solver.check_failures)
    return has_failures and readouts.is_present(obj, "check")


def _too_fast(failures: list) -> bool:
    """Whether more time would help."""
    return any(status_words(failure.status, failure.reason) == TOO_FAST for failure in failures)


def _draw_edited(context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object) -> None:
    """What the curves break as they are being edited, and what helps."""
    edited = readouts.broken(obj)
    if edited is None or not (edited.rows or edited.unseen):
        return
    if edited.rows:
        box = layout.box()
        if _are_meant(obj, list(edited.rows)):
            what = counted(edited.count, "frame misses", "frames miss")
            draw_text(context, box, f"{what} a task since keys were reduced, smoothed or retimed", "INFO")
        else:
            box.alert = True
            what = counted(edited.count, "frame breaks", "frames break")
            box.label(text=f"{what} a task or a limit", icon="ERROR")
        _draw_failures(context, layout, list(edited.rows), "EDITED", True)
        _draw_check_remedies(layout, obj, list(edited.rows))
    if edited.unseen:
        draw_text(context, layout, f"Not judged until Check: {', '.join(edited.unseen)}", "INFO")


def _are_meant(obj: bpy.types.Object, failures: list) -> bool:
    """Whether a person has asked for them: by the bounds of Reduce Keys, or by a motion that is smooth or retimed."""
    return all(failure.status == "MAX_ITERATIONS" for failure in failures) and readouts.is_present(obj, "rewritten")


def _draw_check_remedies(layout: bpy.types.UILayout, obj: bpy.types.Object, failures: list) -> None:
    if _are_meant(obj, failures):
        return
    column = layout.column(align=True)
    if all(f.status == "COLLISION" for f in failures) and not obj.robokin.solver.avoid_collisions:
        column.prop(obj.robokin.solver, "avoid_collisions")  # without it nothing is solved in another way
    else:
        column.operator("robokin.solve_again", icon="FILE_REFRESH")
    if all(failure.status == "LIMIT" for failure in failures):
        column.operator("robokin.smooth", icon="SMOOTHCURVE")
    if _too_fast(failures):
        button = column.operator("robokin.retime", text="Slow Down Where Too Fast", icon="TIME")
        button.mode = "AS_ANIMATED"


def _draw_bake_remedies(layout: bpy.types.UILayout, obj: bpy.types.Object, failures: list) -> None:
    settings, (first, last) = obj.robokin.solver, obj.robokin.baked_frames
    stretch = settings.bake_stretch
    if abs(stretch - 1.0) * (last - first) > SAME_FRAME:
        button = layout.operator("robokin.slow_targets", text="Move Targets Along", icon="TIME")
        button.factor, button.frame_start, button.frame_end = stretch, first, round(first + (last - first) / stretch)
    if any(failure.status == "COLLISION" for failure in failures):
        draw_path_remedy(layout)
    if _too_fast(failures):
        layout.operator("robokin.slow_targets", icon="TIME")
    if failures and settings.start != "AUTOMATIC":
        layout.operator("robokin.bake", text="Look for Another Start", icon="VIEWZOOM").start = "AUTOMATIC"


def _draw_failures(
    context: bpy.types.Context, layout: bpy.types.UILayout, failures: list, of: str, is_present: bool
) -> None:
    """A row for each, which goes to its first frame; below, why the one at the present frame, else the first, fails."""
    if not failures:
        return
    rows, frame = layout.column(align=True), context.scene.frame_current
    rows.active = is_present
    chosen = next((failure for failure in failures if failure.first <= frame <= failure.last), failures[0])
    texts = [_row_text(context, failure) for failure in failures[:SHOWN]]
    for index, (failure, text) in enumerate(zip(failures, texts, strict=False)):
        if texts.count(text) > 1:
            text = clipped(
                f"{_frames(failure)}: {in_scene_units(context.scene, failure.reason)}", row_letters(context, 1.0)
            )
        shown = rows.operator("robokin.failure_show", text=text, icon="TIME", depress=failure == chosen)
        shown.index, shown.of = index, of
    if len(failures) > SHOWN:
        rows.label(text=_more(len(failures) - SHOWN))
    words, reason = status_words(chosen.status, chosen.reason), in_scene_units(context.scene, chosen.reason)
    begun = reason.startswith(words.lower())  # "too fast for ...": not said twice
    draw_text(context, rows.box(), reason[:1].upper() + reason[1:] if begun else f"{words}: {reason}")


def _row_text(context: bpy.types.Context, failure: bpy.types.PropertyGroup) -> str:
    """Frames, what is wrong, and of which joint or task."""
    text, name = f"{_frames(failure)}: {status_words(failure.status, failure.reason)}", named_first(failure.reason)
    return f"{text}, {clipped(name, max(row_letters(context, 1.0) - len(text) - 2, 8))}" if name else text


def _draw_limits(context: bpy.types.Context, layout: bpy.types.UILayout, obj: bpy.types.Object, rows: list) -> None:
    """What keeps the retimed animation from being faster, each with a button that goes there."""
    if not rows or not readouts.is_present(obj, "retime"):
        return
    column = layout.box().column(align=True)
    column.label(text="What keeps it from being faster:", icon="TIME")
    for index, row in enumerate(rows[:LIMITS_SHOWN]):
        text = f"{_frames(row)}: {row.status} of " if row.reason else f"{_frames(row)}: the {row.status} itself"
        text += clipped(row.reason, max(row_letters(context, 1.0) - len(text), 8))
        shown = column.operator("robokin.failure_show", text=text)
        shown.index, shown.of = index, "RETIME"
    if len(rows) > LIMITS_SHOWN:
        column.label(text=_more(len(rows) - LIMITS_SHOWN))


def _more(count: int) -> str:
    return f"and {counted(count, 'more segment of frames', 'more segments of frames')}"


def _frames(row: bpy.types.PropertyGroup) -> str:
    return f"{row.first}" if row.first == row.last else f"{row.first} - {row.last}"


def _button(layout: bpy.types.UILayout, operator: str, icon: str) -> bpy.types.UILayout:
    row = layout.row(align=True)
    row.scale_y = 1.3
    row.operator(operator, icon=icon)
    return row


CLASSES = (ROBOKIN_PT_solve, ROBOKIN_PT_bake, ROBOKIN_PT_check, ROBOKIN_PT_export)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
