"""Drivers after bones were renamed: Blender renames a bone in what drivers move, but not in what they read."""

from __future__ import annotations

import bpy

from ..model.binding import binding
from ..model.channels import Channel
from .hand_posing import is_own_driver


def mend_drivers(obj: bpy.types.Object) -> None:
    """Let our drivers of the robot read the bones whose joints they follow. Raises BridgeError, ModelError."""
    robot = binding(obj)
    drivers = obj.animation_data.drivers if obj.animation_data is not None else ()
    moved = {(curve.data_path, curve.array_index): curve.driver for curve in drivers}
    followed = {channel.q: channel for channel in robot.own_channels}
    for channel in robot.channels[len(robot.own_channels) :]:
        driver = moved.get((_path(channel), channel.index))
        source = followed[channel.q]
        read = f"{_path(source)}[{source.index}]"
        if driver is not None and is_own_driver(driver) and driver.variables[0].targets[0].data_path != read:
            driver.variables[0].targets[0].data_path = read


def _path(channel: Channel) -> str:
    return f'pose.bones["{bpy.utils.escape_identifier(channel.bone)}"].{channel.path}'
