"""PlaCo: differential IK by a QP in C++; one start, iterated to the tolerance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import placo


def prepare(problem):
    floating, joints = bool(problem["floating"]), list(problem["joints"])
    robot = placo.RobotWrapper(str(Path(str(problem["urdf"]))), placo.Flags.ignore_collisions)
    solver = placo.KinematicsSolver(robot)
    if not floating:
        solver.mask_fbase(True)
    solver.enable_joint_limits(True)
    start = problem["start"]
    tasks = []
    for tip in problem["tips"]:
        task = solver.add_frame_task(str(tip), np.eye(4))
        task.configure(str(tip), "soft", 1.0, 1.0)
        tasks.append(task)
    solver.add_regularization_task(1e-8)
    offsets = {name: robot.get_joint_offset(name) for name in joints}
    index = np.array([offsets[name] for name in joints])
    tolerance = float(problem["position_tolerance"]), float(problem["orientation_tolerance"])

    def load(row):
        q = np.array(robot.state.q)
        if floating:
            q[:3], q[3:7] = row[:3], row[[4, 5, 6, 3]]
        q[index] = row[7:] if floating else row
        robot.state.q = q
        robot.update_kinematics()

    def unpack():
        q = robot.state.q
        return np.concatenate((q[:3], q[[6, 3, 4, 5]], q[index])) if floating else q[index]

    def iterate(targets, iterations):
        for task, target in zip(tasks, targets, strict=True):
            task.T_world_frame = target
        for _ in range(iterations):
            solver.solve(True)
            robot.update_kinematics()
            if iterations > 1 and all(
                task.position().error_norm() < tolerance[0] and task.orientation().error_norm() < tolerance[1]
                for task in tasks
            ):
                break
        return unpack()

    def solve(targets):
        load(start)
        return iterate(targets, 100)

    load(start)

    def track(targets):
        return iterate(targets, 1)

    return {"solve": solve, "track": track}
