"""Every operator on tasks and criteria is one step back and one forth, and what animates an entry stays with it."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from robokin_addon.properties.bridge import read_configuration
from robokin_addon.scene.animation.frames import fcurves
from support.blender.rigs import ARM, add_rig
from support.blender.scene_robots import TOOL, add_empty, add_robot

STEPS = {
    "task_add": {"kind": "AIM", "tip": TOOL},
    "task_remove": {"index": 0},
    "task_move": {"index": 0, "direction": "DOWN"},
    "task_from_pose": {"index": 1},
    "target_add": {"kind": "POSE", "tip": TOOL},
    "criterion_add": {"kind": "SMOOTH"},
    "criterion_remove": {"index": 0},
    "criterion_move": {"index": 0, "direction": "DOWN"},
    "solve_pose": {"key": True},
    "bake": {"frame_start": 1, "frame_end": 3},
}


def plain(value):
    if isinstance(value, bpy.types.ID):
        return value.name
    if isinstance(value, bpy.types.bpy_prop_collection):
        return [[plain(getattr(item, key)) for key in item.bl_rna.properties.keys()[1:]] for item in value]
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value


def seen(name):
    """All that the operators could have changed."""
    obj = bpy.data.objects[name]
    groups = [*obj.robokin.tasks, *obj.robokin.criteria, obj.robokin.solver]
    fields = [
        (key, plain(getattr(group, key)))
        for group in groups
        for key in group.bl_rna.properties.keys()
        if key != "rna_type"
    ]
    curves = sorted((path, index, curve.evaluate(2)) for (path, index), curve in fcurves(obj).items())
    drivers = [driver.data_path for driver in obj.animation_data.drivers] if obj.animation_data else []
    constraints = [(bone.name, c.name, c.mute) for bone in obj.pose.bones for c in bone.constraints]
    pose = np.round([list(bone.matrix_basis) for bone in obj.pose.bones], 5).tolist()
    return fields, curves, drivers, constraints, pose, sorted(bpy.data.objects.keys()), len(obj.data.bones)


def there_and_back(name, operator, **settings):
    bpy.ops.ed.undo_push(message="before")
    before = seen(name)
    assert getattr(bpy.ops.robokin, operator)("EXEC_DEFAULT", True, **settings) == {"FINISHED"}
    after = seen(name)
    assert after != before
    bpy.ops.ed.undo()
    assert seen(name) == before
    bpy.ops.ed.redo()
    assert seen(name) == after


@pytest.mark.parametrize("operator", STEPS)
def test_one_step_back_and_one_forth(scene, operator):
    robot = add_robot()
    for x in (0.4, 0.5):
        bpy.ops.robokin.task_add(kind="POSITION", tip=TOOL)
        robot.robokin.tasks[-1].location = (x, 0.1, 0.5)
        robot.robokin.tasks[-1].keyframe_insert("location", frame=1)
        bpy.ops.robokin.criterion_add(kind="JOINT_SPRINGS")
        robot.robokin.criteria[-1].driver_add("weight")
    there_and_back(robot.name, operator, **STEPS[operator])


def test_a_conversion_is_one_step(scene):
    arm = add_rig(ARM)
    constraint = arm.pose.bones["hand"].constraints.new("COPY_LOCATION")
    constraint.target = add_empty("goal")
    constraint.target.location = (0.3, -0.6, 1.2)
    bpy.context.view_layer.objects.active = arm
    there_and_back(arm.name, "convert_rig")


def test_keys_and_drivers_stay_with_their_entry(scene):
    """Influence of three tasks and weight of three criteria, keyed, driven, and read by a driver of another object."""
    robot = add_robot()
    reader = add_empty("reader")
    for i in range(3):
        bpy.ops.robokin.task_add(kind="POSITION", tip=TOOL)
        bpy.ops.robokin.criterion_add(kind="MINIMUM_VELOCITY")
        task, criterion = robot.robokin.tasks[i], robot.robokin.criteria[i]
        task.name = criterion.name = f"entry {i}"
        for entry, path in ((task, "influence"), (criterion, "weight")):
            setattr(entry, path, 0.1 + 0.2 * i)
            entry.keyframe_insert(path, frame=1)
        task.driver_add("distance").driver.expression = f"{i} + 1"
        variable = reader.driver_add("location", i).driver.variables.new()
        variable.targets[0].id, variable.targets[0].data_path = robot, f"{criterion.path_from_id()}.weight"

    def check(names):
        paths = fcurves(robot)
        driven = {curve.data_path: curve.driver.expression for curve in robot.animation_data.drivers}
        for name in names:
            number = int(name[-1])
            task, criterion = robot.robokin.tasks[name], robot.robokin.criteria[name]
            expected = pytest.approx(0.1 + 0.2 * number)
            assert paths[f"{task.path_from_id()}.influence", 0].evaluate(1) == expected
            assert paths[f"{criterion.path_from_id()}.weight", 0].evaluate(1) == expected
            assert driven[f"{task.path_from_id()}.distance"] == f"{number} + 1"
            read = reader.animation_data.drivers[number].driver.variables[0].targets[0].data_path
            assert read == f"{criterion.path_from_id()}.weight"
        assert len(paths) == 2 * len(names) and sum("tasks" in path for path in driven) == len(names)

    check(["entry 0", "entry 1", "entry 2"])
    for entries in ("task", "criterion"):
        getattr(bpy.ops.robokin, f"{entries}_move")(index=0, direction="DOWN")
        getattr(bpy.ops.robokin, f"{entries}_move")(index=2, direction="UP")
    check(["entry 0", "entry 1", "entry 2"])
    for entries in ("task", "criterion"):
        getattr(bpy.ops.robokin, f"{entries}_remove")(index=1)
    check([task.name for task in robot.robokin.tasks])


def test_costs_go_with_their_criterion(scene):
    robot = add_robot()
    bpy.ops.robokin.task_add(kind="POSITION", tip=TOOL)
    for kind in ("MINIMUM_VELOCITY", "JOINT_SPRINGS"):
        bpy.ops.robokin.criterion_add(kind=kind)
    assert bpy.ops.robokin.bake(frame_start=1, frame_end=3) == {"FINISHED"}
    curves = fcurves(robot)
    springs = {name: curves[f"robokin.criteria[1].{name}", 0].evaluate(2) for name in ("cost", "slope")}
    assert springs["slope"] > 0.0
    bpy.ops.robokin.criterion_remove(index=0)
    curves = {path: curve for (path, _), curve in fcurves(robot).items() if "criteria" in path}
    assert set(curves) == {"robokin.criteria[0].cost", "robokin.criteria[0].slope"}
    for name, value in springs.items():
        assert curves[f"robokin.criteria[0].{name}"].evaluate(2) == value


def test_a_duplicate_has_tasks_of_its_own(scene):
    robot = add_robot()
    bpy.ops.robokin.target_add(kind="POSITION", tip=TOOL)
    bpy.context.view_layer.objects.active = robot
    bpy.ops.robokin.criterion_add(kind="JOINT_SPRINGS")
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj == robot)
    assert bpy.ops.object.duplicate() == {"FINISHED"}
    copy = bpy.context.object
    assert copy != robot and copy.robokin.tasks[0].target == robot.robokin.tasks[0].target
    copy.location.x += 0.1
    copy.robokin.tasks[0].name = "of the copy"
    bpy.context.view_layer.update()
    assert bpy.ops.robokin.solve_pose() == {"FINISHED"}
    assert (copy.robokin.solver.status, robot.robokin.solver.status) == ("CONVERGED", "")
    assert robot.robokin.tasks[0].name != "of the copy"
    assert not np.allclose(read_configuration(copy), read_configuration(robot), atol=1e-3)
