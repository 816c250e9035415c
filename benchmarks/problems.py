"""The problems that every solver is given: targets, start, tolerances. Built with Pinocchio, which none of them is.

A problem is one .npz file, so that solvers which cannot share a Python (their numpy versions exclude each other) get
the same bits. Configurations cross the border as one row per solve: the base pose (x y z qw qx qy qz) when the
robot floats, then the joints in the order of `joints`.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import numpy as np
import pinocchio as pin
from robot_files import ROBOTS, robot_file

POSITION_TOLERANCE = 1e-5  # m
ORIENTATION_TOLERANCE = 1e-5  # rad
ATTEMPTS = 50


def bare_urdf(path: Path) -> str:
    """The URDF without meshes and extensions: some peers fail on mesh paths, and none needs them here."""
    text = path.read_text()
    for tag in ("visual", "collision", "gazebo", "transmission"):
        text = re.sub(rf"<{tag}\b[^>]*?/>|<{tag}\b.*?</{tag}>", "", text, flags=re.DOTALL)
    return text


def build_model(urdf: Path, floating: bool) -> pin.Model:
    if floating:
        return pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer())
    return pin.buildModelFromUrdf(str(urdf))


def row_to_q(model: pin.Model, joints: list[str], row: np.ndarray, floating: bool) -> np.ndarray:
    q = pin.neutral(model)
    if floating:
        q[:3], q[3:7] = row[:3], row[[4, 5, 6, 3]]
        row = row[7:]
    for name, value in zip(joints, row, strict=True):
        joint = model.joints[model.getJointId(name)]
        if joint.nq == 2:  # Pinocchio keeps the cosine and sine of an unbounded angle
            q[joint.idx_q : joint.idx_q + 2] = np.cos(value), np.sin(value)
        else:
            q[joint.idx_q] = value
    return q


def frames(model: pin.Model, data: pin.Data, q: np.ndarray, tips: list[str]) -> np.ndarray:
    pin.framesForwardKinematics(model, data, q)
    return np.array([data.oMf[model.getFrameId(tip)].homogeneous for tip in tips])


def limits(model: pin.Model, joints: list[str]) -> tuple[np.ndarray, np.ndarray]:
    lower, upper = [], []
    for name in joints:
        joint = model.joints[model.getJointId(name)]
        unbounded = joint.nq == 2
        lower.append(-np.pi if unbounded else model.lowerPositionLimit[joint.idx_q])
        upper.append(np.pi if unbounded else model.upperPositionLimit[joint.idx_q])
    return np.array(lower), np.array(upper)


def moving_joints(model: pin.Model, floating: bool) -> list[str]:
    return list(model.names)[2 if floating else 1 :]


def reachable(robot: str, count: int, seed: int, folder: Path) -> Path:
    """`count` targets: the tips' poses at configurations drawn uniformly within the limits; start mid-range."""
    urdf, floating = folder.resolve() / f"{robot}.urdf", ROBOTS[robot][2]
    urdf.write_text(bare_urdf(robot_file(robot)))
    model = build_model(urdf, floating)
    data, joints = model.createData(), moving_joints(model, floating)
    lower, upper = limits(model, joints)
    random = np.random.default_rng(seed)
    rows = random.uniform(lower, upper, (count, len(joints)))
    start = (lower + upper) / 2
    if floating:
        base = np.hstack((random.uniform(-0.5, 0.5, (count, 3)), random.normal(size=(count, 4))))
        base[:, 3:] /= np.linalg.norm(base[:, 3:], axis=1, keepdims=True)
        rows, start = np.hstack((base, rows)), np.concatenate(([0, 0, 0, 1, 0, 0, 0], start))
    return _save(folder / f"{robot}-reachable.npz", model, data, robot, urdf, joints, rows, start)


def circle(robot: str, count: int, folder: Path, radius: float = 0.1) -> Path:
    """`count` frames of a closed circle (each tip its own, in the y-z plane), starting at a bent posture."""
    urdf, tips, floating = folder.resolve() / f"{robot}.urdf", ROBOTS[robot][1], ROBOTS[robot][2]
    urdf.write_text(bare_urdf(robot_file(robot)))
    model = build_model(urdf, floating)
    data, joints = model.createData(), moving_joints(model, floating)
    lower, upper = limits(model, joints)
    start = (lower + upper) / 2
    bent = np.clip(0.3 * np.cos(np.arange(len(joints)) * 1.3), lower - start, upper - start)
    if robot == "ur5":  # mid-range is the stretched arm, which no circle can start from
        bent = np.array([0.2, -1.2, 1.4, -1.0, -1.3, 0.4])
    start = start + bent
    if floating:
        start = np.concatenate(([0, 0, 1.0, 1, 0, 0, 0], start))
        radius *= 0.3  # a humanoid with all four tips prescribed has less room
    T_start = frames(model, data, row_to_q(model, joints, start, floating), tips)
    angle = np.linspace(0, 2 * np.pi, count)
    targets = np.repeat(T_start[None], count, axis=0)
    moving = len(tips) if not floating else 2  # the feet stand
    targets[:, :moving, 1, 3] += radius * np.sin(angle)[:, None]
    targets[:, :moving, 2, 3] += radius * (np.cos(angle) - 1)[:, None]
    return _save(folder / f"{robot}-circle.npz", model, data, robot, urdf, joints, None, start, targets)


def _save(path, model, data, robot, urdf, joints, rows, start, targets=None) -> Path:
    tips, floating = ROBOTS[robot][1], ROBOTS[robot][2]
    if targets is None:
        targets = np.array([frames(model, data, row_to_q(model, joints, row, floating), tips) for row in rows])
    lower, upper = limits(model, joints)
    np.savez(
        path,
        robot=robot,
        urdf=str(urdf),
        tips=tips,
        floating=floating,
        joints=joints,
        targets=targets,
        start=start,
        lower=lower,
        upper=upper,
        position_tolerance=POSITION_TOLERANCE,
        orientation_tolerance=ORIENTATION_TOLERANCE,
        attempts=ATTEMPTS,
    )
    return path


def errors(problem: np.lib.npyio.NpzFile, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(position error [m], orientation error [rad], limit violation) of each row, by Pinocchio; worst over the tips."""
    floating, joints, tips = bool(problem["floating"]), list(problem["joints"]), list(problem["tips"])
    model = build_model(Path(str(problem["urdf"])), floating)
    data = model.createData()
    position, orientation = np.zeros(len(rows)), np.zeros(len(rows))
    for i, (row, targets) in enumerate(zip(rows, problem["targets"], strict=True)):
        if not np.isfinite(row).all():
            position[i] = orientation[i] = np.inf
            continue
        reached = frames(model, data, row_to_q(model, joints, row, floating), tips)
        for T, T_target in zip(reached, targets, strict=True):
            position[i] = max(position[i], np.linalg.norm(T[:3, 3] - T_target[:3, 3]))
            orientation[i] = max(orientation[i], np.linalg.norm(pin.log3(T[:3, :3].T @ T_target[:3, :3])))
    own = rows[:, 7:] if floating else rows
    violation = np.maximum(problem["lower"] - own, own - problem["upper"]).max(axis=1)
    return position, orientation, violation


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    for name in ROBOTS:
        print(reachable(name, arguments.count, arguments.seed, arguments.folder))
        print(circle(name, arguments.count, arguments.folder))
