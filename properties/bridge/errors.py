"""What is wrong with an armature as a robot."""

from __future__ import annotations

from ...robokin import RobokinError


class BridgeError(RobokinError):
    """An armature that cannot be read or posed as a robot. The message names the object and the bone."""


class DamagedRecordError(BridgeError):
    """What lies on a bone or an armature is no record. The message names it, the place, and what is valid there."""
