"""Breen's cost of goal, obstacles and limits (Eq. 9 to 12), and a descent whose every step stays inside the limits."""

import numpy as np
from robokin_addon.robokin import forward_kinematics, frame_jacobian, library_robot

model = library_robot("four_part_arm")
lower, upper = model.limits.lower, model.limits.upper
OBSTACLES, R = np.array([[6.0, 9.0], [1.0, 11.0]]), 3.0  # [dm], as is the cost
DELTA = np.radians(20)
GOALS = np.array([[4.0, 7.5], [-5.0, 9.0]])


def cost(q, goal):
    """C(q) and its gradient."""
    e = forward_kinematics(model, q)["end_effector"][:2, 3] * 10.0
    J = frame_jacobian(model, q, "end_effector", reference="local_world_aligned")[:2] * 10.0
    away = e - goal
    total, by_place = np.linalg.norm(away), away / np.linalg.norm(away)
    for gap in e - OBSTACLES:
        d = np.linalg.norm(gap)
        if d <= R:
            total, by_place = total + np.log(R / d), by_place - gap / d**2
    gradient = by_place @ J
    for margin, sign in ((q - lower, 1.0), (upper - q, -1.0)):
        near = margin <= DELTA
        total += np.log(DELTA / margin[near]).sum()
        gradient[near] -= sign / margin[near]
    return total, gradient


path = [np.radians([-60.0, -40.0, -30.0])]
for goal in GOALS:
    for _ in range(400):
        q = path[-1]
        value, slope = cost(q, goal)
        step = min(0.1, 0.05 / abs(slope).max())  # at most 0.05 rad a frame
        # Outside the limits the cost is zero again, so a step that leaves is no better: it is shortened.
        while step > 1e-9:
            there = q - step * slope
            inside = (lower < there).all() and (there < upper).all()
            if inside and cost(there, goal)[0] < value - 0.1 * step * slope @ slope:
                break
            step /= 2.0
        else:
            break
        path.append(there)
    end = forward_kinematics(model, q)["end_effector"][:2, 3] * 10.0
    gap = np.linalg.norm(end - OBSTACLES, axis=1).min()
    print(f"goal {goal}: {np.linalg.norm(end - goal):.2f} dm away, {gap:.1f} dm from an obstacle")
