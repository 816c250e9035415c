"""All channels of a robot read and written at once, for what happens at every move of the mouse."""

from __future__ import annotations

import math
from collections.abc import Sequence

import bpy
import numpy as np

from ...robokin.arrays import Array
from .model.binding import Binding
from .model.channels import EULER, LOCATION, QUATERNION, Channel, channel_bounds, round_inward
from .pose.configuration import read_configuration, write_configuration
from .pose.spherical import round_into_cone

_MODE = "rotation_mode"
_SIZES = {LOCATION: 3, EULER: 3, QUATERNION: 4}


class PoseArrays:
    """Arrays of a binding and the order of the object's pose bones; the numbers as `read_configuration` and
    `write_configuration` have. names: of the pose bones, in the order for which it is made."""

    def __init__(self, obj: bpy.types.Object, robot: Binding) -> None:
        self.robot, self.names = robot, obj.pose.bones.keys()
        place = {name: i for i, name in enumerate(self.names)}
        self._own = _Channels(robot.own_channels, place)
        self._written = _Channels(robot.written_channels, place)
        paths = dict.fromkeys((*self._own.paths, *self._written.paths))
        self._buffers = {path: np.empty(_SIZES[path] * len(place), np.float32) for path in paths}
        numbers = {item.identifier: item.value for item in bpy.types.PoseBone.bl_rna.properties[_MODE].enum_items}
        bones = [(place[bone], [numbers[mode] for mode in modes]) for bone, modes in robot.modes.items()]
        most = max((len(modes) for _, modes in bones), default=0)
        self._at = np.array([i for i, _ in bones], np.intp)
        self._fitting = np.array([[*modes, *modes[:1] * (most - len(modes))] for _, modes in bones], np.int32)
        self._modes = np.empty(len(place), np.int32)
        self._is_plain, self._looked_at = False, (b"", False)
        self._quaternions = [slice(at, at + 4) for at in robot.model.tree.quaternions]

    def read(self, obj: bpy.types.Object) -> Array:
        """(nq,) as `read_configuration`. Raises BridgeError."""
        bones = obj.pose.bones
        self._is_plain = self._has_modes(bones)
        if not self._is_plain:
            return read_configuration(obj)
        own, q = self._own, np.empty(self.robot.model.nq)
        values = np.empty(len(own.q))
        for path, (at, place) in own.paths.items():
            buffer = self._buffers[path]
            bones.foreach_get(path, buffer)
            values[at] = buffer[place]
        q[own.q] = own.factor * values
        if not math.isfinite(q.sum()):
            return read_configuration(obj)  # which names the bone
        return self._normalised(q)

    def write(self, obj: bpy.types.Object, q: Array) -> Array:
        """Write, as `write_configuration` does, a q (nq,) of a robot whose pose has just been read; (nq,) as it was
        rounded."""
        bones = obj.pose.bones
        if not self._is_plain:
            write_configuration(obj, q)
            return self.read(obj)
        q = np.array(q, float)
        for cone in self.robot.model.limits.cones:
            at = slice(cone.q, cone.q + 4)
            q[at] = round_into_cone(cone, q[at])
        written = self._written
        values = written.values(q)
        for path, (at, place) in written.paths.items():
            buffer = self._buffers[path]
            if path not in self._own.paths:
                bones.foreach_get(path, buffer)
            buffer[place] = values[at]
            bones.foreach_set(path, buffer)
        obj.update_tag(refresh={"OBJECT"})  # "DATA" would have the armature copied with all its records
        count = len(self._own.q)
        q[self._own.q] = self._own.factor * values[:count]
        return self._normalised(q)

    def _normalised(self, q: Array) -> Array:
        for ball in self._quaternions:
            length = np.linalg.norm(q[ball])
            q[ball] = q[ball] / length if length > 1e-9 else (1.0, 0.0, 0.0, 0.0)
        return q

    def _has_modes(self, bones: bpy.types.bpy_prop_collection) -> bool:
        """Whether every bone is in a rotation mode in which its channels are the robot's."""
        bones.foreach_get(_MODE, self._modes)
        present = self._modes.tobytes()
        if present != self._looked_at[0]:
            self._looked_at = present, bool((self._modes[self._at, None] == self._fitting).any(axis=1).all())
        return self._looked_at[1]


class _Channels:
    """paths: which of the channels each property has, and the place of each in all values of the property.
    q, factor: (n,) of a channel's coordinate."""

    def __init__(self, channels: Sequence[Channel], place: dict[str, int]) -> None:
        self.q = np.array([c.q for c in channels], np.intp)
        self.factor = np.array([c.factor for c in channels], float)
        places = np.array([_SIZES[c.path] * place[c.bone] + c.index for c in channels], np.intp)
        found = np.array([c.path for c in channels])
        self.paths = {path: (at, places[at]) for path in _SIZES if len(at := np.flatnonzero(found == path))}
        self._scale = np.array([c.scale for c in channels], float)
        self._offset = np.array([c.offset for c in channels], float)
        # The ends of a channel in single precision, inside its bounds: nothing between them is beyond.
        ends = [[round_inward(np.array([end]), *b)[0] for end in b] for b in map(channel_bounds, channels)]
        self._low, self._high = np.array(ends, np.float32).reshape(-1, 2).T

    def values(self, q: Array) -> Array:
        """(n,) float32 of the channels at q (nq,), inside their bounds in double precision."""
        wanted = ((self._scale * q[self.q] + self._offset) / self.factor).astype(np.float32)
        return np.minimum(np.maximum(wanted, self._low), self._high)
