"""The pages of the tab: each has its panels, fits a screen, and folds away what is rare."""

from __future__ import annotations

import bpy
import pytest
from robokin_addon.scene.animation.frames import fcurves
from support.blender.panels import FakeLayout, draw_page
from support.blender.scene_robots import add_robot, add_target

PANELS = {
    "POSE": {"joint_values", "postures"},
    "TASKS": {"tasks", "task_axes", "criteria", "solve"},
    "ANIMATE": {"bake", "check", "dynamics", "export", "moves", "retarget"},
    "ROBOT": {"joint", "link", "tables", "collisions", "shapes"},
}


@pytest.fixture
def folded(monkeypatch):
    """Panels inside panels are folded, as they are at first."""
    monkeypatch.setattr(FakeLayout, "panel", lambda layout, name, default_closed: (layout, None))


def shown(page, **override):
    bpy.context.window_manager.robokin_page = page
    found = draw_page(**override)
    return {name.removeprefix("ROBOKIN_PT_"): drawn for name, drawn in found.items()}


@pytest.mark.parametrize("page", PANELS)
def test_a_page_has_its_panels(scene, page):
    robot = add_robot()
    add_target(robot)
    robot.data.bones.active = robot.data.bones["panda_joint4"]
    there = set(shown(page, object=robot)) - {"bone_joint", "bone_link", "text_tables", "many_joints"}
    assert there == PANELS[page] | {"robot"}
    assert "robokin_page" in shown(page, object=robot)["robot"]["props"]


@pytest.mark.parametrize(
    ("page", "panel", "words"),
    [
        ("TASKS", "tasks", "add a target"),
        ("TASKS", "criteria", "With + say"),
        ("ANIMATE", "bake", "add a target on"),
        ("ANIMATE", "moves", "+ adds a move"),
        ("ANIMATE", "retarget", "Choose the armature"),
        ("ROBOT", "collisions", "mark them"),
        ("ROBOT", "shapes", "click one"),
    ],
)
def test_what_is_empty_says_what_to_do_next(scene, page, panel, words):
    assert words in " ".join(shown(page, object=add_robot())[panel]["labels"])


def test_a_linked_robot_says_what_to_do(scene, tmp_path):
    robot = add_robot()
    name, path = robot.name, str(tmp_path / "robot.blend")
    bpy.data.libraries.write(path, {robot})
    bpy.data.objects.remove(robot)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = [name]
    scene.collection.objects.link(wanted.objects[0])
    bpy.context.view_layer.update()
    linked = wanted.objects[0]
    override = linked.override_create(remap_local_usages=True)
    override.override_library.is_system_override = True
    for obj in (linked, override):
        labels = shown("POSE", object=obj)["robot"]["labels"]
        assert "library override" in " ".join(labels)
    override.override_library.is_system_override = False
    assert "library override" not in " ".join(shown("POSE", object=override)["robot"]["labels"])


def rows_of(drawn):
    """A padlock stands in the row of its joint."""
    props = [name for name in drawn["props"] if name != "locked"]
    return len(drawn["labels"]) + len(props) + len(drawn["operators"])


@pytest.mark.parametrize("page", PANELS)
def test_a_page_of_a_seven_axis_arm_fits_a_screen(scene, folded, page):
    """A row takes 20 pixels; a screen of 1080 has about 850 for the sidebar below header and tool settings."""
    robot = add_robot()
    add_target(robot)
    robot.data.bones.active = robot.data.bones["panda_joint4"]
    closed = {
        "collisions",
        "criteria",
        "moves",
        "retarget",
        "link",
        "tables",
        "task_axes",
        "bone_joint",
        "bone_link",
        "text_tables",
    }
    rows = sum(1.4 + rows_of(drawn) for name, drawn in shown(page, object=robot).items() if name not in closed)
    assert 5 < rows * 20 < 850


@pytest.mark.parametrize("count", [1, 5, 20])
def test_what_bake_and_check_say_fits_too_where_both_fail(scene, folded, count):
    """Without it the page Animate takes 600 of 885 pixels, in the window."""
    robot = add_robot()
    target = add_target(robot)
    for i in range(2 * count + 1):  # back and forth, too far away
        target.location.x = 3.0 * (i % 2)
        target.keyframe_insert("location", frame=1 + 10 * i)
    for curve in fcurves(target).values():
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    scene.frame_start, scene.frame_end = 1, 20 * count + 5

    def rows():
        found = shown("ANIMATE", object=robot)
        return [rows_of(found[name]) for name in ("bake", "check")]

    before, settings = rows(), robot.robokin.solver
    bpy.ops.robokin.bake()
    bpy.ops.robokin.check()
    assert settings.bake_status != "CONVERGED" and not settings.check_passed
    assert 5 < sum(rows()) - sum(before) <= 10
    bpy.ops.robokin.check_clear()
    assert 5 < rows()[0] - before[0] <= 12


def test_limits_of_a_wheeled_base_are_folded(scene, folded):
    assert bpy.ops.robokin.add_robot(robot="mobile_arm") == {"FINISHED"}
    robot = bpy.context.object
    robot.data.bones.active = next(bone for bone in robot.data.bones if bone.parent is None)
    drawn = shown("ROBOT", object=robot)["joint"]
    assert len(drawn["props"]) <= 10
    assert [f"Limits of {name}" for name in ("X", "Y", "Angle")] == [t for t in drawn["labels"] if "Limits of" in t]


def test_the_rate_of_an_export_says_what_zero_stands_for(scene):
    robot = add_robot()
    scene.render.fps, scene.render.fps_base = 30, 1.001
    assert "Rate Hz (0: 29.97)" in shown("ANIMATE", object=robot)["export"]["texts"]
    robot.robokin.solver.rate = 100.0
    assert "Rate Hz" in shown("ANIMATE", object=robot)["export"]["texts"]


def test_a_selected_bone_moves_no_button_of_solve(scene):
    robot = add_robot()
    before = shown("TASKS", object=robot)
    robot.data.bones.active = robot.data.bones["panda_joint4"]
    added = set(shown("TASKS", object=robot)) - set(before)
    assert added == {"bone_joint", "bone_link"}  # of the Properties editor


def test_collisions_of_a_seven_axis_arm_fit_too(scene):
    """Unfolded, with obstacles and pairs of links, below a folded joint. Of the pairs five are shown at once."""
    robot = add_robot()
    robot.data.bones.active = robot.data.bones["panda_joint4"]
    for i in range(3):
        bpy.ops.mesh.primitive_cube_add(size=0.1, location=(2.0, i, 0.0))
        bpy.context.object.robokin.is_obstacle = True
    for i in range(20):
        pair = robot.robokin.link_pairs.add()
        pair.link_a, pair.link_b, pair.reason = "panda_link1", f"panda_link{i + 2}", "Adjacent"
    found = shown("ROBOT", object=robot)
    drawn = found["collisions"]
    assert "Why: Adjacent" in drawn["labels"] and bpy.types.ROBOKIN_PT_shapes.bl_options == {"DEFAULT_CLOSED"}
    rows = 5 * 1.4 + rows_of(found["robot"]) + rows_of(drawn) - 2 * 20 + 5
    assert 20 < rows and rows * 20 < 850


def test_pairs_of_links_leave_out_what_all_links_begin_with(scene):
    """A row for each pair. An obstacle, which is no link, has its whole name."""
    robot = add_robot()
    assert "robokin.link_pair_add" in shown("ROBOT", object=robot)["collisions"]["operators"]
    for link_a, link_b in (("panda_hand", "panda_link3"), ("panda_link1", "panda_link2"), ("panda_hand", "parcel")):
        pair = robot.robokin.link_pairs.add()
        pair.link_a, pair.link_b = link_a, link_b
    rows = shown("ROBOT", object=robot)["collisions"]["labels"]
    assert [row for row in rows if "\u2013" in row] == ["hand \u2013 link3", "link1 \u2013 link2", "hand \u2013 parcel"]


HEADER, ROW, SCREEN = 28, 24, 894  # [pixels] of a panel, of what is in it, and of the sidebar at 1080, in the window


def height_of(found, closed):
    """[pixels] of a page of the sidebar."""
    elsewhere = {"bone_joint", "bone_link", "text_tables"}
    return sum(
        HEADER + ROW * drawn["rows"] * (name not in closed) for name, drawn in found.items() if name not in elsewhere
    )


def test_a_circle_of_moves_fits_too(scene, folded):
    robot = add_robot()
    add_target(robot)
    for _ in range(2):
        assert bpy.ops.robokin.move_add(kind="CIRCLE") == {"FINISHED"}
    found = shown("ANIMATE", object=robot)
    assert "via" in found["moves"]["props"]
    assert 600 < height_of(found, {"dynamics", "retarget"}) < SCREEN


def test_a_joint_and_its_collisions_fit_together(scene, folded):
    robot = add_robot()
    bpy.ops.object.mode_set(mode="POSE")
    robot.data.bones.active = robot.data.bones["panda_joint4"]
    pair = robot.robokin.link_pairs.add()
    pair.link_a, pair.link_b = "panda_link1", "panda_link3"
    chosen = [robot.pose.bones["panda_joint4"]]
    found = shown("ROBOT", object=robot, selected_pose_bones_from_active_object=chosen)
    assert {"joint", "collisions", "many_joints"} <= set(found)
    assert 600 < height_of(found, {"link", "shapes", "tables"}) < SCREEN
