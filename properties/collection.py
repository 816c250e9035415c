"""What a collection knows: `Collection.robokin`."""

from __future__ import annotations

import bpy

from .overrides import STATIC


class RobokinCollection(bpy.types.PropertyGroup):
    """Switches for all that a collection holds."""

    is_obstacle: bpy.props.BoolProperty(
        options=STATIC,
        name="Obstacles",
        description="Robots may not touch the mesh objects of this collection, nested and instanced ones too; what "
        "hangs on a robot's own bones does not count",
    )


CLASSES = (RobokinCollection,)
