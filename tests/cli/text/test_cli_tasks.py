"""The task grammar of the command line."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest
from robokin_addon.cli.text.tasks import KINDS, parse_task
from robokin_addon.robokin import RobokinError, TaskError, UnknownNameError
from robokin_addon.solvers.tasks import AxisTask, OrientationTask, PoseTask, PositionTask, Task

QUARTER_ABOUT_Z = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def test_pose() -> None:
    task = parse_task("kind=pose,tip=hand,target=0.1:-2e-1:.3:1:0:0:1")
    assert type(task) is PoseTask
    assert task.link == "hand"
    assert task.target[:3, :3] == pytest.approx(QUARTER_ABOUT_Z, abs=1e-15)
    assert task.target[:3, 3] == pytest.approx([0.1, -0.2, 0.3])
    assert (task.position_tolerance, task.orientation_tolerance, task.frame) == (1e-5, 1e-5, "world")
    assert list(task.weights) == [1.0] * 6


def test_options_of_a_pose() -> None:
    task = parse_task("kind=pose,tip=hand,target=0:0:0:1:0:0:0,weights=1:2:3:0:0.5:6,tolerance=1e-3:1e-2,frame=tip")
    assert list(task.weights) == [1, 2, 3, 0, 0.5, 6]
    assert (task.position_tolerance, task.orientation_tolerance, task.frame) == (1e-3, 1e-2, "tip")
    same = parse_task("kind=pose,tip=hand,target=0:0:0:1:0:0:0,weights=2,tolerance=1e-4")
    assert list(same.weights) == [2] * 6
    assert (same.position_tolerance, same.orientation_tolerance) == (1e-4, 1e-4)


def test_position() -> None:
    task = parse_task("kind=position,tip=hand,target=1:2:3,weights=0:1:1,tolerance=0.5")
    assert type(task) is PositionTask
    assert list(task.target[:3, 3]) == [1, 2, 3]
    assert list(task.weights) == [0, 1, 1, 0, 0, 0]
    assert task.position_tolerance == 0.5


def test_orientation() -> None:
    task = parse_task("kind=orientation,tip=hand,target=2:0:0:2,tolerance=0.5")
    assert type(task) is OrientationTask
    assert task.target[:3, :3] == pytest.approx(QUARTER_ABOUT_Z, abs=1e-15)
    assert list(task.weights) == [0, 0, 0, 1, 1, 1]
    assert task.orientation_tolerance == 0.5


def test_axis() -> None:
    task = parse_task("kind=axis,tip=hand,axis=0:0:2,target=0:-3:0")
    assert type(task) is AxisTask
    assert list(task.axis) == [0, 0, 1]
    assert task.target[:3, 2] == pytest.approx([0, -1, 0])


def test_link_names_may_hold_commas_spaces_and_colons_and_the_order_is_free() -> None:
    task = parse_task("target=1:2:3 , tip=left hand, upper:2 , kind=position")
    assert task.link == "left hand, upper:2"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["not name=value"]),
        ("pose", ["'pose' is not name=value"]),
        ("tip=hand,target=1:2:3", ["kind is missing", "position"]),
        ("kind=psoition,tip=hand,target=1:2:3", ["psoition", "position"]),
        ("kind=position,target=1:2:3", ["tip is missing"]),
        ("kind=position,tip=,target=1:2:3", ["tip is missing"]),
        ("kind=position,tip=hand", ["target is missing"]),
        ("kind=axis,tip=hand,target=1:2:3", ["axis is missing"]),
        ("kind=position,tip=hand,tip=foot,target=1:2:3", ["tip is given twice"]),
        ("kind=position,tip=hand,target=1:2:3,wieghts=1", ["wieghts", "weights"]),
        ("kind=position,tip=hand,axis=0:0:1,target=1:2:3", ["axis", "position"]),
        ("kind=position,tip=hand,target=1:2", ["target", "3 number", "not 2"]),
        ("kind=position,tip=hand,target=1:2:3:4", ["target", "3 number", "not 4"]),
        ("kind=pose,tip=hand,target=1:2:3", ["target", "7 number", "not 3"]),
        ("kind=position,tip=hand,target=1:two:3", ["target", "'two'"]),
        ("kind=position,tip=hand,target=1::3", ["target", "''"]),
        ("kind=position,tip=hand,target=1:nan:3", ["target", "not finite"]),
        ("kind=position,tip=hand,target=1:2:1e999", ["target", "not finite"]),
        ("kind=pose,tip=hand,target=1:2:3:0:0:0:0", ["target", "quaternion", "zero"]),
        ("kind=axis,tip=hand,axis=0:0:0,target=0:0:1", ["axis", "direction"]),
        ("kind=pose,tip=hand,target=1:2:3:1:0:0:0,weights=1:2:3", ["weights", "1 or 2 or 6", "not 3"]),
        ("kind=position,tip=hand,target=1:2:3,weights=0", ["every axis is free"]),
        ("kind=position,tip=hand,target=1:2:3,weights=-1", ["weights", "negative"]),
        ("kind=position,tip=hand,target=1:2:3,tolerance=0", ["tolerance", "positive"]),
        ("kind=position,tip=hand,target=1:2:3,tolerance=1:1", ["tolerance", "1 number", "not 2"]),
        ("kind=position,tip=hand,target=1:2:3,frame=moon", ["frame", "moon", "world, tip"]),
    ],
)
def test_what_is_wrong_is_named(text, words) -> None:
    with pytest.raises((TaskError, UnknownNameError)) as caught:
        parse_task(text)
    message = str(caught.value)
    assert isinstance(caught.value, RobokinError)
    assert "\n" not in message
    assert all(word in message for word in words), message


def test_priority() -> None:
    assert parse_task("kind=position,tip=hand,target=0:0:0,priority=3").priority == 3
    assert parse_task("kind=pose,tip=hand,target=0:0:0:1:0:0:0").priority == 1
    with pytest.raises(TaskError, match="priority: 'high' is not a whole number"):
        parse_task("kind=position,tip=hand,target=0:0:0,priority=high")
    with pytest.raises(TaskError, match="priority"):
        parse_task("kind=position,tip=hand,target=0:0:0,priority=0")


TEXTS = {
    "aim": "tip=hand,axis=0:0:2,target=1:0:0,weight=2",
    "plane": "tip=hand,target=0:0:1:0:0:3,side=above,point=0:0:0.1,band=0.01",
    "line": "tip=hand,target=0:0:1:0:2:0",
    "curve": "tip=hand,target=0:0:0:1:0:0:1:1:0,closed=yes",
    "distance": "tip=hand,target=0.3,other=base,other_point=0:0:1,relation=inside",
    "laser": "tip=hand,axis=0:0:1,target=1:0:0,surface=0:0:0:0:0:1",
    "relative_pose": "tip=hand,other=base,target=0:0:1:1:0:0:0,weights=1:1:1:0:0:0,tolerance=1e-3:1e-2",
    "advance": "tip=hand,target=0:0:0.1,frame=tip,weights=0:0:1",
    "singular_value": "tip=hand,target=0.03,weight=2,orientation=no",
    "pin": "tip=hand,weights=1:1:1:0:0:0",
    "loop_closure": "tip=hand,other=base",
    "center_of_mass": "target=0:0:0.5,weights=1:1:0",
    "support": "target=0:0:0:1:0:0:0:1:0,margin=0.02,up=0:0:1",
    "posture": 'target={"elbow": 0.5, "slide": 0.1},band=0.1',
    "joint": "joint=elbow,target=0.5",
    "twist": "tip=hand,target=0:0:0.1:0:0:0,frame=tip,weights=1:1:1:0:0:0,tolerance=1e-3:1e-2,band=0:0:0.01:0:0:0",
    "along_curve": "tip=hand,curve=0:0:0:1:0:0:1:1:0,target=-0.2,closed=yes,point=0:0:0.1",
    "joint_velocity": 'target={"elbow": 0.5},band=0.1:0.2,tolerance=0.1:0.2,weight=2',
    "linear_velocity": 'coefficients={"elbow": 1, "slide": -2},target=0.1',
}


@pytest.mark.parametrize("kind", TEXTS)
def test_every_kind_can_be_written(kind: str) -> None:
    levels = "" if kind == "loop_closure" else ",priority=2,influence=0.5"
    task = parse_task(f"kind={kind},{TEXTS[kind]}{levels},name=mine")
    assert task.kind.replace(" ", "_") == kind
    assert task.name == "mine"
    if levels:
        assert (task.priority, task.influence) == (2, 0.5)


def test_no_kind_is_left_out() -> None:
    assert set(TEXTS) | {"pose", "position", "orientation", "axis"} == set(KINDS)
    ours = [cls for cls in _all(Task) if hasattr(cls, "kind") and cls.__module__.startswith("robokin_addon.")]
    words = {cls.kind.replace(" ", "_") for cls in ours}
    assert set(KINDS) == words - {"extended_jacobian", "clearance"}  # the second is --avoid


def _all(cls: type[Task]) -> set[type[Task]]:
    found = set(cls.__subclasses__())
    return found | {deeper for sub in found for deeper in _all(sub)}


def test_what_a_kind_says_arrives() -> None:
    plane = parse_task(f"kind=plane,{TEXTS['plane']}")
    np.testing.assert_allclose(np.array(plane.target), [[0, 0, 1], [0, 0, 1]])
    assert plane.side == "above"
    curve = parse_task(f"kind=curve,{TEXTS['curve']}")
    assert curve.target.closed
    assert curve.target.length == pytest.approx(2.0 + np.sqrt(2.0))
    relative = parse_task(f"kind=relative_pose,{TEXTS['relative_pose']}")
    assert relative.weights.tolist() == [1, 1, 1, 0, 0, 0]
    assert [part.tolerance for part in relative.parts] == [1e-3, 1e-2]
    with pytest.raises(TaskError, match="closed: 'perhaps' is neither yes nor no"):
        parse_task("kind=curve,tip=hand,target=0:0:0:1:0:0,closed=perhaps")
    with pytest.raises(TaskError, match="target takes 6 number"):
        parse_task("kind=curve,tip=hand,target=0:0:0:1:0:0:1")
    with pytest.raises(TaskError, match="surface is missing"):
        parse_task("kind=laser,tip=hand,axis=0:0:1,target=1:0:0")


@pytest.mark.parametrize(
    "kind",
    [
        "pose,target=0:0:0:1:0:0:0",
        "position,target=0:0:0",
        "orientation,target=1:0:0:0",
        "axis,axis=1:0:0,target=0:0:1",
        "aim,axis=1:0:0,target=0:0:1",
        "laser,axis=1:0:0,target=0:0:1,surface=0:0:1:0:0:1",
        "relative_pose,other=base,target=0:0:0:1:0:0:0",
        "advance,target=0:0:1",
        "pin",
        "loop_closure,other=base",
    ],
)
def test_a_tip_beside_the_origin_of_its_link(kind: str) -> None:
    task = parse_task(f"kind={kind},tip=hand,offset=0.1:0:-0.2:1:0:0:1")
    assert task.offset[:3, :3] == pytest.approx(QUARTER_ABOUT_Z, abs=1e-15)
    assert task.offset[:3, 3] == pytest.approx([0.1, 0.0, -0.2])
    assert parse_task(f"kind={kind},tip=hand,offset=0.1:0:-0.2").offset[:3, :3] == pytest.approx(np.eye(3))
    with pytest.raises(TaskError, match="offset: the quaternion"):
        parse_task(f"kind={kind},tip=hand,offset=0:0:0:0:0:0:0")


def test_tolerances_of_two_parts_and_weights_of_joints() -> None:
    task = parse_task('kind=posture,target={"a": 1},weights={"a": 3},tolerance=0.1:0.2')
    assert [part.tolerance for part in task.parts] == [0.1, 0.2] and task.weights == {"a": 3.0}
    laser = parse_task("kind=laser,tip=hand,axis=1:0:0,target=0:0:1,surface=0:0:1:0:0:1,tolerance=0.1:0.2")
    assert [part.tolerance for part in laser.parts] == [0.1, 0.2]
    closed = parse_task("kind=loop_closure,tip=hand,other=base,other_offset=0:0:1")
    assert closed.other_offset[:3, 3] == pytest.approx([0.0, 0.0, 1.0])


@pytest.mark.parametrize("kind", KINDS)
def test_every_parameter_of_a_task_has_a_field(kind: str) -> None:
    """Those that are told together are of one field: weights, tolerance, band; the curve's and twist's target."""
    written = {argument for argument, _ in KINDS[kind].fields.values()} | set(KINDS[kind].fields)
    told = re.compile(r"(position|orientation|angle|length|linear|angular|beam)_(weights|tolerance|band)")
    for parameter in inspect.signature(KINDS[kind].build).parameters:
        together = told.fullmatch(parameter)
        assert (together[2] if together else parameter) in written, parameter


def test_bands_and_weights_per_axis() -> None:
    pose = parse_task("kind=pose,tip=hand,target=0:0:0:1:0:0:0,band=1:2:3:4:5:6,weights=2:3")
    assert pose.position_band.tolist() == [1, 2, 3] and pose.orientation_band.tolist() == [4, 5, 6]
    assert pose.weights.tolist() == [2, 2, 2, 3, 3, 3]
    assert parse_task("kind=position,tip=hand,target=0:0:0,band=1:2:3").position_band.tolist() == [1, 2, 3]
    assert parse_task('kind=posture,target={"a": 1},band=1:2').band.tolist() == [1, 2]
    assert parse_task("kind=pin,tip=hand,target=1:0:0:1:0:0:1").target[:3, :3] == pytest.approx(QUARTER_ABOUT_Z)
    assert parse_task("kind=loop_closure,tip=hand,other=base,correction=0.5").correction == 0.5


def test_velocities() -> None:
    hinge = parse_task("kind=twist,tip=hand,about=1:0:0:0:0:2,target=0.5,pitch=0.1")
    assert hinge.frame == "space"
    assert hinge.target == pytest.approx([0, -0.5, 0.05, 0, 0, 0.5])
    assert parse_task("kind=twist,tip=hand,target=1:2:3:4:5:6").target == pytest.approx([1, 2, 3, 4, 5, 6])
    along = parse_task("kind=along_curve,tip=hand,curve=0:0:0:1:0:0/0:0:1:1:0:1:1:1:1,target=0.2,closed=yes")
    assert [line.length for line in along.curve.lines] == pytest.approx([2.0, 2.0 + np.sqrt(2.0)])
    assert all(line.closed for line in along.curve.lines) and along.target.speed == 0.2
    beam = parse_task("kind=curve,tip=hand,target=0:0:0:1:0:0,direction=0:0:2,surface=1:0:0:3:0:0")
    assert list(beam.direction) == [0.0, 0.0, 1.0] and list(beam.surface.normal) == [1.0, 0.0, 0.0]
    summed = parse_task('kind=linear_velocity,coefficients={"a": 1, "b": [1, 2]},target=0.3')
    assert {name: list(own) for name, own in summed.A.items()} == {"a": [1.0], "b": [1.0, 2.0]}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kind=twist,tip=hand,target=1:2:3", ["target", "6 number", "not 3"]),
        ("kind=twist,tip=hand,about=0:0:0:0:0:1,target=1:2:3:0:0:0", ["target", "1 number", "not 6"]),
        ("kind=twist,tip=hand,about=0:0:0:0:0:0,target=1", ["axis of the hinge", "no direction"]),
        ("kind=twist,tip=hand,about=0:0:0:0:0:1,target=1,frame=tip", ["about and frame", "give one"]),
        ("kind=twist,tip=hand,target=0:0:0:0:0:1,pitch=1", ["pitch", "without about"]),
        ("kind=twist,tip=hand,target=0:0:0:0:0:1,frame=moon", ["frame", "moon", "world, tip, space"]),
        ("kind=along_curve,tip=hand,target=1", ["curve is missing"]),
        ("kind=along_curve,tip=hand,curve=0:0:0:1:0:0/0:0:0,target=1", ["at least 2 points"]),
        ("kind=along_curve,tip=hand,curve=0:0:0:1:0:0,target=fast", ["target", "'fast'"]),
        ("kind=along_curve,tip=hand,curve=0:0:0:1:0:0,target=1,direction=0:0:1", ["a surface: give both"]),
        ("kind=joint_velocity,target={}", ["velocity"]),
        ("kind=linear_velocity,coefficients={},target=1", ["no joint has a factor"]),
        ('kind=linear_velocity,coefficients={"a": "2 +"},target=1', ["factor of joint 'a'"]),
        ("kind=pose,tip=hand,object=Cube", ["object names an object of a scene", ".blend"]),
        ("kind=laser,tip=hand,axis=1:0:0,target=0:0:1,surface_object=Cube", ["surface_object", ".blend"]),
    ],
)
def test_what_is_wrong_with_velocities_and_objects_is_named(text: str, words: list[str]) -> None:
    with pytest.raises((TaskError, UnknownNameError)) as caught:
        parse_task(text)
    assert all(word in str(caught.value) for word in words), str(caught.value)
