"""The joint types beyond URDF's: what each does, its limits, inverse kinematics, tracking, names, URDF."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest
from robokin_addon.cli.commands.info import describe
from robokin_addon.robokin import (
    Joint,
    Link,
    Mimic,
    ModelError,
    RobotModel,
    forward_kinematics,
    frame_jacobian,
    random_configuration,
    read_urdf_text,
    urdf_losses,
    urdf_text,
)
from robokin_addon.robokin.backend import get_backend
from robokin_addon.robokin.model.joint_types import JOINT_TYPES, MotionPrimitive
from robokin_addon.solvers import IKProblem, PoseTask, track
from robokin_addon.solvers.motion.motion import coordinate_names
from support.few import rest_slow
from support.oracles.pinocchio_oracle import Oracle
from support.random_problems.random_trees import random_placement, random_robot

SCREW_LIKE = ("screw", "cylindrical", "universal", "gimbal")
GIMBAL_ORDERS = JOINT_TYPES["gimbal"].orders
IDENTITY = np.eye(4)


def single(kind: str, **fields: object) -> RobotModel:
    return RobotModel("single", [Link("a"), Link("b")], [Joint("j", kind, "a", "b", **fields)])


def moved(model: RobotModel, *q: float) -> np.ndarray:
    return forward_kinematics(model, np.array(q))["b"]


def arm(seed: int, kind: str, shift: float = 0.0, turns: float = 1.0) -> RobotModel:
    """Two joints of a type among five revolute ones; its angles' ranges shifted and widened."""
    rng = np.random.default_rng(seed)
    kinds = [kind] * 2 + ["revolute"] * 5
    rng.shuffle(kinds)
    joints = []
    for i, name in enumerate(kinds):
        joint_type = JOINT_TYPES[name]
        slides = np.array([motion is MotionPrimitive.TRANSLATION for motion in joint_type.motions])
        middle = np.where(slides, rng.uniform(-0.2, 0.2), rng.uniform(-1.0, 1.0, joint_type.nv))
        half = np.where(slides, rng.uniform(0.1, 0.4), rng.uniform(0.8, 3.0, joint_type.nv))
        if name == kind:
            middle, half = middle + shift, half * turns
        joints.append(
            Joint(
                f"joint{i}",
                name,
                f"link{i}",
                f"link{i + 1}",
                placement=random_placement(rng, 0.3),
                axis=rng.normal(size=3),
                lower=middle - half,
                upper=middle + half,
                velocity=2.0,
                pitch=rng.uniform(-0.02, 0.02),  # up to 13 cm a turn
                order=str(rng.choice(joint_type.orders or [""])),
            )
        )
    return RobotModel(f"{kind}{seed}", [Link(f"link{i}") for i in range(len(kinds) + 1)], joints)


def test_a_screw_advances_by_its_pitch():
    model = single("screw", axis=(0, 0, 2), pitch=0.01)
    T = moved(model, 2 * math.pi * 3)
    np.testing.assert_allclose(T[:3, :3], np.eye(3), atol=1e-14)
    np.testing.assert_allclose(T[:3, 3], [0, 0, 0.06 * math.pi], atol=1e-15)
    quarter = moved(single("screw", axis=(1, 0, 0), pitch=-0.2), math.pi / 2)
    np.testing.assert_allclose(quarter @ [0, 1, 0, 1], [-0.1 * math.pi, 0, 1, 1], atol=1e-15)


def test_a_cylindrical_joint_turns_and_slides():
    T = moved(single("cylindrical", axis=(0, 1, 0)), math.pi / 2, 0.3)
    np.testing.assert_allclose(T @ [1, 0, 0, 1], [0, 0.3, -1, 1], atol=1e-15)


@pytest.mark.parametrize("order", [*JOINT_TYPES["universal"].orders, *GIMBAL_ORDERS])
def test_the_order_names_the_axes_from_parent_to_child(order):
    q = np.array([0.3, -0.8, 1.1])[: len(order)]
    expected = np.eye(3)
    for letter, angle in zip(order, q, strict=True):
        expected = expected @ pin.utils.rotate(letter.lower(), angle)
    model = single("gimbal" if len(order) == 3 else "universal", order=order)
    np.testing.assert_allclose(moved(model, *q)[:3, :3], expected, atol=1e-15)


@pytest.mark.parametrize("kind", ["universal", "gimbal"])
def test_axes_at_any_angle_turn_one_after_the_other(kind):
    rng = np.random.default_rng(5)
    axes = rng.normal(size=(JOINT_TYPES[kind].nv, 3))
    model, q = single(kind, axes=axes, order="YX" if kind == "universal" else ""), rng.normal(size=len(axes))
    joint = model.joint("j")
    np.testing.assert_allclose(joint.axes, axes / np.linalg.norm(axes, axis=1)[:, None], atol=1e-15)
    assert joint.order == ""
    expected = np.eye(3)
    for axis, angle in zip(joint.axes, q, strict=True):
        expected = expected @ pin.AngleAxis(angle, axis).toRotationMatrix()
    np.testing.assert_allclose(moved(model, *q)[:3, :3], expected, atol=1e-15)
    target = moved(model, *q)
    found = IKProblem(model, [PoseTask("b", target)]).solve()
    assert found.converged


def test_axes_that_make_no_joint_are_refused():
    for kind, axes, words in (
        ("revolute", np.eye(3), "a revolute joint has one axis, not several"),
        ("gimbal", np.eye(3)[:2], r"axes must have shape \(3, 3\)"),
        ("universal", [[0, 0, 1], [0, 0, -2]], "that follow each other are parallel"),
        ("universal", [[0, 0, 1], [0, 0, 0]], "has no direction"),
        ("universal", [[0, 0, 1], [0, np.nan, 0]], "is not a number"),
    ):
        with pytest.raises(ModelError, match=words):
            Joint("j", kind, "a", "b", axes=axes)
    assert Joint("j", "gimbal", "a", "b", axes=np.eye(3)[[0, 1, 0]]).axes.tolist() == np.eye(3)[[0, 1, 0]].tolist()


def test_orders_of_other_types_are_refused_and_forgotten():
    tait_bryan, proper = ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"], ["XYX", "XZX", "YXY", "YZY", "ZXZ", "ZYZ"]
    assert sorted(GIMBAL_ORDERS) == sorted(tait_bryan + proper)
    assert (Joint("j", "gimbal", "a", "b").order, Joint("j", "universal", "a", "b").order) == ("ZYX", "XZ")
    assert Joint("j", "revolute", "a", "b", order="ZYX").order == ""
    for kind, order in (("gimbal", "XXY"), ("gimbal", "XZ"), ("universal", "ZYX"), ("universal", "xz")):
        with pytest.raises(ModelError, match=rf"joint 'j': a {kind} joint has no order '{order}' \(valid: "):
            Joint("j", kind, "a", "b", order=order)


@pytest.mark.parametrize("kind", SCREW_LIKE)
@pytest.mark.parametrize(("shift", "turns"), rest_slow([(5.0, 1.0), (0.0, 6.0), (0.0, 1.0)], 2))
def test_reachable_targets_are_met_inside_the_limits(kind, shift, turns):
    """Ranges around 0, ranges that do not hold 0, and ranges of several turns; judged by Pinocchio."""
    met = count = 0
    for seed in range(16):
        model, rng = arm(seed, kind, shift, turns), np.random.default_rng(seed)
        tip, q = model.links[-1].name, np.array([random_configuration(model, rng) for _ in range(64)])
        targets = get_backend("native").frame_placements(model.tree, q)[:, [model.link_index(tip)]]
        problem = IKProblem(model, [PoseTask(tip, IDENTITY)])
        result = problem.solve_batch(np.ascontiguousarray(targets))
        assert (result.q >= model.lower).all() and (result.q <= model.upper).all()
        met, count = met + result.converged.sum(), count + len(q)
        oracle = Oracle.from_model(model)
        for goal, found in zip(targets[result.converged][:5, 0], result.q[result.converged][:5], strict=True):
            np.testing.assert_allclose(oracle.frames(found)[tip], goal, atol=3e-5)
    assert met >= 0.999 * count


def test_screws_of_several_turns_are_tried_more_often():
    def attempts(kind: str, turns: float, **options: int) -> int:
        half = turns * math.pi
        model = RobotModel("r", [Link("a"), Link("b")], [Joint("j", kind, "a", "b", lower=-half, upper=half)])
        return IKProblem(model, [PoseTask("b", IDENTITY)], **options).search.attempts

    assert [attempts("screw", turns) for turns in (0.5, 1.5, 3.5, 100.0, math.inf)] == [50, 50, 150, 400, 50]
    assert attempts("revolute", 3.5) == 50 and attempts("screw", 3.5, attempts=7) == 7


@pytest.mark.parametrize("kind", SCREW_LIKE)
def test_tracking_keeps_position_and_velocity_limits(kind):
    model, rng = arm(3, kind, shift=2.0), np.random.default_rng(3)
    tip = model.links[-1].name
    ends = [random_configuration(model, rng) for _ in range(2)]
    way = [(1 - s) * ends[0] + s * ends[1] for s in np.linspace(0.0, 1.0, 60)]
    targets = np.array([[forward_kinematics(model, q)[tip]] for q in way])
    result = track(model, [PoseTask(tip, IDENTITY)], targets, ends[0], dt=0.05)
    assert (result.q >= model.lower).all() and (result.q <= model.upper).all()
    assert (abs(np.diff(result.q, axis=0)) <= 0.05 * model.velocity + 1e-12).all()
    assert abs(np.diff(result.q, axis=0)).max() > 1e-3


@pytest.mark.parametrize("kind", SCREW_LIKE)
def test_values_limits_and_names_are_lists_of_all_coordinates(kind):
    n = JOINT_TYPES[kind].nv
    lower, upper = np.arange(1.0, n + 1), np.arange(2.0, n + 2)
    model = single(kind, lower=lower, upper=upper, velocity=lower, pitch=0.5)
    value = 1.5 if n == 1 else [i + 1.5 for i in range(n)]
    q = model.configuration({"j": value})
    assert model.joint_values(q) == {"j": value}
    (said,) = describe(model)["joints"]
    assert said["type"] == kind
    assert said["lower"] == (1.0 if n == 1 else lower.tolist()) and said["upper"] == (2.0 if n == 1 else upper.tolist())
    assert said.get("pitch") == (0.5 if kind == "screw" else None)
    assert said.get("order") == (model.joint("j").order or None)
    expected = {
        "screw": ["j"],
        "cylindrical": ["j/angle", "j/length"],
        "universal": ["j/angle1", "j/angle2"],
        "gimbal": ["j/angle1", "j/angle2", "j/angle3"],
    }
    assert coordinate_names(model.joint("j")) == expected[kind]


def test_screws_follow_and_are_followed():
    links = [Link(name) for name in "abc"]
    lead = Joint("lead", "screw", "a", "b", pitch=0.1)
    nut = Joint("nut", "screw", "b", "c", pitch=-0.2, mimic=Mimic("lead", 2.0, 0.5))
    model = RobotModel("pair", links, [lead, nut])
    T = forward_kinematics(model, np.array([0.7]))["c"]
    np.testing.assert_allclose(T[:3, 3], [0, 0, 0.07 - 0.2 * (2 * 0.7 + 0.5)], atol=1e-15)
    for kind in ("cylindrical", "universal", "gimbal"):
        with pytest.raises(ModelError, match="only joints of one degree of freedom"):
            RobotModel("r", links[:2], [Joint("j", kind, "a", "b", mimic=Mimic("lead"))])
        with pytest.raises(ModelError, match="only joints of one degree of freedom"):
            RobotModel("r", links, [Joint("lead", kind, "a", "b"), Joint("k", "screw", "b", "c", mimic=Mimic("lead"))])


@pytest.mark.parametrize("seed", range(12))
def test_a_urdf_has_chains_for_what_it_has_no_word_for(seed):
    """The file's robot stands, at the same q, where ours does, by Pinocchio's reader too."""
    types = ("revolute", "prismatic", *SCREW_LIKE)
    model, rng = random_robot(seed, 9, types=types), np.random.default_rng(seed)
    text = urdf_text(model)
    again = read_urdf_text(text)
    assert (again.nq, again.nv) == (model.nq, model.nv)
    q = random_configuration(model, rng)
    ours, theirs = forward_kinematics(model, q), forward_kinematics(again, q)
    for link in model.link_names:
        np.testing.assert_allclose(theirs[link], ours[link], atol=1e-12)
    np.testing.assert_allclose([again.lower, again.upper], [model.lower, model.upper], atol=1e-12)
    assert again.total_mass == pytest.approx(model.total_mass)
    changed = [line for line in urdf_losses(model) if "written as" in line]
    assert len(changed) == sum(joint.type in SCREW_LIKE for joint in model.joints)
    pinocchio = pin.buildModelFromXML(text)
    assert pinocchio.njoints - 1 == sum(joint.nv for joint in again.joints)


def test_names_of_a_chain_are_free():
    joints = [Joint("j", "cylindrical", "a", "b", lower=-1, upper=1), Joint("j_1", "continuous", "b", "b_j_1_")]
    model = RobotModel("r", [Link("a"), Link("b"), Link("b_j_1_")], joints)
    again = read_urdf_text(urdf_text(model))
    assert {joint.name for joint in again.joints[1:]} == {"j_1", "j_1_", "j_2"}
    assert len(set(again.link_names)) == 4
    assert urdf_losses(model) == [
        "joint 'j': URDF has no cylindrical joints; written as 'j_1_' (revolute), 'j_2' (prismatic)"
    ]
    with pytest.raises(ModelError, match="joint 'j_2': URDF needs finite lower and upper limits of a prismatic joint"):
        urdf_text(single("cylindrical"))


def test_lengths_of_a_joint_are_its_own() -> None:
    """An angle that a slider mimics is an angle; of every type, those columns of J are lengths that have no turn."""
    links = [Link("a"), Link("b"), Link("c")]
    turn = Joint("turn", "revolute", "a", "b", lower=-1.0, upper=1.0)
    slide = Joint("slide", "prismatic", "b", "c", lower=-1.0, upper=1.0, mimic=Mimic("turn", 0.3))
    assert RobotModel("mimic", links, [turn, slide]).is_length.tolist() == [False]
    for kind in JOINT_TYPES:
        if kind == "wheeled":
            continue
        model = RobotModel(kind, links[:2], [Joint("joint", kind, "a", "b", pitch=0.1)])
        J = frame_jacobian(model, random_configuration(model, np.random.default_rng(0)), "b")
        np.testing.assert_array_equal(model.is_length, ~J[3:].any(axis=0), err_msg=kind)
