"""Families are recognised from axes alone: under any frames and signs, between fixed joints, beside other joints; what
is nearly one is none."""

from __future__ import annotations

import numpy as np
import pytest
from robokin_addon.robokin import Joint, Link, Mimic, RobotModel, forward_kinematics, load_urdf
from robokin_addon.robokin.library import library_robot
from robokin_addon.solvers import PoseTask, PositionTask, PostureProblem, Task
from support.few import rest_slow
from support.problems.family_robots import (
    RANDOM_FAMILIES,
    ROBUST,
    family_robot,
    random_family,
    screw_robot,
    screws_of,
    wrapped,
)
from support.random_problems.random_trees import random_placement
from support.robots import robot

NAMED = {
    "ur5": "three parallel axes",
    "kr6": "spherical wrist",
    "irb140": "spherical wrist",
    "puma560": "spherical wrist",
    "iiwa": "spherical shoulder and wrist",
    "scara": "SCARA",
    "gantry": "gantry",
    "planar_3r": "planar",
    "panda": "",
    "desk_arm": "",
}
REAL = {
    ("ur5_robot", "ee_link"): "three parallel axes",
    ("ur10_robot", "ee_link"): "three parallel axes",
    ("kinova", "j2s6s200_end_effector"): "spherical wrist",
    ("romeo", "l_sole"): "spherical wrist",  # of its leg: the hip
    ("panda", "panda_hand_tcp"): "",
    ("xarm7", "link_eef"): "",
}


def problem_of(model: RobotModel, link: str = "", task: type[Task] = PoseTask) -> PostureProblem:
    target = np.zeros(3) if task is PositionTask else np.eye(4)
    return PostureProblem(model, [task(link or model.link_names[-1], target)])  # type: ignore[call-arg]


@pytest.mark.parametrize("name", NAMED)
def test_named_robots(name: str) -> None:
    assert problem_of(family_robot(name)).family == NAMED[name]


@pytest.mark.parametrize(("name", "link"), REAL)
def test_real_robots(name: str, link: str) -> None:
    assert problem_of(load_urdf(robot(name)), link).family == REAL[name, link]


def test_positions() -> None:
    families = {name: problem_of(library_robot(name), task=PositionTask).family for name in ("planar_2r", "gantry")}
    assert families == {"planar_2r": "planar", "gantry": "gantry"}
    assert problem_of(library_robot("planar_3r"), task=PositionTask).family == ""  # redundant
    assert problem_of(library_robot("puma560"), task=PositionTask).family == ""


@pytest.mark.parametrize("name", RANDOM_FAMILIES)
@pytest.mark.parametrize("seed", rest_slow(range(4), 2))
def test_frames_signs_and_zeros_do_not_matter(name: str, seed: int) -> None:
    """The same arm, its base and tip elsewhere, some axes the other way, zero in another pose: the same postures."""
    rng = np.random.default_rng(seed)
    model = random_family(name, rng)
    axis, point, slides, home = screws_of(model, "tool")
    n = len(axis)
    base, tip = random_placement(rng, 2.0), random_placement(rng, 0.5)
    signs, zero = rng.choice((-1.0, 1.0), n), np.where(slides, rng.uniform(-0.2, 0.2, n), rng.uniform(-1, 1, n))
    # At the new zero the axes are those of the old arm at `zero`.
    there = [forward_kinematics(model, zero)[link] for link in model.link_names[1 : n + 1]]
    start = [forward_kinematics(model, np.zeros(n))[link] for link in model.link_names[1 : n + 1]]
    moved = [a @ np.linalg.inv(b) for a, b in zip(there, start, strict=True)]
    other_axis = np.array([base[:3, :3] @ T[:3, :3] @ a for T, a in zip(moved, axis, strict=True)])
    other_point = np.array(
        [base[:3, :3] @ (T[:3, :3] @ p + T[:3, 3]) + base[:3, 3] for T, p in zip(moved, point, strict=True)]
    )
    other_home = base @ forward_kinematics(model, zero)["tool"] @ tip
    other = screw_robot(signs[:, None] * other_axis, other_point, slides, other_home, -40.0, 40.0)
    model = screw_robot(axis, point, slides, home, -40.0, 40.0)
    one, two = problem_of(model, "tool"), problem_of(other, "tool")
    assert one.family
    assert two.family == one.family
    if one.family == "spherical shoulder and wrist":
        return  # which posture stands for a branch depends on q0
    for _ in range(5):
        T = forward_kinematics(model, np.where(slides, 0.1, 1.0) * rng.uniform(-3, 3, n))["tool"]
        ours, theirs = one.solve([T]), two.solve([base @ T @ tip])
        back = signs * theirs.q + zero
        assert ours.complete and theirs.complete
        assert len(ours) == len(theirs) > 0
        for q in ours.q:
            apart = np.where(slides, back - q, wrapped(back - q))
            assert abs(apart).max(axis=1).min() < 1e-6


@pytest.mark.parametrize("name", [name for name in RANDOM_FAMILIES if name not in ROBUST])
def test_what_is_nearly_a_family_is_none(name: str) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        axis, point, slides, home = screws_of(random_family(name, rng), "tool")
        off = rng.normal(size=(2, *axis.shape))
        off /= np.linalg.norm(off, axis=2)[:, :, None]
        near = screw_robot(axis + 1e-3 * off[0], point + 1e-3 * off[1], slides, home)
        assert problem_of(near, "tool").family == ""


@pytest.mark.parametrize("name", [name for name in RANDOM_FAMILIES if name not in ROBUST])
@pytest.mark.parametrize("off", rest_slow([4e-6, 1e-9]))
def test_rounded_axes_do_not_matter(name: str, off: float) -> None:
    """As of 1.5708 for a right angle: the postures are those of the robot, not of the ideal one."""
    lost = told = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        axis, point, slides, home = screws_of(random_family(name, rng), "tool")
        shifts = rng.normal(size=(2, *axis.shape))
        shifts *= off / np.linalg.norm(shifts, axis=2)[:, :, None]
        model = screw_robot(axis + shifts[0], point + 0.3 * shifts[1], slides, home)
        problem = problem_of(model, "tool")
        assert problem.family
        for _ in range(20):
            q = np.where(slides, 0.1, 1.0) * rng.uniform(-3, 3, len(axis))
            T = forward_kinematics(model, q)["tool"]
            result = problem.solve([T])
            if not result.complete:  # near a singular pose, and told
                told += 1
                continue
            # Four joints cannot meet what is not exactly theirs; a joint may be put to its limit from 1e-9 beyond it.
            allowed = 1e-5 if len(axis) < 6 else 2e-12 if abs(result.q).max(initial=0.0) < 3.1 else 3e-9
            for own in result.q:
                assert abs(forward_kinematics(model, own)["tool"] - T).max() < allowed
            for i, own in enumerate(result.q):
                assert (abs(result.q[:i] - own).max(axis=-1) > 1e-7).all()
            if result.continuum.any():
                continue
            lost += (
                not len(result) or abs(np.where(slides, result.q - q, wrapped(result.q - q))).max(axis=1).min() > 1e-5
            )
    assert lost <= 1  # of 100, of an arm that is next to singular everywhere
    assert told <= (1 if off < 1e-8 else 15)


def test_fixed_joints_and_other_limbs() -> None:
    """Fixed links between the joints, a second arm and a finger: the tip's chain is what counts."""
    arm = family_robot("kr6")
    rng = np.random.default_rng(0)
    links, joints, last, T_last = [Link("base")], [], "base", np.eye(4)
    for i, joint in enumerate(j for j in arm.joints if j.nq):
        before = forward_kinematics(arm, np.zeros(6))[joint.parent] @ joint.placement
        between = random_placement(rng, 0.3)
        links += [Link(f"mount{i}"), Link(f"arm{i}"), Link(f"finger{i}")]
        joints.append(Joint(f"mount{i}", "fixed", last, f"mount{i}", placement=between))
        own = np.linalg.inv(T_last @ between) @ before
        joints.append(
            Joint(
                f"arm{i}",
                "revolute",
                f"mount{i}",
                f"arm{i}",
                own,
                joint.axis,
                lower=joint.lower[0],
                upper=joint.upper[0],
            )
        )
        joints.append(
            Joint(
                f"finger{i}", "revolute", f"mount{i}", f"finger{i}", random_placement(rng, 0.3), lower=-1.0, upper=1.0
            )
        )
        last, T_last = f"arm{i}", before
    tool = np.linalg.inv(T_last) @ forward_kinematics(arm, np.zeros(6))[arm.link_names[-1]]
    model = RobotModel("arm with fingers", links, joints)
    problem = PostureProblem(model, [PoseTask(last, np.eye(4), offset=tool)])
    assert problem.family == "spherical wrist"
    q = rng.uniform(arm.lower, arm.upper)
    T = forward_kinematics(arm, q)[arm.link_names[-1]]
    q0 = model.configuration({f"finger{i}": 0.1 * i for i in range(6)})
    one, two = problem.solve([T], q0), PostureProblem(arm, [PoseTask(arm.link_names[-1], T)]).solve(q0=np.zeros(6))
    chain = [model.slot(f"arm{i}").q.start for i in range(6)]
    assert one.q[:, chain] == pytest.approx(two.q, abs=1e-9)
    assert one.names == two.names
    assert (np.delete(one.q, chain, axis=1) == np.delete(q0, chain)).all()


def test_joints_of_several_axes() -> None:
    """A gimbal is a wrist; a cylindrical joint turns and slides."""
    up, out = np.eye(4), np.eye(4)
    up[2, 3], out[0, 3] = 0.4, 0.4
    axis = {"z": (0.0, 0.0, 1.0), "y": (0.0, 1.0, 0.0)}
    rows = [("a", "revolute", "z", np.eye(4)), ("b", "revolute", "y", up), ("c", "revolute", "y", out)]
    joints = [
        Joint(name, kind, last, name, at, np.array(axis[way]), lower=-2.5, upper=2.5)
        for last, (name, kind, way, at) in zip(("base", "a", "b"), rows, strict=True)
    ]
    wrist = Joint("hand", "gimbal", "c", "hand", out, lower=(-2.5,) * 3, upper=(2.5,) * 3)
    arm = RobotModel("arm", [Link(name) for name in ("base", "a", "b", "c", "hand")], [*joints, wrist])
    assert problem_of(arm, "hand").family == "spherical wrist"
    turns = [
        Joint(name, "revolute", last, name, out, lower=-2.5, upper=2.5) for last, name in (("base", "a"), ("a", "b"))
    ]
    tool = Joint("tool", "cylindrical", "b", "tool", out, lower=(-3.0, -0.2), upper=(3.0, 0.2))
    scara = RobotModel("scara", [Link(name) for name in ("base", "a", "b", "tool")], [*turns, tool])
    assert problem_of(scara, "tool").family == "SCARA"
    rng = np.random.default_rng(3)
    for model, tip in ((arm, "hand"), (scara, "tool")):
        for _ in range(10):
            q = rng.uniform(0.9 * model.lower, 0.9 * model.upper)
            T = forward_kinematics(model, q)[tip]
            found = problem_of(model, tip).solve([T], q)
            assert found.complete
            assert found.q[0] == pytest.approx(q, abs=1e-8)
            for own in found.q:
                assert abs(forward_kinematics(model, own)[tip] - T).max() < 1e-12


@pytest.mark.parametrize("kind", ["screw", "mimic", "ball", "revolute", "floating"])
def test_other_joints_are_no_family(kind: str) -> None:
    if kind == "floating":
        assert problem_of(library_robot("puma560", "floating"), "tool").family == ""
        return
    out = np.eye(4)
    out[0, 3] = 0.5
    last = {
        "screw": Joint("c", "screw", "b", "c", out, pitch=0.1),
        "mimic": Joint("c", "revolute", "b", "c", out, mimic=Mimic("a")),
        "ball": Joint("c", "spherical", "b", "c", out),
        "revolute": Joint("c", "revolute", "b", "c", out),
    }[kind]
    first = [Joint(b, "revolute", a, b, out, lower=-1.0, upper=1.0) for a, b in (("base", "a"), ("a", "b"))]
    tool = Joint("tool", "fixed", "c", "tool", out)
    model = RobotModel("arm", [Link(name) for name in ("base", "a", "b", "c", "tool")], [*first, last, tool])
    assert problem_of(model, "tool").family == ("planar" if kind == "revolute" else "")


DEGENERATE = {
    "four parallel axes": ((0, 0, 0, 0, 1, 2), (0.0, 0.3, 0.6, 0.9, 0.9, 0.9)),
    "twice the same axis": ((0, 1, 1, 2, 1, 2), (0.0, 0.3, 0.3, 0.6, 0.6, 0.6)),
    "the wrist on axis 3": ((0, 1, 2, 2, 1, 2), (0.0, 0.3, 0.6, 0.6, 0.6, 0.6)),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_arms_that_are_singular_everywhere_are_no_family(name: str) -> None:
    """They have a continuum for every pose that they reach."""
    axes, x = DEGENERATE[name]
    point = np.zeros((6, 3))
    point[:, 0] = x
    home = np.eye(4)
    home[:3, 3] = 1.0, 0.1, 0.2
    assert problem_of(screw_robot(np.eye(3)[list(axes)], point, np.zeros(6, bool), home), "tool").family == ""


def test_the_tip_on_the_last_axis() -> None:
    """Of a planar 2R: its position says nothing of joint 2."""
    axis, point = np.tile((0.0, 0.0, 1.0), (2, 1)), np.array([(0.0, 0.0, 0.0), (0.5, 0.0, 0.0)])
    for x, family in ((0.5, ""), (0.6, "planar")):
        home = np.eye(4)
        home[0, 3] = x
        model = screw_robot(axis, point, np.zeros(2, bool), home)
        assert problem_of(model, "tool", PositionTask).family == family
