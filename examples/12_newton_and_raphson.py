"""Newton and Raphson on SE(3) with the body Jacobian, as in Sukesh's text (2.3.2), on his arm of five servos."""

import numpy as np
from robokin_addon.robokin import forward_kinematics, library_robot
from robokin_addon.robokin.spatial import se3
from robokin_addon.solvers import solve_by

model, rng, results = library_robot("desk_arm"), np.random.default_rng(4), []
for _ in range(1000):
    q0 = rng.uniform(-0.9, 0.9, model.nq)
    T_target = forward_kinematics(model, q0 + rng.uniform(-0.6, 0.6, model.nq))["tool"]
    results.append(solve_by("newton_raphson", model, "tool", T_target, q0, eps_w=0.01, eps_v=1e-4))
    assert all(model.limits.contain(q) for q in results[-1].path)
counts = [result.iterations for result in results if result.converged]
print(f"{len(counts)} of 1000 targets are met, after at most {max(counts)} steps, {np.mean(counts):.1f} on average")
# An arm of five joints cannot turn its tool sideways: the place is met, and the nearest rotation.
sideways = T_target @ se3.exp(np.array([0.0, 0.0, 0.0, 0.3, 0.0, 0.0]))
print("turned sideways:", solve_by("newton_raphson", model, "tool", sideways, q0).reason)
