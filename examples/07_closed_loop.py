"""A four-bar linkage: a tree of links, and one loop closure where the ring is shut."""

import numpy as np
from robokin_addon.robokin import Joint, Link, RobotModel, forward_kinematics
from robokin_addon.solvers import JointTask, LoopClosureTask, solve_ik


def at(x, y=0.0):
    """(4, 4) a frame moved by x and y."""
    T = np.eye(4)
    T[:2, 3] = x, y
    return T


joints = [
    Joint("crank_joint", "continuous", "ground", "crank", at(0.0)),
    Joint("coupler_joint", "continuous", "crank", "coupler", at(0.3)),
    Joint("rocker_joint", "revolute", "ground", "rocker", at(0.8), lower=0.2, upper=3.0),
]
model = RobotModel("four-bar", [Link(name) for name in ("ground", "crank", "coupler", "rocker")], joints)

# The end of the coupler, 0.9 m along it, is the end of the rocker, 0.6 m along it. Turning about z is free.
ring = LoopClosureTask("coupler", "rocker", at(0.9), at(0.6), orientation_weights=0, position_weights=[1, 1, 0])

q = model.configuration({"crank_joint": 0.5, "coupler_joint": 0.3, "rocker_joint": 1.4})
print("crank [deg]   rocker [deg]   gap [um]")
for degrees in range(0, 361, 60):
    found = solve_ik(model, [ring, JointTask("crank_joint", np.radians(degrees))], q)
    q, placed = found.q, forward_kinematics(model, found.q)
    gap = (placed["coupler"] @ at(0.9) - placed["rocker"] @ at(0.6))[:2, 3]
    angle = np.degrees(model.joint_values(q)["rocker_joint"])
    print(f"{degrees:11}   {angle:12.2f}   {1e6 * np.linalg.norm(gap):8.0f}   {found.status}")
