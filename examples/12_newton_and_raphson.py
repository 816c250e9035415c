"""Newton and Raphson on SE(3) with the body Jacobian, as in Sukesh's text (2.3.2), on his arm of five servos."""

import numpy as np
from robokin_addon.robokin import body_jacobian, forward_kinematics, integrate, library_robot
from robokin_addon.robokin.spatial import se3

EPS_W, EPS_V = 0.01, 1e-4  # [rad, m] of the text
model = library_robot("desk_arm")
rng = np.random.default_rng(4)
counts = []
for _ in range(200):
    start = rng.uniform(-0.9, 0.9, model.nq)
    T_target = forward_kinematics(model, start + rng.uniform(-0.6, 0.6, model.nq))["tool"]
    q = start
    for count in range(1, 21):
        T = forward_kinematics(model, q)["tool"]
        twist = se3.log(se3.inverse(T) @ T_target)  # of the tool, in its own frame
        if np.linalg.norm(twist[:3]) < EPS_V and np.linalg.norm(twist[3:]) < EPS_W:
            counts.append(count - 1)
            break
        q = integrate(model, q, np.linalg.pinv(body_jacobian(model, q, "tool")) @ twist)
print(f"{len(counts)} of 200 targets are met, after at most {max(counts)} steps, {np.mean(counts):.1f} on average")
