"""Newton and Raphson on SE(3) with the body Jacobian, as in Sukesh's text (2.3.2), on his arm of five servos."""

import numpy as np
from robokin_addon.robokin import body_jacobian, forward_kinematics, library_robot
from robokin_addon.robokin.spatial import se3
from robokin_addon.solvers.qp.bounded_step import bounded_step

EPS_W, EPS_V = 0.01, 1e-4  # [rad, m] of the text
DAMPING, MOST = 0.3, 0.6  # near a singularity a whole step leads far away; [rad] of a joint in one
model = library_robot("desk_arm")
lower, upper = model.limits.lower, model.limits.upper


def step(q, twist):
    """J^+ twist, damped while much is missing; servos stop at the ends of their range, where the others go on."""
    J = body_jacobian(model, q, "tool")
    damped = J.T @ J + DAMPING * (twist @ twist) * np.eye(model.nv)
    return bounded_step(damped, J.T @ twist, np.maximum(lower - q, -MOST), np.minimum(upper - q, MOST))[0]


rng = np.random.default_rng(4)
counts, errors = [], []
for _ in range(1000):
    q = rng.uniform(-0.9, 0.9, model.nq)
    T_target = forward_kinematics(model, q + rng.uniform(-0.6, 0.6, model.nq))["tool"]
    errors.append([])
    while len(errors[-1]) <= 10:
        T = forward_kinematics(model, q)["tool"]
        twist = se3.log(se3.inverse(T) @ T_target)  # of the tool, in its own frame
        errors[-1].append(np.linalg.norm(twist[:3]))
        if np.linalg.norm(twist[:3]) < EPS_V and np.linalg.norm(twist[3:]) < EPS_W:
            counts.append(len(errors[-1]) - 1)
            break
        q = q + step(q, twist)
    assert model.limits.contain(q)
print(f"{len(counts)} of 1000 targets are met, after at most {max(counts)} steps, {np.mean(counts):.1f} on average")
