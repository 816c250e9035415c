"""One step at a time: the velocity that brings the tool nearer, with the freedom left to a criterion."""

import numpy as np
from robokin_addon.robokin import forward_kinematics, integrate, library_robot
from robokin_addon.solvers import PositionTask, velocity_step
from robokin_addon.solvers.criteria import JointSprings

DT = 0.05
model = library_robot("planar_3r")
q = model.configuration({"joint_1": 0.9, "joint_2": -1.2, "joint_3": 0.4})
v = np.zeros(model.nv)

print("step   distance [m]   fastest joint [rad/s]")
for step in range(61):
    tool = forward_kinematics(model, q)["tool"][:3, 3]
    away = np.array([0.5, 0.7, tool[2]]) - tool
    if step % 10 == 0:
        print(f"{step:4}   {np.linalg.norm(away):12.4f}   {np.abs(v).max():12.3f}")
    towards = PositionTask("tool", tool + 0.1 * away)  # a tenth of the way in each step
    v = velocity_step(model, q, [towards], [JointSprings()], dt=DT, previous=v).v
    q = integrate(model, q, v * DT)
