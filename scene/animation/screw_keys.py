"""The slide of a screw is keyed as its angle is: a person keys the angle alone, and the screw moves right in between.

A driver cannot do it, since the channels of one bone may not drive each other in Blender.
"""

from __future__ import annotations

import bpy
import numpy as np

from ...properties.bridge import Binding, Channel
from ...properties.bridge.model.channels import COUPLED
from ...robokin.arrays import Array
from . import frames as animation
from .curves import channel_key

_POINTS = ("co", "handle_left", "handle_right")
_SHAPE = ("interpolation", "handle_left_type", "handle_right_type", "easing")
_SAME = 1e-6  # of the largest value: single precision


def follow_keys(obj: bpy.types.Object, robot: Binding) -> None:
    """Let the curve of each screw's slide be that of its angle, in its pitch."""
    coupled = [channel for channel in robot.written_channels if channel.role == COUPLED]
    bag = animation.channelbag(obj) if coupled else None
    if bag is None or not obj.animation_data.action.is_editable:
        return
    curves = {(curve.data_path, curve.array_index): curve for curve in bag.fcurves}
    for channel in coupled:
        lead = robot.own_channels[channel.q]
        angle, slide = curves.get(channel_key(lead)), curves.get(channel_key(channel))
        if angle is None:
            if slide is not None:
                bag.fcurves.remove(slide)
        elif (
            slide is None
            or not np.array_equal(_times(slide), _times(angle))
            or not _follows(slide, angle, lead, channel)
        ):
            path, index = channel_key(channel)
            slide = slide or bag.fcurves.new(path, index=index)
            if slide.group is None and angle.group is not None:
                slide.group = angle.group
            _copy(slide, angle, lead, channel)


def _on_slide(values: Array, lead: Channel, channel: Channel) -> Array:
    """Values of the slide's channel for values of the angle's."""
    return (channel.scale * lead.factor * values + channel.offset) / channel.factor


def _follows(slide: bpy.types.FCurve, angle: bpy.types.FCurve, lead: Channel, channel: Channel) -> bool:
    for name in _POINTS:
        wanted = _on_slide(_values(angle, name)[1::2], lead, channel)
        slack = _SAME * max(1.0, float(abs(wanted).max(initial=0.0)))
        if not np.allclose(_values(slide, name)[1::2], wanted, rtol=0.0, atol=slack):
            return False
    return True


def _times(curve: bpy.types.FCurve) -> Array:
    return _values(curve, "co")[::2]


def _values(curve: bpy.types.FCurve, name: str) -> Array:
    values = np.empty(2 * len(curve.keyframe_points), np.float32)
    curve.keyframe_points.foreach_get(name, values)
    return values


def _copy(slide: bpy.types.FCurve, angle: bpy.types.FCurve, lead: Channel, channel: Channel) -> None:
    points = slide.keyframe_points
    points.clear()
    points.add(len(angle.keyframe_points))
    for name in _SHAPE:
        for mine, theirs in zip(points, angle.keyframe_points, strict=True):
            setattr(mine, name, getattr(theirs, name))
    for name in _POINTS:
        values = _values(angle, name).astype(float)
        values[1::2] = _on_slide(values[1::2], lead, channel)
        points.foreach_set(name, values.astype(np.float32))
    slide.extrapolation = angle.extrapolation
    slide.update()
