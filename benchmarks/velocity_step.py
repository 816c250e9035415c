"""One velocity step beside `solve_ik` of pink and mink, from the same configurations.

`python benchmarks/velocity_step.py [--poses 40] [--rounds 5]`, in a Python that has both. Ours is the plain call
`velocity_step(...)` with strict levels (Panda 2, Talos 4) and two criteria, all of it counted; of the peers' only
`solve_ik` is, without their forward kinematics, and with one task on one tip, so they have less to do. "Balance" is the
Talos with its feet pinned, the centre of mass above them or between them, a hand and a posture, on four levels; pink
has the same kinds of tasks, weighted. All keep position and velocity limits. Targets are near (a step reaches them) or
far (many velocity limits hold the step back); tasks and criteria are kept between calls, or all made anew for each one,
as a loop would that states what it wants there. The solvers take turns, by the processor's time; the fastest of the
rounds counts. Exit code 1 when a promise, which is about kept tasks, is not kept.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import checkout
import mink
import mujoco
import numpy as np
import pink
import pinocchio as pin
import problems
from robot_files import ROBOTS, robot_file

checkout.load()

from robokin_addon.robokin import RobotModel, integrate, load_urdf  # noqa: E402
from robokin_addon.robokin.kinematics import forward_kinematics  # noqa: E402
from robokin_addon.solvers import (  # noqa: E402
    CenterOfMassTask,
    OrientationTask,
    PinTask,
    PoseTask,
    PositionTask,
    PostureTask,
    SupportTask,
    Task,
    velocity_step,
)
from robokin_addon.solvers.criteria import (  # noqa: E402
    Criterion,
    GravityTorque,
    JointSprings,
    KineticEnergy,
    Manipulability,
)

DT = 1.0 / 50.0
NEAR, FAR = 0.02, 1.0  # [rad, m] of the motion that leads to a target: within a step's reach, and far beyond it
CRITERIA = {
    "energy, springs": lambda: [KineticEnergy(), JointSprings()],
    "manipulability, gravity": lambda: [Manipulability(), GravityTorque()],
}
# robot -> the factor by which we are to be faster than the peers named
ASKED = {"panda": (3.0, ("pink", "mink")), "talos": (2.0, ("pink",))}
SOLE = [(0.1, 0.05), (-0.1, 0.05), (-0.1, -0.05), (0.1, -0.05)]  # [m] corners around a foot


@dataclass(frozen=True)
class Poses:
    """Configurations of our model and of Pinocchio's, and the tips' targets of each."""

    model: RobotModel
    rows: list[np.ndarray]
    targets: list[dict[str, np.ndarray]]
    joints: list[str]


def draw(robot: str, urdf: Path, count: int, motion: float) -> Poses:
    tips, floating = ROBOTS[robot][1:]
    model = load_urdf(str(urdf), root="floating" if floating else "fixed")
    joints = problems.moving_joints(problems.build_model(urdf, floating), floating)
    lower, upper = np.maximum(model.lower, -1.0), np.minimum(model.upper, 1.0)
    rng = np.random.default_rng(3)
    rows, targets = [], []
    for _ in range(count):
        q = model.neutral()
        start = 7 if floating else 0
        q[start:] = (0.5 * (lower + upper) + 0.3 * rng.uniform(-1, 1, model.nq) * (upper - lower))[start:]
        away = forward_kinematics(model, integrate(model, q, motion * rng.uniform(-1, 1, model.nv)))
        rows.append(q)
        targets.append({tip: away[tip] for tip in tips})
    return Poses(model, rows, targets, joints)


def ours(poses: Poses, make: Callable[[], list[Criterion]], anew: bool) -> list[Callable[[], object]]:
    model, criteria = poses.model, make()

    def levels(targets: dict[str, np.ndarray]) -> list[Task]:
        if len(targets) > 1:
            return [PoseTask(tip, T, priority=k) for k, (tip, T) in enumerate(targets.items(), 1)]
        ((tip, T),) = targets.items()
        return [PositionTask(tip, T[:3, 3]), OrientationTask(tip, T[:3, :3], priority=2)]

    calls = []
    for q, targets in zip(poses.rows, poses.targets, strict=True):
        tasks = levels(targets)
        if anew:
            calls.append(lambda q=q, targets=targets: velocity_step(model, q, levels(targets), make(), DT))
        else:
            calls.append(lambda q=q, tasks=tasks: velocity_step(model, q, tasks, criteria, DT))
    return calls


def balancing(poses: Poses, make: Callable[[], list[Criterion]], anew: bool, keep: str) -> list[Callable[[], object]]:
    """keep: "support", the centre of mass above the feet, or "com", between them."""
    model, criteria = poses.model, make()

    def levels(q: np.ndarray, hand: str, T: np.ndarray, feet: dict[str, np.ndarray]) -> list[Task]:
        places = np.array([foot[:2, 3] for foot in feet.values()])
        if keep == "support":
            balance: Task = SupportTask((places[:, None] + SOLE).reshape(-1, 2), priority=2)
        else:
            balance = CenterOfMassTask([*places.mean(axis=0), 0.0], (1.0, 1.0, 0.0), priority=2)
        return [*map(PinTask, feet), balance, PoseTask(hand, T, priority=3), PostureTask(q, priority=4)]

    calls = []
    for q, targets in zip(poses.rows, poses.targets, strict=True):
        here = forward_kinematics(model, q)
        hand, *feet = (tip for tip in targets if "right_base" not in tip)
        given = q, hand, targets[hand], {foot: here[foot] for foot in feet}
        tasks = levels(*given)
        if anew:
            calls.append(lambda q=q, given=given: velocity_step(model, q, levels(*given), make(), DT))
        else:
            calls.append(lambda q=q, tasks=tasks: velocity_step(model, q, tasks, criteria, DT))
    return calls


def pinks_balance(poses: Poses, urdf: Path) -> list[Callable[[], object]]:
    """The same tasks in one level, kept between calls."""
    model = problems.build_model(urdf, True)
    calls = []
    for q, targets in zip(poses.rows, poses.targets, strict=True):
        at = problems.row_to_q(model, poses.joints, np.concatenate((q[:7], in_joint_order(poses, q))), True)
        configuration = pink.Configuration(model, model.createData(), at)
        hand, *feet = (tip for tip in targets if "right_base" not in tip)
        tasks = [pink.tasks.FrameTask(tip, position_cost=1.0, orientation_cost=1.0) for tip in (hand, *feet)]
        tasks[0].set_target(pin.SE3(targets[hand]))
        for foot in tasks[1:]:
            foot.set_target_from_configuration(configuration)
        balance, posture = pink.tasks.ComTask(cost=1.0), pink.tasks.PostureTask(cost=1e-3)
        balance.set_target(np.array([0.0, 0.0, 0.9]))
        posture.set_target(at)
        every = [*tasks, balance, posture]
        calls.append(lambda c=configuration, t=every: pink.solve_ik(c, t, DT, solver="daqp", safety_break=False))
    return calls


def in_joint_order(poses: Poses, q: np.ndarray) -> np.ndarray:
    values = poses.model.joint_values(q)
    return np.array([values[joint] for joint in poses.joints])


def pinks(poses: Poses, urdf: Path, floating: bool, anew: bool) -> list[Callable[[], object]]:
    model = problems.build_model(urdf, floating)
    calls = []
    for q, targets in zip(poses.rows, poses.targets, strict=True):
        row = in_joint_order(poses, q)
        row = np.concatenate((q[:7], row)) if floating else row
        at = problems.row_to_q(model, poses.joints, row, floating)
        configuration = pink.Configuration(model, model.createData(), at)
        tip, T = next(iter(targets.items()))

        def task(tip: str = tip, T: np.ndarray = T) -> list[pink.tasks.FrameTask]:
            made = pink.tasks.FrameTask(tip, position_cost=1.0, orientation_cost=1.0)
            made.set_target(pin.SE3(T))
            return [made]

        kept = task()
        make = task if anew else lambda kept=kept: kept
        calls.append(lambda c=configuration, t=make: pink.solve_ik(c, t(), DT, solver="daqp", safety_break=False))
    return calls


def minks(poses: Poses, urdf: Path, anew: bool) -> list[Callable[[], object]]:
    compiler = '<mujoco><compiler fusestatic="false" balanceinertia="true"/></mujoco></robot>'
    model = mujoco.MjModel.from_xml_string(urdf.read_text().replace("</robot>", compiler))
    bounds = [
        mink.ConfigurationLimit(model),
        mink.VelocityLimit(
            model, {joint: float(poses.model.velocity[poses.model.slot(joint).v][0]) for joint in poses.joints}
        ),
    ]
    calls = []
    for q, targets in zip(poses.rows, poses.targets, strict=True):
        at = np.zeros(model.nq)
        at[[model.joint(joint).qposadr[0] for joint in poses.joints]] = in_joint_order(poses, q)
        configuration = mink.Configuration(model, at)
        tip, T = next(iter(targets.items()))

        def task(tip: str = tip, T: np.ndarray = T) -> list[mink.FrameTask]:
            made = mink.FrameTask(tip, "body", position_cost=1.0, orientation_cost=1.0)
            made.set_target(mink.SE3.from_matrix(T))
            return [made]

        kept = task()
        make = task if anew else lambda kept=kept: kept
        calls.append(
            lambda c=configuration, t=make: mink.solve_ik(c, t(), DT, solver="daqp", limits=bounds, safety_break=False)
        )
    return calls


def mean_us(calls: list[Callable[[], object]]) -> float:
    """Of one call, after each was made once: caches and lazy imports are not what is measured."""
    taken = 0.0
    for call in calls:
        call()
        begin = time.process_time()
        for _ in range(10):
            call()
        taken += time.process_time() - begin
    return 1e5 * taken / len(calls)


def report(best: dict[str, float], fastest: float, factor: float) -> bool:
    """Prints times in us and ratios to the fastest peer; whether ours are by `factor` (0: not asked) faster."""
    ok = True
    for solver, us in best.items():
        line = f"  {solver:32} {us:8.1f} us"
        if solver.startswith("ours"):
            line += f"   measured {fastest / us:.1f}"
            if factor:
                line += f"   asked {factor:.1f}   {'kept' if fastest >= factor * us else 'MISSED'}"
            ok &= fastest >= factor * us
        print(line, flush=True)
    return ok


def print_balance(poses: Poses, urdf: Path, name: str, rounds: int) -> None:
    make = CRITERIA["energy, springs"]
    calls = {f"ours: {keep}": balancing(poses, make, False, keep) for keep in ("support", "com")}
    calls |= {f"ours: {keep}, made anew": balancing(poses, make, True, keep) for keep in ("support", "com")}
    calls["pink"] = pinks_balance(poses, urdf)
    turns = [{solver: mean_us(own) for solver, own in calls.items()} for _ in range(rounds)]
    best = {solver: min(turn[solver] for turn in turns) for solver in calls}
    print(f"\ntalos, {name} targets, balance")
    report(best, best["pink"], 0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--poses", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    kept = True
    with tempfile.TemporaryDirectory() as folder:
        for robot, (factor, peers) in ASKED.items():
            urdf, floating = Path(folder) / f"{robot}.urdf", ROBOTS[robot][2]
            urdf.write_text(problems.bare_urdf(robot_file(robot)))
            for name, motion in (("near", NEAR), ("far", FAR)):
                poses = draw(robot, urdf, arguments.poses, motion)
                for anew in (False, True):
                    calls = {f"ours: {what}": ours(poses, make, anew) for what, make in CRITERIA.items()}
                    calls["pink"] = pinks(poses, urdf, floating, anew)
                    if "mink" in peers:
                        calls["mink"] = minks(poses, urdf, anew)
                    turns = [{solver: mean_us(own) for solver, own in calls.items()} for _ in range(arguments.rounds)]
                    best = {solver: min(turn[solver] for turn in turns) for solver in calls}
                    print(f"\n{robot}, {name} targets, tasks {'made anew' if anew else 'kept'}")
                    kept &= report(best, min(best[peer] for peer in peers), 0.0 if anew else factor)
                if robot == "talos":
                    print_balance(poses, urdf, name, arguments.rounds)
    sys.exit(0 if kept else 1)


if __name__ == "__main__":
    main()
