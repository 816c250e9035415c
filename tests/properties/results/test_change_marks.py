"""What is shown of a robot: worked out once for each change, and never that of before one."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.properties.results import readouts
from robokin_addon.properties.results.change_marks import once_for_each_change
from support.blender.scene_robots import add_robot, add_target


@pytest.fixture
def robot(scene):
    found = add_robot()
    add_target(found)
    bpy.context.view_layer.update()
    return found


def worked_out():
    """(what tells the tolerance of the first task and the place of its target, calls of it)."""
    calls = []

    @once_for_each_change
    def told(obj, *_):
        calls.append(obj.name)
        tasks = obj.robokin.tasks
        return obj.name, len(tasks), *((tasks[0].position_tolerance, *tasks[0].target.location) if len(tasks) else ())

    return told, calls


def test_nothing_is_worked_out_again_where_nothing_has_changed(robot) -> None:
    told, calls = worked_out()
    first = told(robot)
    assert told(robot) is first and len(calls) == 1
    told(robot, "another argument")
    told(robot)
    assert len(calls) == 2


def edit_a_field(robot) -> None:
    robot.robokin.tasks[0].position_tolerance = 0.5
    bpy.context.view_layer.update()


def move_the_target(robot) -> None:
    robot.robokin.tasks[0].target.location.x += 0.25
    bpy.context.view_layer.update()


def go_to_another_frame(robot) -> None:
    target = robot.robokin.tasks[0].target
    for frame, x in ((1, 0.0), (9, 0.75)):
        target.location.x = x
        target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(5)


def remove_by_a_script(robot) -> None:
    """Blender is told nothing, and updates nothing."""
    robot.robokin.tasks.remove(0)


@pytest.mark.parametrize("change", [edit_a_field, move_the_target, go_to_another_frame, remove_by_a_script])
def test_after_a_change_it_is_the_new_one(robot, change) -> None:
    told, _ = worked_out()
    before = told(robot)
    change(robot)
    anew, _ = worked_out()
    assert told(robot) == anew(robot) != before


def test_undo_and_redo_bring_back_what_was(robot) -> None:
    told, _ = worked_out()
    bpy.ops.ed.undo_push(message="before")
    before, name = told(robot), robot.name
    edit_a_field(robot)
    bpy.ops.ed.undo_push(message="after")
    after = told(robot)
    bpy.ops.ed.undo()
    assert told(bpy.data.objects[name]) == before != after
    bpy.ops.ed.redo()
    assert told(bpy.data.objects[name]) == after


def test_a_file_shows_its_own(robot, tmp_path) -> None:
    told, name, file = worked_out()[0], robot.name, str(tmp_path / "robot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    saved = told(robot)
    edit_a_field(robot)
    assert told(robot) != saved
    bpy.ops.wm.open_mainfile(filepath=file)
    assert told(bpy.data.objects[name]) == saved


def test_two_robots_and_two_scenes_have_their_own(robot) -> None:
    told, calls = worked_out()
    other = add_robot()
    bpy.context.view_layer.update()
    assert told(robot)[0] == robot.name and told(other)[0] == other.name and len(calls) == 2
    second = bpy.data.scenes.new("second")
    second.collection.objects.link(robot)
    told(robot)
    count, first = len(calls), bpy.context.window.scene
    bpy.context.window.scene = second
    told(robot)
    assert len(calls) == count + 1
    bpy.context.window.scene = first


def test_results_that_a_script_stores_are_said_at_once(robot) -> None:
    robot.robokin.live = True
    bpy.context.view_layer.update()
    assert readouts.live(robot).is_met
    robot.robokin.solver.status, robot.robokin.solver.reason = "OUT_OF_REACH", "1 m too far"
    assert "1 m too far" in readouts.live(robot).text
    robot.robokin.live = False
    bpy.context.view_layer.update()
    assert readouts.live(robot) is None and not readouts.is_present(robot, "check")
    with bpy.context.temp_override(object=robot):
        bpy.ops.robokin.check(frame_start=1, frame_end=2)
    assert readouts.is_present(robot, "check")
    edit_a_field(robot)
    assert not readouts.is_present(robot, "check")
