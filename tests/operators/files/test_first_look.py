"""How a robot stands and is seen when it has just been imported or added."""

from __future__ import annotations

import shutil

import bpy
import numpy as np
import pytest
from robokin_addon.operators.files.first_look import show
from robokin_addon.properties.bridge import read_configuration, robot_model
from robokin_addon.robokin import forward_kinematics, frame_jacobian
from robokin_addon.robokin.urdf.srdf import srdf_beside
from support.few import rest_slow
from support.robots import robot


def imported(path, **options):
    assert bpy.ops.robokin.import_urdf(filepath=str(path), **options) == {"FINISHED"}
    return bpy.context.object


def lowest(obj):
    """World height of the lowest corner of what the robot wears."""
    bpy.context.view_layer.update()
    return min((o.matrix_world @ v.co).z for o in obj.children if o.type == "MESH" for v in o.data.vertices)


def test_a_humanoid_stands_on_the_ground_in_the_pose_of_the_file_beside_it(scene, capfd):
    obj = imported(robot("talos_reduced"))
    assert robot_model(obj).root == "floating" and "floating base" in capfd.readouterr().out
    assert abs(lowest(obj)) < 1e-4
    assert obj.robokin.home_posture == "half_sitting"


@pytest.mark.parametrize(
    ("name", "knee"), [("g1_29dof_rev_1_0", "left_knee_joint"), ("laikago", "FL_calf_joint"), ("solo12", "FL_KFE")]
)
def test_a_robot_stands_on_bent_legs_on_the_ground_and_is_at_home_there(scene, name, knee):
    obj = imported(robot(name), postures=False)
    model, q = robot_model(obj), read_configuration(obj)
    assert abs(lowest(obj)) < 1e-4
    assert abs(q[model.slot(knee).q][0]) > 0.3
    bpy.ops.robokin.home()
    np.testing.assert_allclose(read_configuration(obj), q, atol=1e-6)


@pytest.mark.parametrize("root", ["fixed", "planar"])
def test_a_humanoid_whose_pelvis_does_not_come_down_is_raised_onto_its_soles(scene, root, capfd):
    obj = imported(robot("g1_29dof_rev_1_0"), root=root)
    assert abs(lowest(obj)) < 1e-4 and obj.location.z == pytest.approx(0.777, abs=1e-3)
    assert "raised by 0.777" in capfd.readouterr().out


@pytest.mark.parametrize("height", rest_slow([1.0, 0.0]))
@pytest.mark.parametrize("unit", [1.0, 0.01])
@pytest.mark.parametrize(("name", "root"), [("humanoid", "own"), ("puppet", "own"), ("humanoid", "floating")])
def test_soles_of_the_library_are_on_the_height_of_the_cursor(scene, name, root, height, unit):
    scene.unit_settings.scale_length = unit
    scene.cursor.location.z = height / unit
    assert bpy.ops.robokin.add_robot(robot=name, root=root) == {"FINISHED"}
    obj = bpy.context.object
    assert lowest(obj) * unit == pytest.approx(height, abs=1e-4)
    assert abs(read_configuration(obj)[robot_model(obj).slot("left_knee").q][0]) > 0.3


def test_a_humanoid_whose_file_has_y_upward_stands_upright_on_the_ground(scene, capfd):
    obj = imported(robot("human"))
    model, q = robot_model(obj), read_configuration(obj)
    assert model.root == "floating" and "floating base" in capfd.readouterr().out
    placed = forward_kinematics(model, q)
    heights = [placed[link][2, 3] for link in ("middle_head", "middle_pelvis", "left_hand", "left_foot")]
    assert heights == sorted(heights, reverse=True) and heights[0] > heights[-1] + 1.0
    assert placed["middle_thorax"][2, 3] > heights[2]
    assert abs(lowest(obj)) < 1e-4
    hands = [placed[f"{side}_hand"][:3, 3] for side in ("left", "right")]
    assert min(hand[0] for hand in hands) > 0.1 and hands[0][1] > 0.1 > -0.1 > hands[1][1]  # before it, at both sides
    bpy.ops.robokin.home()
    np.testing.assert_allclose(read_configuration(obj), q, atol=1e-6)


def test_a_fixed_robot_on_a_pedestal_stands_on_it_and_says_so(scene, capfd):
    obj = imported(robot("baxter"))
    assert abs(lowest(obj)) < 1e-4 and obj.location.z == pytest.approx(0.924, abs=1e-3)
    assert "raised by 0.9242 m, onto the ground" in capfd.readouterr().out


BOXES = """<robot name="r"><link name="base"><visual><origin xyz="0 0 {at}"/><geometry>
<box size=".2 .2 {tall}"/></geometry></visual></link>
<link name="arm"><visual><origin xyz="0 0 {reach}"/><geometry><box size=".1 .1 .6"/></geometry></visual></link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-.1" upper=".1" effort="1" velocity="1"/></joint></robot>"""


@pytest.mark.parametrize(
    ("at", "tall", "reach", "root", "raised"),
    [
        (-0.25, 0.5, 0.3, "auto", 0.5),  # a pedestal
        (0.05, 0.12, 0.4, "auto", 0.0),  # a flange a centimetre below its own frame
        (-0.05, 0.1, -0.4, "auto", 0.0),  # from a ceiling
        (0.0, 0.2, 0.4, "planar", 0.1),  # a base that drives, its frame at the axles
        (0.0, 0.2, -0.4, "planar", 0.7),
    ],
)
@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_what_stands_in_the_ground_is_raised_onto_it(scene, tmp_path, at, tall, reach, root, raised, unit):
    scene.unit_settings.scale_length = unit
    path = tmp_path / "r.urdf"
    path.write_text(BOXES.format(at=at, tall=tall, reach=reach))
    obj = imported(path, root=root)
    assert obj.location.z * unit == pytest.approx(raised, abs=1e-6)


LEG = """<link name="hip_{i}"/><link name="thigh_{i}"/><link name="shank_{i}"><visual><origin xyz="0 0 -.15"/><geometry>
<cylinder radius=".02" length=".3"/></geometry></visual></link>
<joint name="roll_{i}" type="revolute"><parent link="base"/><child link="hip_{i}"/><origin xyz="{x} {y} 0"/>
<axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="pitch_{i}" type="revolute"><parent link="hip_{i}"/><child link="thigh_{i}"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
<joint name="knee_{i}" type="revolute"><parent link="thigh_{i}"/><child link="shank_{i}"/><origin xyz="0 0 -.3"/>
<axis xyz="0 1 0"/><limit lower="-2.8" upper="-.25" effort="1" velocity="1"/></joint>"""


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_a_shank_ends_where_its_mesh_does_if_no_frame_is_there(scene, tmp_path, unit):
    """As of Spot's description."""
    scene.unit_settings.scale_length = unit
    places = [(x, y) for x in (0.3, -0.3) for y in (0.15, -0.15)]
    text = "".join(LEG.format(i=i, x=x, y=y) for i, (x, y) in enumerate(places))
    path = tmp_path / "dog.urdf"
    path.write_text(f'<robot name="dog"><link name="base"/>{text}</robot>')
    obj = imported(path)
    model, q = robot_model(obj), read_configuration(obj)
    placed = forward_kinematics(model, q)
    assert model.root == "floating" and abs(lowest(obj)) * unit < 1e-4
    for i, place in enumerate(places):
        T = placed[f"shank_{i}"]
        foot = T[:3, 3] - 0.3 * T[:3, 2]
        np.testing.assert_allclose(foot[:2], place, atol=1e-4)
        assert np.degrees(q[model.slot(f"knee_{i}").q][0]) == pytest.approx(-75.0, abs=0.1)


WHEEL = """<link name="wheel_{i}"><visual><origin rpy="1.5707963 0 0"/><geometry><cylinder radius=".1" length=".05"/>
</geometry></visual></link><joint name="wheel_{i}" type="continuous"><parent link="base"/><child link="wheel_{i}"/>
<origin xyz="{x} {y} 0"/><axis xyz="0 1 0"/></joint>"""


@pytest.mark.parametrize(("rows", "root"), [((0.0,), "wheeled"), ((-0.3, 0.3), "planar")])
def test_a_robot_stands_on_its_wheels_though_its_arm_hangs_below_them(scene, tmp_path, rows, root):
    places = [(x, y) for x in rows for y in (0.2, -0.2)]
    wheels = "".join(WHEEL.format(i=i, x=x, y=y) for i, (x, y) in enumerate(places))
    path = tmp_path / "r.urdf"
    path.write_text(BOXES.format(at=0.1, tall=0.2, reach=-0.4).replace("</robot>", wheels + "</robot>"))
    obj = imported(path)
    assert robot_model(obj).root == root
    assert obj.location.z == pytest.approx(0.1, abs=1e-3)


def test_the_postures_of_a_file_beside_are_taken_and_the_fullest_is_home(scene, tmp_path, capfd):
    source = robot("talos_reduced")
    shutil.copy(source, tmp_path / "talos.urdf")
    shutil.copy(source.parent.parent / "srdf" / "talos.srdf", tmp_path / "talos.srdf")
    obj = imported(tmp_path / "talos.urdf", meshes=False)
    assert obj.robokin.postures.keys() == ["half_sitting"] and obj.robokin.home_posture == "half_sitting"
    model = robot_model(obj)
    assert model.joint_values(read_configuration(obj))["leg_left_4_joint"] > 0.5
    pairs = len(obj.robokin.link_pairs)
    assert f"talos.srdf: 1 posture, {pairs} pairs of links that may touch" in capfd.readouterr().out
    assert pairs > 400
    obj = imported(tmp_path / "talos.urdf", meshes=False, postures=False)
    assert obj.robokin.postures.keys() == ["Home"]


def test_a_home_of_zeros_is_kept_but_the_robot_stands_in_a_natural_pose(scene, tmp_path):
    """That of the xArm is singular: two axes lie on each other."""
    source = robot("xarm7")
    shutil.copy(source, tmp_path / "xarm7.urdf")
    shutil.copy(source.parent.parent / "srdf" / "xarm7.srdf", tmp_path / "xarm7.srdf")
    obj = imported(tmp_path / "xarm7.urdf", meshes=False)
    model, q = robot_model(obj), read_configuration(obj)
    assert np.linalg.svd(frame_jacobian(model, q, "link_eef"), compute_uv=False).min() > 0.05
    assert obj.robokin.home_posture == "home"
    bpy.ops.robokin.home()
    assert not read_configuration(obj).any()


def test_of_several_files_only_one_of_the_same_name_is_taken(tmp_path):
    for name, about in (("a", "arm"), ("b", "arm"), ("c", "other")):
        (tmp_path / f"{name}.srdf").write_text(f'<robot name="{about}"/>')
    (tmp_path / "broken.srdf").write_text("<robot")
    assert srdf_beside(tmp_path / "arm.urdf", "arm") is None
    assert srdf_beside(tmp_path / "b.urdf.xacro", "arm") == str(tmp_path / "b.srdf")
    assert srdf_beside(tmp_path / "arm.urdf", "other") == str(tmp_path / "c.srdf")
    assert srdf_beside(tmp_path / "broken.urdf", "other") == str(tmp_path / "broken.srdf")


def test_a_damaged_file_of_postures_is_reported_and_the_robot_imported(scene, tmp_path, capfd):
    shutil.copy(robot("panda"), tmp_path / "panda.urdf")
    (tmp_path / "panda.srdf").write_text("<robot")
    obj = imported(tmp_path / "panda.urdf", meshes=False)
    assert obj.robokin.postures.keys() == ["Home"]
    assert "Warning: postures left out: " in capfd.readouterr().out


@pytest.mark.parametrize(
    ("name", "root"), [("tiago_no_hand", "wheeled"), ("panda", "fixed"), ("hyq_no_sensors", "floating")]
)
def test_the_base_is_what_the_robot_has(scene, name, root, capfd):
    obj = imported(robot(name), meshes=False)
    assert robot_model(obj).root == root and f"{root} base" in capfd.readouterr().out


def test_the_first_pose_is_home(scene):
    obj = imported(robot("panda"), meshes=False)
    q = read_configuration(obj)
    assert abs(q[3]) > 0.8
    bpy.ops.robokin.reset_pose(start="REST")
    bpy.ops.robokin.home()
    np.testing.assert_allclose(read_configuration(obj), q, atol=1e-6)


def test_the_default_cube_gives_way_and_one_that_was_touched_does_not(scene):
    for moved in (False, True):
        bpy.ops.mesh.primitive_cube_add()
        cube = bpy.context.object
        cube.name, cube.location.x = "Cube", float(moved)
        bpy.context.view_layer.update()
        obj = imported(robot("panda"), meshes=False)
        assert cube.hide_get() is not moved and cube.hide_render is not moved
        bpy.data.objects.remove(cube)
    assert show(bpy.context, obj) == []


@pytest.mark.parametrize("name", ["panda", "talos_reduced", "ur5_robot"])
def test_the_view_shows_the_whole_robot_and_no_more_than_half_as_much_again(scene, name):
    obj = imported(robot(name))
    area = next(area for area in bpy.context.screen.areas if area.type == "VIEW_3D")
    view, region = area.spaces.active.region_3d, next(each for each in area.regions if each.type == "WINDOW")
    corners = [
        child.matrix_world @ vertex.co
        for child in obj.children_recursive
        if child.type == "MESH" and child.visible_get()
        for vertex in child.data.vertices
    ]
    x, y, z = ((np.array(corners) - view.view_location) @ np.array(view.view_rotation.to_matrix())).T
    half = (view.view_distance - z) * 36.0 / area.spaces.active.lens  # of the wider side, at that depth
    narrow = region.height / region.width
    assert 0.6 < max(np.abs(x / half).max(), np.abs(y / (half * narrow)).max()) < 0.9  # 1 at the edge of the view
