"""Tasks, inverse kinematics and motion. No Blender."""
