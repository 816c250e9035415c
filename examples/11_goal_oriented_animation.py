"""Breen's cost of goal, obstacles and limits (Eq. 9 to 12), and a descent whose every step stays inside the limits."""

import numpy as np
from robokin_addon.robokin import forward_kinematics, library_robot
from robokin_addon.robokin.spatial import se3
from robokin_addon.solvers import solve_by

DM = 0.1  # [m] the cost is in decimeters
OBSTACLES, R = DM * np.array([[6.0, 9.0, 0.0], [1.0, 11.0, 0.0]]), 3.0 * DM
GOALS = DM * np.array([[4.0, 7.5, 0.0], [-5.0, 9.0, 0.0]])
FIELD = {"obstacles": OBSTACLES, "radius": R, "unit": DM, "tolerance": 1e-4}

model = library_robot("four_part_arm")
targets = np.array([se3.translation(goal) for goal in GOALS])
result = solve_by("goal_oriented", model, "end_effector", targets, np.radians([-60.0, -40.0, -30.0]), **FIELD)
for k, goal in enumerate(GOALS):
    q = result.path[result.targets == k][-1]
    end = forward_kinematics(model, q)["end_effector"][:3, 3]
    gap = np.linalg.norm(end - OBSTACLES, axis=1).min()
    print(f"goal {goal[:2] / DM}: {np.linalg.norm(end - goal) / DM:.2f} dm away, {gap / DM:.1f} dm from an obstacle")
