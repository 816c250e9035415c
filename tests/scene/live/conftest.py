"""A live robot, and a target that it follows."""

from support.blender.fixtures import followed_target, live_robot

__all__ = ["followed_target", "live_robot"]
