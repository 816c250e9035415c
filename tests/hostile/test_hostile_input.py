"""Arguments of the wrong kind: each is taken, or refused with one line by a RobokinError."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from robokin_addon import robokin, solvers
from robokin_addon.robokin import DHRow, Drive, Joint, Link, Mimic, RobokinError, RobotModel, library_robot
from robokin_addon.solvers.criteria import JointSprings
from robokin_addon.solvers.tasks.protocols import VelocityTask

WRONG = [
    *(None, "x", b"x", [], {}, set(), object(), len, True, 0, -1, -1.5, 1j, float("nan"), float("inf"), 10**400),
    *([1, 2], [[1, 2], [3]], [None] * 7, ["a"] * 7, np.zeros((2, 2)), np.full((4, 4), np.nan), np.eye(4) * 2),
    *(np.zeros(9), np.zeros(0), np.zeros((2, 3, 4), int)),
]

MODEL = library_robot("panda")
Q, V = MODEL.neutral(), np.zeros(MODEL.nv)
TIP = MODEL.link_names[-1]
T = robokin.forward_kinematics(MODEL, Q)[TIP]
POSE = solvers.PoseTask(TIP, T)
MOTION = solvers.Motion.of(MODEL, [0.0, 1.0], [Q, Q])
PROBLEM = solvers.IKProblem(MODEL, [POSE])
LINE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
JOINT: dict[str, Any] = {"name": "j", "type": "revolute", "parent": "a", "child": "b"}


def _solved(kind: Callable[..., solvers.Task], **given: object) -> None:
    task = kind(**given)
    if isinstance(task, VelocityTask):
        solvers.velocity_step(MODEL, Q, [task])
    else:
        solvers.solve_ik(MODEL, [task], attempts=1)


# What is called, and arguments that are right.
CALLS: dict[str, tuple[Callable[..., object], dict[str, object]]] = {
    "forward_kinematics": (robokin.forward_kinematics, {"model": MODEL, "q": Q, "backend": "auto"}),
    "frame_jacobian": (robokin.frame_jacobian, {"model": MODEL, "q": Q, "link": TIP, "reference": "local"}),
    "rpy_jacobian": (robokin.rpy_jacobian, {"model": MODEL, "q": Q + 0.1, "link": TIP}),
    "center_of_mass": (robokin.center_of_mass, {"model": MODEL, "q": Q}),
    "center_of_mass_jacobian": (robokin.center_of_mass_jacobian, {"model": MODEL, "q": Q}),
    "integrate": (robokin.integrate, {"model": MODEL, "q": Q, "v": V}),
    "difference": (robokin.difference, {"model": MODEL, "q0": Q, "q1": Q}),
    "clamp": (robokin.clamp, {"model": MODEL, "q": Q}),
    "in_limits": (robokin.in_limits, {"model": MODEL, "q": Q, "tolerance": 0.0}),
    "random_configuration": (robokin.random_configuration, {"model": MODEL, "rng": np.random.default_rng(0)}),
    "mass_matrix": (robokin.mass_matrix, {"model": MODEL, "q": Q}),
    "gravity_torque": (robokin.gravity_torque, {"model": MODEL, "q": Q, "gravity": (0.0, 0.0, -9.8)}),
    "inverse_dynamics": (robokin.inverse_dynamics, {"model": MODEL, "q": Q, "v": V, "a": V}),
    "configuration": (MODEL.configuration, {"values": {}}),
    "joint_values": (MODEL.joint_values, {"q": Q}),
    "null_space": (robokin.null_space, {"J": np.eye(3, 5)}),
    "transversality": (robokin.transversality, {"J": np.eye(3, 5), "A": np.eye(2, 5)}),
    "extended_inverse": (robokin.extended_inverse, {"J": np.eye(3, 5), "A": np.eye(5)[3:]}),
    "weighted_pseudo_inverse": (robokin.weighted_pseudo_inverse, {"J": np.eye(3, 5), "W": np.eye(5)}),
    "library_robot": (robokin.library_robot, {"name": "panda", "root": "fixed"}),
    "load_urdf": (robokin.load_urdf, {"path": "none.urdf", "root": "fixed", "package_paths": ()}),
    "read_urdf_text": (
        robokin.read_urdf_text,
        {"text": robokin.urdf_text(MODEL), "path": "r.urdf", "package_paths": (), "root": "fixed", "drive": None},
    ),
    "urdf_text": (robokin.urdf_text, {"model": MODEL}),
    "robot_from_dh": (robokin.robot_from_dh, {"rows": [DHRow(a=1.0)], "convention": "classic", "root": "fixed"}),
    "robot_from_screws": (robokin.robot_from_screws, {"screws": [np.eye(6)[5]], "home": np.eye(4)}),
    "Joint": (Joint, JOINT | {"placement": np.eye(4), "axis": (0, 0, 1), "lower": -1.0, "upper": 1.0, "velocity": 1.0}),
    "Joint, more of it": (
        Joint,
        JOINT | {"mimic": Mimic("k"), "order": "", "axes": None, "drive": None, "effort": 1.0},
    ),
    "Link": (Link, {"name": "a", "mass": 1.0, "com": np.zeros(3), "inertia": np.eye(3)}),
    "Drive": (Drive, {"left": "a", "right": "b", "radius": 0.1, "separation": 0.5}),
    "RobotModel": (
        RobotModel,
        {"name": "r", "links": [Link("a"), Link("b")], "joints": [Joint(**JOINT)], "root": "fixed", "drive": None},
    ),
    "velocity_step": (
        solvers.velocity_step,
        {"model": MODEL, "q": Q, "tasks": [POSE], "dt": 0.04, "previous": V, "constraints": (), "damping": 0.0},
    ),
    "solve_ik": (
        solvers.solve_ik,
        {"model": MODEL, "tasks": [POSE], "q0": Q, "criteria": (), "attempts": 2, "seed": 0, "backend": "auto"},
    ),
    "IKProblem": (
        solvers.IKProblem,
        {"model": MODEL, "tasks": [POSE], "criteria": (), "attempts": 2, "iterations": 10},
    ),
    "IKProblem.solve": (PROBLEM.solve, {"targets": [T], "q0": Q, "seed": 0}),
    "IKProblem.solve_batch": (PROBLEM.solve_batch, {"targets": [[T]], "q0": Q, "seed": 0, "threads": 1}),
    "Tracker": (solvers.Tracker, {"model": MODEL, "tasks": [POSE], "dt": 0.04}),
    "track": (solvers.track, {"model": MODEL, "tasks": [POSE], "targets": [[T]], "dt": 0.04, "q0": Q}),
    "JointSprings": (JointSprings, {"stiffness": None, "equilibrium": None, "weight": 1.0, "name": ""}),
    "VelocityConstraint": (solvers.VelocityConstraint, {"A": np.eye(MODEL.nv), "lower": 0.0, "upper": 1.0}),
    "Motion.of": (solvers.Motion.of, {"model": MODEL, "times": [0.0, 1.0], "q": [Q, Q], "start_velocity": V}),
    "Motion.at": (MOTION.at, {"times": [0.5]}),
    "Motion.resample": (MOTION.resample, {"rate": 10.0}),
    "check_motion": (solvers.check_motion, {"motion": MOTION, "tasks": [POSE], "targets": [[T], [T]]}),
    "write_motion": (solvers.write_motion, {"motion": MOTION, "path": "motion.unknown"}),
    "read_motion": (solvers.read_motion, {"path": "motion.unknown", "model": MODEL}),
    "PoseTask": (partial(_solved, solvers.PoseTask), {"link": TIP, "target": T, "name": "", "priority": 1}),
    "PositionTask": (partial(_solved, solvers.PositionTask), {"link": TIP, "target": T[:3, 3], "weights": 1.0}),
    "PostureTask": (partial(_solved, solvers.PostureTask), {"target": Q, "weights": {}, "name": "", "band": 0.0}),
    "RelativePoseTask": (
        partial(_solved, solvers.RelativePoseTask),
        {"link": TIP, "other": MODEL.link_names[1], "target": T, "offset": None, "name": "", "influence": 1.0},
    ),
    "AlongCurveTask": (partial(_solved, solvers.AlongCurveTask), {"link": TIP, "curve": LINE, "target": 1.0}),
    "CenterOfMassTask": (partial(_solved, solvers.CenterOfMassTask), {"target": (0.0, 0.0, 1.0), "name": ""}),
    "TwistTask": (partial(_solved, solvers.TwistTask), {"link": TIP, "target": V[:6], "frame": "world"}),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_argument_may_be_wrong(name: str) -> None:
    call, right = CALLS[name]
    refused = 0
    for argument in right:
        for value in WRONG:
            try:
                call(**right | {argument: value})
            except RobokinError as error:
                text = str(error)
                assert text and "\n" not in text and len(text) < 600, (argument, text)
                refused += 1
            except Exception as error:
                raise AssertionError(f"{name}({argument}={value!r}) raises {error!r}") from error
    assert refused > len(WRONG) // 2


def test_a_robot_is_not_the_path_of_its_file() -> None:
    solve, step = (partial(each, tasks=[POSE]) for each in (solvers.solve_ik, partial(solvers.velocity_step, q=Q)))
    for call in (partial(robokin.forward_kinematics, q=Q), solve, step):
        with pytest.raises(RobokinError, match=r"^a RobotModel is needed, .* not 'panda.urdf'$"):
            call("panda.urdf")
