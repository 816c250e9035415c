"""Load a URDF, print its joints, and where its pen is in one pose."""

from pathlib import Path

from robokin_addon.robokin import forward_kinematics, frame_jacobian, gravity_torque, in_limits, load_urdf

model = load_urdf(Path(__file__).with_name("arm.urdf"))

print(f"{model.name}: {model.nv} degrees of freedom, {model.total_mass:.1f} kg")
for joint in model.moving_joints:
    print(f"  {joint.name:6} {joint.type:10} {joint.lower[0]:5.1f} to {joint.upper[0]:4.1f}, max {joint.velocity[0]}/s")

q = model.configuration({"lift": 0.5, "bend": -1.0})  # the others are 0; angles in radians, lengths in metres
T = forward_kinematics(model, q)["pen"]  # (4, 4): rotation and place in the frame of the base
J = frame_jacobian(model, q, "pen")  # (6, 4): rows of velocity first, then of angular velocity

print("inside the limits:", in_limits(model, q))
print("pen at", [f"{x:.4f}" for x in T[:3, 3]], "m")
print("lifting at 1 rad/s moves it with", [f"{x:.4f}" for x in J[:3, 1]], "m/s")
print("torques that hold the arm up:", [f"{x:.3f}" for x in gravity_torque(model, q)[:3] + 0.0], "N m")
