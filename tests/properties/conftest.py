"""Every test here has a robot, its target and a look at what handlers met."""

from support.blender.fixtures import handlers_work, robot, target

__all__ = ["handlers_work", "robot", "target"]
