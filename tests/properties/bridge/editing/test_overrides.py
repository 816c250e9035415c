"""Robots of other files, linked and overridden: what can be written is written and stays, what cannot is refused in one
line, and nothing is half written."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest
from robokin_addon.operators.handlers import criterion_readouts
from robokin_addon.operators.tasks import tasks
from robokin_addon.properties.bridge import robot_model
from robokin_addon.properties.task_kinds import KINDS
from robokin_addon.robokin import RobokinError
from robokin_addon.scene.animation.frames import fcurves
from support.blender.drawing import while_blender_draws
from support.blender.panels import draw
from support.blender.scene_robots import add_robot, add_target
from support.few import rest_slow

SCENE = ("objects", "meshes", "curves", "actions", "armatures", "collections")


@pytest.fixture
def library(scene, tmp_path: Path) -> str:
    """A file with a robot in a collection, and a target that is out of reach."""
    robot = add_robot()
    target = add_target(robot)
    collection = bpy.data.collections.new("Robots")
    scene.collection.children.link(collection)
    for obj in (robot, target):
        scene.collection.objects.unlink(obj)
        collection.objects.link(obj)
    target.location = (5.0, 5.0, 5.0)
    bpy.context.view_layer.objects.active = robot
    assert bpy.ops.robokin.criterion_add(kind="JOINT_SPRINGS") == {"FINISHED"}
    assert bpy.ops.robokin.posture_add(name="mine") == {"FINISHED"}
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    return path


def overridden(path: str, way: str = "collection") -> bpy.types.Object:
    """The robot of that file, in an override of its collection, with its bones or without, or in a copy of its own that
    shows the linked bones."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene, view_layer = bpy.context.scene, bpy.context.view_layer
    with bpy.data.libraries.load(path, link=True) as (_, into):
        into.collections = ["Robots"]
    linked = into.collections[0]
    if way == "copy":
        robot = next(obj for obj in linked.objects if obj.type == "ARMATURE").copy()
        scene.collection.objects.link(robot)
    else:
        linked.override_hierarchy_create(scene, view_layer, do_fully_editable=True)
        robot = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE" and obj.override_library is not None)
        if way == "bones" and robot.data.override_library is None:
            robot.data.override_create(remap_local_usages=True)
    view_layer.update()
    view_layer.objects.active = robot
    return robot


def reloaded(tmp_path: Path) -> bpy.types.Object:
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    return next(obj for obj in bpy.data.objects if obj.type == "ARMATURE" and obj.library is None)


def contents(robot: bpy.types.Object) -> dict:
    """All that an operator that fails leaves as it was."""
    found = {kind: sorted(each.name_full for each in getattr(bpy.data, kind)) for kind in SCENE}
    found["lists"] = [[item.name for item in getattr(robot.robokin, n)] for n in ("tasks", "criteria", "postures")]
    found["places"] = [getattr(robot.robokin, f"active_{n}") for n in ("task", "criterion", "posture")]
    found["keys"] = {key: len(curve.keyframe_points) for key, curve in fcurves(robot).items()}
    found["selected"] = sorted(obj.name for obj in bpy.context.view_layer.objects.selected)
    solver = robot.robokin.solver
    found["said"] = [solver.bake_status, [(f.first, f.status) for f in solver.bake_failures], solver.posture]
    return found


SOME = ("POSE", "ALONG_CURVE", *(kind for kind in KINDS if not KINDS[kind].target))[:3]
ONLY_SLOW = [kind for kind in KINDS if kind not in SOME]
CALLS: dict[str, tuple[str, dict]] = {
    "bake": ("bake", {"frame_end": 3}),
    "bake anew": ("bake", {"frame_end": 3, "new_action": True}),
    "check": ("check", {"frame_end": 3}),
    "check_clear": ("check_clear", {}),
    "solve": ("solve_pose", {}),
    "solve and key": ("solve_pose", {"key": True}),
    "store": ("store_posture", {}),
    "add posture": ("posture_add", {}),
    "apply posture": ("posture_apply", {}),
    "overwrite posture": ("posture_overwrite", {}),
    "remove posture": ("posture_remove", {"name": "mine"}),
    "move posture": ("posture_move", {"direction": "UP"}),
    "role of posture": ("posture_role", {"role": "HOME"}),
    "mirror posture": ("posture_mirror", {}),
    "mirror": ("mirror_pose", {}),
    "rest": ("reset_pose", {}),
    "home": ("home", {}),
    "helpers": ("helper_bones", {}),
    "limits": ("limits_from_arc", {"bone": "panda_joint1"}),
    "reset record": ("reset_record", {"bone": "panda_joint1"}),
    "add criterion": ("criterion_add", {}),
    "remove criterion": ("criterion_remove", {"index": 0}),
    "remove task": ("task_remove", {"index": 0}),
    "make": ("make_robot", {}),
    "convert": ("convert_rig", {}),
    "joint": ("set_joint", {"joint_type": "fixed"}),
    "mass": ("inertia_from_mesh", {"which": "ALL"}),
}
# ... and the same with each kind of task, of which three are enough every time.
OF_KINDS = [
    {f"{name} {kind}": (name, {"kind": kind}) for name in ("task_add", "target_add") for kind in kinds}
    for kinds in (SOME, ONLY_SLOW)
]
EDITED = ("limits", "reset record", "make", "convert", "joint", "mass")  # of the bones, which are the other file's
LISTED = ("remove posture", "move posture", "remove criterion", "remove task")  # of lists, which in overrides only grow
FREE = [f"target_add {kind}" for kind in KINDS if not KINDS[kind].target]


@pytest.mark.parametrize("way", rest_slow(["collection", "bones", "copy"]))
@pytest.mark.parametrize("calls", rest_slow([CALLS | OF_KINDS[0], OF_KINDS[1]]), ids=len)
def test_operators_write_all_or_nothing(library, monkeypatch, way, calls):
    while_blender_draws(monkeypatch)
    for call, (name, options) in calls.items():
        robot = overridden(library, way)
        before, model = contents(robot), robot_model(robot)
        try:
            outcome = getattr(bpy.ops.robokin, name)(**options)
        except RuntimeError as error:
            assert "Traceback" not in str(error), f"{call}: {error}"
            outcome = {"CANCELLED"}
        if outcome != {"FINISHED"}:
            assert contents(robot) == before, call
        refused = call in EDITED or call in FREE or (way != "copy" and call in LISTED)
        assert (outcome == {"FINISHED"}) != refused, call
        if call in EDITED:
            assert robot_model(robot) is model
        draw()
        criterion_readouts._compute_waiting()


@pytest.mark.parametrize("way", ["collection", "bones", "copy"])
def test_a_bake_that_fails_frames_says_which_and_so_it_is_kept(library, tmp_path, way):
    robot = overridden(library, way)
    assert bpy.ops.robokin.bake(frame_start=1, frame_end=3) == {"FINISHED"}
    for found in (robot, None):
        found = found or reloaded(tmp_path)
        (failure,) = found.robokin.solver.bake_failures
        assert (failure.first, failure.last, failure.status) == (1, 3, "OUT_OF_REACH")
        assert found.robokin.solver.bake_status == "OUT_OF_REACH" and len(fcurves(found)) > 7
    assert draw(object=found, active_object=found)["ROBOKIN_PT_bake"]["operators"].count("robokin.failure_show") == 1


def test_failures_of_the_library_are_not_those_of_the_override(library, tmp_path):
    bpy.ops.wm.open_mainfile(filepath=library)
    target = bpy.data.objects["panda_hand_tcp target"]
    away = target.location.copy()
    for frame, place in ((1, away), (3, (0.4, 0.0, 0.5)), (18, (0.4, 0.0, 0.5)), (20, away)):
        target.location = place
        target.keyframe_insert("location", frame=frame)
    assert bpy.ops.robokin.bake(frame_start=1, frame_end=20) == {"FINISHED"}
    assert len(bpy.context.object.robokin.solver.bake_failures) >= 2
    bpy.context.object.animation_data.action = None
    bpy.ops.wm.save_mainfile()
    robot = overridden(library)
    for first, last, count in ((1, 1, 1), (8, 12, 0), (20, 20, 1)):
        assert bpy.ops.robokin.bake(frame_start=first, frame_end=last) == {"FINISHED"}
        shown = draw()["ROBOKIN_PT_bake"]["operators"].count("robokin.failure_show")
        assert shown == count == len([item for item in robot.robokin.solver.bake_failures if item.status])
    robot = reloaded(tmp_path)
    assert [(item.first, item.last) for item in robot.robokin.solver.bake_failures if item.status] == [(20, 20)]
    with pytest.raises(RuntimeError, match="has 1 segment of"):
        bpy.ops.robokin.failure_show(index=1)


def test_a_target_goes_where_something_can_be_added(library):
    robot = overridden(library)
    (own,) = robot.users_collection
    assert own.override_library is not None
    assert bpy.ops.robokin.target_add(kind="POSE") == {"FINISHED"}
    target = robot.robokin.tasks[-1].target
    assert target.users_collection == (bpy.context.scene.collection,) and target == bpy.context.object


def test_settings_of_an_override_are_kept(library, tmp_path):
    robot = overridden(library)
    solver = robot.robokin.solver
    solver.seed, solver.range, solver.frame_end, solver.new_action = 7, "CUSTOM", 33, True
    solver = reloaded(tmp_path).robokin.solver
    assert (solver.seed, solver.range, solver.frame_end, solver.new_action) == (7, "CUSTOM", 33, True)


@pytest.mark.parametrize("way", ["collection", "copy"])
def test_an_action_of_another_file_is_not_written(library, way):
    """Neither keys nor the paths by which it animates tasks, which would be others when the file is opened again."""
    bpy.ops.wm.open_mainfile(filepath=library)
    robot = bpy.context.object
    assert bpy.ops.robokin.task_add(kind="POSITION") == {"FINISHED"}
    robot.keyframe_insert("robokin.tasks[1].influence", frame=1)
    robot.pose.bones["panda_joint1"].keyframe_insert("rotation_euler", index=1, frame=1)
    bpy.ops.wm.save_mainfile()
    robot = overridden(library, way)
    paths = sorted(path for path, _ in fcurves(robot))
    linked = "is linked from another file|come from another file"
    calls = {"task_move": {"index": 0, "direction": "DOWN"}, "task_remove": {"index": 0}, "bake": {"frame_end": 2}}
    for name, options in (calls | {"solve_pose": {"key": True}}).items():
        before = contents(robot)
        with pytest.raises(RuntimeError, match=linked):
            getattr(bpy.ops.robokin, name)(**options)
        assert contents(robot) == before
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    robot.pose.bones["panda_joint1"].rotation_euler[1] = 50.0
    bpy.context.view_layer.update()
    robot.pose.bones["panda_joint1"].robokin_range = 20.0
    for name in ("solve_pose", "home", "reset_pose"):
        assert getattr(bpy.ops.robokin, name)() == {"FINISHED"}
    assert sorted(path for path, _ in fcurves(robot)) == paths
    assert [len(curve.keyframe_points) for curve in fcurves(robot).values()] == [1, 1]


def test_what_fails_late_leaves_no_task_and_no_object(scene, monkeypatch):
    robot = add_robot()
    add_target(robot)
    bpy.context.view_layer.objects.active = robot
    before = contents(robot)

    def fails(*arguments):
        raise RobokinError("no place")

    monkeypatch.setattr(tasks, "take_present", fails)
    for name in ("task_add", "target_add"):
        with pytest.raises(RuntimeError, match="no place"):
            getattr(bpy.ops.robokin, name)(kind="DISTANCE")
        assert contents(robot) == before
