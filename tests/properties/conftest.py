"""Every test here has a robot, its target and a look at what handlers met."""

from support.blender.fixtures import auto_keying, handlers_work, robot, target

__all__ = ["auto_keying", "handlers_work", "robot", "target"]
