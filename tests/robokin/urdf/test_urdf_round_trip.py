"""read + written + read equals read; what URDF cannot say is refused or listed; files are written whole or not."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

import numpy as np
import pytest
from robokin_addon.robokin import (
    FileFormatError,
    Joint,
    Link,
    Mimic,
    ModelError,
    RobotModel,
    load_urdf,
    read_urdf_text,
    save_urdf,
    urdf_losses,
    urdf_text,
)
from robokin_addon.robokin.model.geometry import Box, Geometry, Hull, Material, Mesh, RoundedBox
from support.oracles.compare import compare_models
from support.robots import all_urdfs

TOY = Path(__file__).resolve().parents[2] / "data/toy_description/urdf/every_feature.urdf"
EMPTY = "ur3"  # the remains of a xacro file: a <robot> without links, which no reader accepts
ROBOTS = [path for path in all_urdfs() if path.stem != EMPTY]


def test_all_but_the_empty_robot_are_here():
    assert len(all_urdfs()) - len(ROBOTS) <= 1
    for path in set(all_urdfs()) - set(ROBOTS):
        with pytest.raises(FileFormatError, match="at least one link"):
            load_urdf(path)


@pytest.mark.parametrize("path", [TOY, *ROBOTS], ids=lambda path: path.stem)
def test_round_trip(path):
    model = load_urdf(path)
    again = read_urdf_text(urdf_text(model), path)
    assert compare_models(model, again, 1e-12) == []
    assert urdf_losses(model) == []
    paths = [[g.shape.path for g in link.visuals if isinstance(g.shape, Mesh)] for link in model.links]
    assert paths == [[g.shape.path for g in link.visuals if isinstance(g.shape, Mesh)] for link in again.links]


def arm(**fields: object) -> RobotModel:
    joint = Joint(**{"name": "j", "type": "revolute", "parent": "a", "child": "b", "lower": -1, "upper": 1} | fields)
    return RobotModel("r", [Link("a"), Link("b")], [joint])


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, 1.5707963, 0.0, np.pi])
def test_rotations_survive_at_the_singularity_of_rpy(pitch):
    for roll, yaw in np.random.default_rng(3).uniform(-np.pi, np.pi, (50, 2)):
        text = f'<robot name="r"><link name="a"><visual><origin rpy="{roll} {pitch} {yaw}"/><geometry>'
        model = read_urdf_text(f'{text}<sphere radius="1"/></geometry></visual></link></robot>')
        assert compare_models(model, read_urdf_text(urdf_text(model)), 1e-14) == []


def test_numbers_are_exact():
    values = np.random.default_rng(0).uniform(-1, 1, 3) * np.array([1e-300, 1.0, 1e100])
    model = RobotModel("r", [Link("a", mass=0.1 + 0.2, com=values, inertia=np.diag([1 / 3, 5e-324, 1e22]))], [])
    link = read_urdf_text(urdf_text(model)).link("a")
    assert np.array_equal(link.com, values) and link.mass == 0.1 + 0.2
    assert np.array_equal(link.inertia, model.link("a").inertia)


def test_names_that_xml_must_escape():
    nasty = "a<b>&\"'\n\t ä\u20ac\U0001f916"
    mesh = Geometry(Mesh("a<b>&\"' ä.stl"), material=Material(nasty, (0.1, 0.2, 0.3, 1.0)), name=nasty)
    model = RobotModel(nasty, [Link(nasty, visuals=(mesh,)), Link("b")], [Joint(nasty, "fixed", nasty, "b")])
    again = read_urdf_text(urdf_text(model).encode())
    assert compare_models(model, again) == []
    with pytest.raises(ModelError, match="characters"):
        urdf_text(RobotModel("r", [Link("a\x00")], []))


def test_what_urdf_cannot_say_is_refused():
    with pytest.raises(ModelError, match=r"joint 'j': URDF needs finite lower and upper limits of a revolute joint"):
        urdf_text(arm(lower=-np.inf))
    with pytest.raises(ModelError, match="prismatic"):
        urdf_text(arm(type="prismatic", upper=np.inf))


def test_a_joint_type_that_urdf_lacks_is_refused(monkeypatch):
    from robokin_addon.robokin.model.joint_types import JOINT_TYPES

    lonely = dataclasses.replace(JOINT_TYPES["floating"], name="lonely", urdf=None)
    monkeypatch.setitem(JOINT_TYPES, "lonely", lonely)
    for function in (urdf_text, urdf_losses):
        with pytest.raises(ModelError, match="joint 'j': URDF has no lonely joints"):
            function(arm(type="lonely"))


def test_what_urdf_drops_is_listed():
    assert urdf_losses(arm(acceleration=3.0, effort=2.0, damping=1.0)) == []
    losses = urdf_losses(arm(rotor_inertia=1.0, stiffness=2.0, rest_position=0.5))
    assert [line.split(" ")[5] for line in losses] == ["rotor_inertia", "stiffness", "rest_position"]
    assert len(urdf_losses(arm(type="planar", velocity=1.0))) == 3  # lower, upper, velocity


@pytest.mark.parametrize(
    "change",
    [
        {"upper": 2},
        {"velocity": 3},
        {"effort": 3},
        {"acceleration": 3},
        {"damping": 1},
        {"axis": [0, 1, 0]},
        {"placement": np.diag([1, -1, -1, 1])},
        {"type": "prismatic"},
    ],
)
def test_the_comparison_sees_differences(change):
    assert len(compare_models(arm(), arm(**change))) == 1


def test_the_comparison_sees_mimics():
    def hand(mimic):
        joints = [Joint("j", "continuous", "a", "b"), Joint("k", "continuous", "a", "c", mimic=mimic)]
        return RobotModel("r", [Link("a"), Link("b"), Link("c")], joints)

    assert compare_models(hand(Mimic("j", 1, 2)), hand(Mimic("j", 1, 2))) == []
    assert compare_models(hand(Mimic("j", 1, 2)), hand(Mimic("j", 1, 3))) != []
    assert compare_models(hand(Mimic("j")), hand(None)) != []


def test_saving_is_all_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "arm.urdf"
    save_urdf(arm(), path)
    assert compare_models(load_urdf(path), arm()) == []
    before = path.read_bytes()
    with pytest.raises(ModelError):
        save_urdf(arm(lower=-np.inf), path)

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(FileFormatError, match="No space left"):
        save_urdf(arm(upper=2), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["arm.urdf"]
    with pytest.raises(FileFormatError, match="cannot be written"):
        save_urdf(arm(), tmp_path / "nowhere" / "arm.urdf")


@pytest.mark.parametrize("name", ["folder", "file/robot.urdf", "x" * 300, "nul\0.urdf", "missing/robot.urdf", "/"])
def test_paths_that_cannot_be_written(tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("kept")
    with pytest.raises(FileFormatError, match="cannot be written"):
        save_urdf(arm(), os.path.join(tmp_path, name))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
    assert (tmp_path / "file").read_text() == "kept"


def test_boxes_stand_for_what_urdf_has_no_shape_for():
    """Other programs have nothing of a rounded box or a hull outside them, and it is told; we read what they were."""
    hull = Hull(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]]), 0.5)
    shapes = (Geometry(RoundedBox((1.0, 2.0, 3.0), 0.25)), Geometry(hull))
    model = RobotModel("r", [Link("a", collisions=shapes)], [])
    text = urdf_text(model)
    rounded, around = read_urdf_text(re.sub("<robokin [^>]*/>", "", text)).links[0].collisions
    assert rounded.shape == Box((1.5, 2.5, 3.5)) and around.shape == Box((2.0, 3.0, 4.0))
    np.testing.assert_allclose(around.placement[:3, 3], (0.5, 1.0, 1.5))
    assert [line for line in urdf_losses(model) if "hulls" in line] and len(urdf_losses(model)) == 2
    box, own = (again := read_urdf_text(text)).links[0].collisions
    assert box.shape == RoundedBox((1.0, 2.0, 3.0), 0.25) and own.shape.radius == 0.5
    np.testing.assert_array_equal(own.shape.points + own.placement[:3, 3], hull.points)
    assert urdf_text(again) == text


@pytest.mark.parametrize(
    ("own", "says"),
    [
        ('radius="-1"', "the radius of a robokin must not be negative"),
        ('radius="0.6"', "rounds a box, which must be twice its radius wide"),
        ('radius="0.1" points="1 2"', "'points' must be 3 numbers"),
        ('radius="0.1" points="1 2 x"', "'points' must be a finite number"),
        ('points="1 2 3"', "'radius'"),
    ],
)
def test_a_shape_of_ours_that_cannot_be_is_refused_with_its_line(own, says):
    shape = f'<collision><geometry><box size="1 1 1"/></geometry>\n<robokin {own}/></collision>'
    with pytest.raises(FileFormatError, match=f":2: .*{says}"):
        read_urdf_text(f'<robot name="r"><link name="a">{shape}</link></robot>')
