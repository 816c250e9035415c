"""RoboComp's solver: Levenberg and Marquardt's damped least squares, with weights, locked motors, and a stiff wrist."""

import numpy as np
from robokin_addon.robokin import clamp, forward_kinematics, frame_jacobian, library_robot, random_configuration
from robokin_addon.robokin.spatial import se3

model = library_robot("puma560")
home, WRIST = model.limits.middle(model.neutral()), [3, 4, 5]
W = np.array([1.0, 1.0, 1.0, 0.3, 0.3, 0.3])  # [1/m] and [1/rad]: what a meter and a radian of error count


def error(q, T_target):
    """(6,) from the tip to its target, place and rotation, in the axes of the root."""
    T = forward_kinematics(model, q)["tool"]
    turn = T[:3, :3] @ se3.log(se3.inverse(T) @ T_target)[3:]
    return np.concatenate((T_target[:3, 3] - T[:3, 3], turn))


def solve(q, T_target, weights=W, stiff=()):
    """A motor at its limit, or in `stiff`, is locked: its column of the Jacobian is zero."""
    e, damping, growth = error(q, T_target), 1e-3, 2.0
    descents.append([np.linalg.norm(e)])
    for _ in range(60):
        J = frame_jacobian(model, q, "tool", "local_world_aligned")
        g = J.T @ (weights * e)  # J' W e, where it was J' e
        at_end = (q <= model.limits.lower) & (g < 0.0) | (q >= model.limits.upper) & (g > 0.0)
        J[:, at_end] = J[:, list(stiff)] = 0.0
        g = J.T @ (weights * e)
        step = np.linalg.solve(J.T @ (weights[:, None] * J) + damping * np.eye(model.nv), g)
        if np.linalg.norm(step) < 1e-9:
            break
        there = clamp(model, q + step)
        gain = weights @ e**2 - weights @ error(there, T_target) ** 2
        if gain > 0.0:
            ratio = gain / (step @ (damping * step + g))  # to what the linear model promised
            damping, growth = damping * max(1.0 / 3.0, 1.0 - (2.0 * ratio - 1.0) ** 3), 2.0
            q, e = there, error(there, T_target)
            descents[-1].append(np.linalg.norm(e))
        else:
            damping, growth = damping * growth, 2.0 * growth
    return q


rng, met, descents = np.random.default_rng(1), np.zeros(3, int), []  # what is lacking after each step
for _ in range(25):
    q0, T = random_configuration(model, rng), forward_kinematics(model, random_configuration(model, rng))["tool"]
    near = solve(q0, T, W * [1, 1, 1, 0, 0, 0], stiff=WRIST)  # the place, with a stiff wrist; then it turns
    found = [[solve(q0, T)], [solve(q0, T), solve(home, T)], [solve(near, T)]]
    met += [min(np.linalg.norm(error(q, T)) for q in each) < 1e-4 for each in found]
print("of 25 targets: {} at once, {} when executed again from home, {} with a stiff wrist first".format(*met))
