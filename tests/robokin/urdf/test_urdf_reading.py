"""Every element of URDF and every default, against the specification."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from robokin_addon.robokin import load_urdf, read_urdf_text
from robokin_addon.robokin.errors import FileFormatError, UnknownNameError
from robokin_addon.robokin.model.geometry import Box, Capsule, Cylinder, Mesh, Sphere

TOY = Path(__file__).resolve().parents[2] / "data/toy_description"


@pytest.fixture(scope="module")
def toy():
    return load_urdf(TOY / "urdf/every_feature.urdf")


def two_links(joint: str, kind: str = "revolute"):
    text = f'<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="{kind}">'
    return read_urdf_text(f'{text}<parent link="a"/><child link="b"/>{joint}</joint></robot>').joint("j")


def test_tree(toy):
    assert toy.name == "every <feature>"
    assert toy.root_link.name == "base"
    types = {j.name: (j.type, j.parent, j.child) for j in toy.joints[1:]}
    assert types == {
        "turn": ("revolute", "base", "l1"),
        "spin": ("continuous", "l1", "l2"),
        "slide": ("prismatic", "l2", "l3"),
        "glue": ("fixed", "l3", "l4"),
        "float": ("floating", "base", "l5"),
        "plane": ("planar", "base", "l6"),
        "follow": ("revolute", "l1", "l7"),
    }


def test_joint_fields(toy):
    turn = toy.joint("turn")
    assert turn.axis.tolist() == [0, 0, 1]
    assert turn.placement[:3, 3].tolist() == [0, 0, 1]
    assert (turn.lower[0], turn.upper[0], turn.effort[0], turn.velocity[0]) == (-1.5, 2.5, 10, 3)
    assert (turn.acceleration[0], turn.damping, turn.friction) == (7, 0.5, 0.25)
    mimic = toy.joint("follow").mimic
    assert (mimic.joint, mimic.multiplier, mimic.offset) == ("turn", -2.0, 0.1)
    assert toy.joint("plane").axis.tolist() == [0, 1, 0]


def test_absent_or_zero_velocity_and_effort_are_unspecified(toy):
    assert (toy.joint("spin").effort[0], toy.joint("spin").velocity[0]) == (np.inf, 4)
    assert (toy.joint("slide").effort[0], toy.joint("slide").velocity[0]) == (np.inf, np.inf)
    assert toy.joint("follow").velocity[0] == np.inf


def test_defaults_of_a_joint():
    joint = two_links("<limit/>")
    assert joint.axis.tolist() == [1, 0, 0]
    assert np.array_equal(joint.placement, np.eye(4))
    assert (joint.lower[0], joint.upper[0], joint.damping, joint.friction) == (0, 0, 0, 0)
    assert two_links('<limit upper="2"/>').lower[0] == 0
    assert two_links("", "continuous").upper[0] == np.inf
    mimic = read_urdf_text(
        '<robot name="r"><link name="a"/><link name="b"/><link name="c"/>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
        '<joint name="k" type="continuous"><parent link="a"/><child link="c"/><mimic joint="j"/></joint></robot>'
    ).joint("k")
    assert (mimic.mimic.multiplier, mimic.mimic.offset) == (1.0, 0.0)


def test_the_range_of_a_continuous_joint_is_ignored():
    joint = two_links('<limit lower="-1" upper="1" velocity="2"/>', "continuous")
    assert (joint.lower[0], joint.upper[0], joint.velocity[0]) == (-np.inf, np.inf, 2)


def test_inertia_is_turned_into_the_axes_of_the_link(toy):
    base = toy.link("base")
    assert base.mass == 2.5
    assert base.com.tolist() == [0.1, 0.2, 0.3]
    assert np.allclose(base.inertia, np.diag([2.0, 1.0, 3.0]), atol=1e-15)
    assert toy.link("l1").mass == 0.0


def test_shapes(toy):
    base = toy.link("base")
    hull, box, relative = (g.shape for g in base.visuals)
    assert isinstance(hull, Mesh) and hull.scale == (0.001, 0.002, -0.003)
    assert hull.path == relative.path == str(TOY / "meshes/triangle.stl")
    assert hull.source.line == 13 and hull.source.path.endswith("every_feature.urdf")
    assert box == Box((1.0, 2.0, 3.0))
    assert [g.shape for g in base.collisions] == [Cylinder(0.1, 0.4), Capsule(0.1, 0.4), Sphere(0.25)]
    assert [g.name for g in (*base.visuals, *base.collisions)] == ["hull", "", "", "shell", "", ""]
    assert base.visuals[0].placement[:3, 3].tolist() == [1, 2, 3]


def test_materials(toy):
    steel, unnamed, unknown = (g.material for g in toy.link("base").visuals)
    assert (steel.name, steel.rgba) == ("steel", (0.5, 0.5, 0.6, 1.0))
    assert unnamed.rgba == (1.0, 0.0, 0.0, 1.0)
    assert (unknown.name, unknown.rgba) == ("unknown", None)
    paint = toy.link("l3").visuals[0].material
    assert paint == toy.link("l2").visuals[0].material
    assert (paint.rgba, paint.texture, paint.texture_path) == ((0, 1, 0, 0.5), "not_there.png", None)


def test_roots():
    path = TOY / "urdf/every_feature.urdf"
    fixed, floating = load_urdf(path), load_urdf(path, root="floating")
    assert floating.nq == fixed.nq + 7
    assert load_urdf(str(path), root="planar").nv == fixed.nv + 3
    with pytest.raises(UnknownNameError, match="floating"):
        load_urdf(path, root="flying")


def test_a_robot_without_a_name_is_called_as_its_file():
    assert read_urdf_text("<robot><link name='a'/></robot>", "some/arm.urdf").name == "arm"


@pytest.mark.parametrize(
    "data",
    [
        '\ufeff<robot name="ä"><link name="a"/></robot>',
        '\ufeff<robot name="ä"><link name="a"/></robot>'.encode(),
        '<robot name="ä"><link name="a"/></robot>'.encode("utf-16"),
        '<?xml version="1.0" encoding="latin-1"?><robot name="ä"><link name="a"/></robot>'.encode("latin-1"),
        '<?xml version="1.0" encoding="utf-16"?><robot name="ä"><link name="a"/></robot>',
    ],
)
def test_encodings(data):
    assert read_urdf_text(data).name == "ä"


def test_a_mimic_of_what_does_not_move_is_reported_and_ignored(caplog):
    joint = two_links('<limit upper="1"/><mimic joint="nobody"/>')
    assert joint.mimic is None
    assert "robot.urdf:1: joint 'j' mimics 'nobody', which is no moving joint; ignored" in caplog.text


def test_the_world_need_not_be_declared():
    joint = '<joint name="j" type="fixed"><parent link="{}"/><child link="a"/></joint>'
    text = f'<robot name="r"><link name="a"/>{joint}</robot>'
    model = read_urdf_text(text.format("world"))
    assert [link.name for link in model.links] == ["world", "a"]
    assert model.links[0].mass == 0.0
    with pytest.raises(FileFormatError, match="parent link 'World' is not a link of the robot"):
        read_urdf_text(text.format("World"))


def test_a_mass_without_inertia_is_a_point():
    inertial = '<inertial><origin xyz="0.1 0 0"/><mass value="2"/></inertial>'
    link = read_urdf_text(f'<robot name="r"><link name="a">{inertial}</link></robot>').link("a")
    assert link.mass == 2 and link.com.tolist() == [0.1, 0, 0] and not link.inertia.any()


def test_an_inertial_without_mass_is_ignored(caplog):
    inertial = '<inertial><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    link = read_urdf_text(f'<robot name="r"><link name="a">\n{inertial}</link></robot>').link("a")
    assert link.mass == 0.0 and not link.inertia.any()
    assert "robot.urdf:2: <inertial> has no <mass>: ignored" in caplog.text
