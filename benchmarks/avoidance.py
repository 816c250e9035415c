"""A frame of the tracker, and a step, with and without avoidance: robots with 30 shapes among 20 obstacles.

`python benchmarks/avoidance.py [--frames 100] [--rounds 3]`. The Talos: a hand follows a line, the feet are pinned.
"far": nothing is near, so a frame is the plain one, and a look at how the robot would stop. "near": a wall is on the
hand's way, so frames are solved with the clearance before all tasks. "out of reach": frames that the robot cannot meet,
without a clearance. A step is towards the end of the line; "pressed" is where the hand presses on the wall, beside the
step without the clearance from there. Steps are made at ten places from there to a fifth of the step on, in turn. A
pose is that of the end of the line. All take turns, by the processor's time; the fastest of the rounds counts.

The G1 with hands, 44 joints: a step among obstacles 12 to 45 cm from its links, in ten scenes. The hand is asked for
a centimetre, or for more than the joints' limits on speed let it have. Frames: it follows a line of 40 cm.
"""

from __future__ import annotations

import argparse
import dataclasses
import time

import checkout
import numpy as np
from robot_files import ROBOTS, robot_file

checkout.load()

from robokin_addon.robokin import RobotModel, integrate, load_urdf  # noqa: E402
from robokin_addon.robokin.collision import Box, Capsule, CollisionModel, Cylinder, Obstacle, Sphere  # noqa: E402
from robokin_addon.robokin.kinematics import forward_kinematics  # noqa: E402
from robokin_addon.robokin.model.geometry import Geometry  # noqa: E402
from robokin_addon.solvers import ClearanceTask, PinTask, PositionTask, Task, solve_ik, velocity_step  # noqa: E402
from robokin_addon.solvers.tracking.avoidance.avoiding import tracker_of  # noqa: E402

SHAPES, OBSTACLES, STEPS, CROWDS = 30, 20, 100, 10
HAND, FEET = "gripper_left_base_link", ("left_sole_link", "right_sole_link")
DT = 1.0 / 50.0


def shaped(model: RobotModel) -> RobotModel:
    """The robot with capsules on the first links that joints move and are far enough apart."""
    moving = [joint.child for joint in model.moving_joints][:SHAPES]
    shape = (Geometry(Capsule(0.03, 0.06)),)
    links = [
        dataclasses.replace(link, collisions=shape if link.name in moving else (), visuals=()) for link in model.links
    ]
    return RobotModel(model.name, links, model.joints[1:], model.root)


def scene(model: RobotModel, q: np.ndarray, is_near: bool) -> CollisionModel:
    """Obstacles around the robot, and, where near, a wall before its hand."""
    rng, found = np.random.default_rng(1), []
    hand = forward_kinematics(model, q)[HAND][:3, 3]
    for number in range(OBSTACLES):
        T = np.eye(4)
        T[:3, 3] = hand + (1.5 + rng.random()) * _direction(rng)
        shape = Sphere(0.1) if number % 2 else Box((0.2, 0.2, 0.2))
        found.append(Obstacle(f"obstacle {number}", shape, T))
    if is_near:
        T = np.eye(4)
        T[:3, 3] = hand + np.array([0.15, 0.0, 0.0])
        found[0] = Obstacle("wall", Box((0.02, 1.0, 1.0)), T)
    touching = [contact.names for contact in CollisionModel(model).contacts(q[None])]
    return CollisionModel(model, found, touching)


def crowd(model: RobotModel, q: np.ndarray, seed: int) -> CollisionModel:
    """Obstacles 12 to 45 cm from links chosen by chance; what they touch is left out."""
    rng, frames = np.random.default_rng(seed), forward_kinematics(model, q)
    links = [link.name for link in model.links if link.collisions]
    found = []
    for number in range(OBSTACLES):
        T = np.eye(4)
        T[:3, 3] = frames[links[rng.integers(len(links))]][:3, 3] + rng.uniform(0.12, 0.45) * _direction(rng)
        shape = (Sphere(0.08), Box((0.1, 0.15, 0.2)), Capsule(0.05, 0.2), Cylinder(0.06, 0.2))[number % 4]
        found.append(Obstacle(f"obstacle {number}", shape, T))
    touching = [contact.names for contact in CollisionModel(model, found).contacts(q[None])]
    return CollisionModel(model, found, touching)


def among_crowds(rounds: int) -> None:
    model = shaped(load_urdf(str(robot_file("g1")), root="floating"))
    q, (hand, *feet) = model.limits.middle(model.neutral()), ROBOTS["g1"][1]
    frames = forward_kinematics(model, q)
    print(f"{model.name}: {len(list(model.moving_joints))} joints, {SHAPES} shapes, {OBSTACLES} obstacles near links")
    for way in (0.01, 0.25):
        goal = PositionTask(hand, frames[hand][:3, 3] + np.array([way, 0.0, 0.0]), priority=2)
        plain: list[Task] = [*(PinTask(foot, frames[foot]) for foot in feet), goal]
        ratios = []
        for seed in range(CROWDS):
            own = [*plain, ClearanceTask(crowd(model, q, seed))]
            seconds = np.min([(_step(model, q, own), _step(model, q, plain)) for _ in range(rounds)], axis=0)
            ratios.append(seconds[0] / seconds[1])
        print(f"{way:4.2f} m       {np.median(ratios):6.1f} times a step, {max(ratios):6.1f} at most")
    line = [[*(frames[foot] for foot in feet), frames[hand][:3, 3] + x * np.eye(3)[0]] for x in np.linspace(0, 0.4, 60)]
    each = []
    for seed in range(CROWDS):
        clearance = ClearanceTask(crowd(model, q, seed))
        with_, without = (_frames(model, q, own, line, rounds) for own in ([*plain, clearance], plain))
        each.append([1e3 * with_, with_ / without])
    ms, times = np.median(each, axis=0)
    print(f"frames       {ms:6.3f} ms a frame, {times:6.1f} times, {np.max(each, axis=0)[1]:6.1f} at most")


def _frames(model: RobotModel, q: np.ndarray, tasks: list[Task], line: list[list[np.ndarray]], rounds: int) -> float:
    tracker, seconds = tracker_of(model, tasks, DT), []
    targets = tracker.check_targets([[*own, *[None] * (len(tasks) - len(own))] for own in line])
    for _ in range(1 + rounds):  # the first one compiles
        tracker.stand(q)
        began = time.process_time()
        tracker.run(targets)
        seconds.append((time.process_time() - began) / len(line))
    return min(seconds)


def _direction(rng: np.random.Generator) -> np.ndarray:
    direction = rng.normal(size=3)
    return direction / np.linalg.norm(direction)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    model = shaped(load_urdf(str(robot_file("talos")), root="floating"))
    q = model.limits.middle(model.neutral())
    frames = forward_kinematics(model, q)
    start = frames[HAND][:3, 3]
    line, beyond = (
        [start + share * np.array([reach, 0.0, 0.0]) for share in np.linspace(0.0, 1.0, arguments.frames)]
        for reach in (0.25, 6.0)
    )

    def tasks() -> list[Task]:
        return [*(PinTask(foot, frames[foot]) for foot in FEET), PositionTask(HAND, line[-1], priority=2)]

    cases: dict[str, list[Task]] = {"without": tasks(), "out of reach": tasks()}
    for name, is_near in (("far", False), ("near", True)):
        cases[name] = [*tasks(), ClearanceTask(scene(model, q, is_near))]
    best, met, pressed = dict.fromkeys(cases, np.inf), dict.fromkeys(cases, 0.0), q
    for _ in range(arguments.rounds):
        for name, own in cases.items():
            tracker = tracker_of(model, own, DT)
            tracker.stand(q)
            extra = [None] if len(own) > 3 else []
            points = beyond if name == "out of reach" else line
            targets = tracker.check_targets([[frames[FEET[0]], frames[FEET[1]], point, *extra] for point in points])
            began = time.process_time()
            result = tracker.run(targets)
            best[name] = min(best[name], (time.process_time() - began) / len(points))
            met[name] = float(result.converged.mean())
            pressed = result.q[-1] if name == "near" else pressed
    shapes = sum(len(link.collisions) for link in model.links)
    print(f"{model.name}: {model.nv} degrees of freedom, {shapes} shapes, {OBSTACLES} obstacles")
    for name, seconds in best.items():
        print(f"{name:12} {1e3 * seconds:8.3f} ms a frame, {seconds / best['without']:6.1f} times, {met[name]:.0%} met")
    for name, there, own in (("far", q, cases["far"]), ("pressed", pressed, cases["near"])):
        rounds = [(_step(model, there, own), _step(model, there, cases["without"])) for _ in range(arguments.rounds)]
        with_, without = np.min(rounds, axis=0)
        print(f"{name:12} {1e3 * with_:8.3f} ms a step,  {with_ / without:6.1f} times")
        with_, without = (_pose(model, q, tasks, arguments.rounds) for tasks in (own, cases["without"]))
        print(f"{name:12} {1e3 * with_:8.3f} ms a pose,  {with_ / without:6.1f} times")
    among_crowds(arguments.rounds)


def _pose(model: RobotModel, q: np.ndarray, tasks: list[Task], rounds: int) -> float:
    solve_ik(model, tasks, q)  # compiles the tasks
    seconds = []
    for _ in range(rounds):
        began = time.process_time()
        solve_ik(model, tasks, q)
        seconds.append(time.process_time() - began)
    return min(seconds)


def _step(model: RobotModel, q: np.ndarray, tasks: list[Task]) -> float:
    step = velocity_step(model, q, tasks, dt=DT)  # compiles the tasks
    # More of them than the kernel remembers what it found at.
    places = [integrate(model, q, share * DT * step.v) for share in np.linspace(0.0, 0.2, 10)]
    began = time.process_time()
    for number in range(STEPS):
        velocity_step(model, places[number % 10], tasks, dt=DT)
    return (time.process_time() - began) / STEPS


if __name__ == "__main__":
    main()
