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


def marked_collections(scene: bpy.types.Scene) -> list[bpy.types.Collection]:
    """Collections all of which is an obstacle; the scene's own one is not among those of the file."""
    return [each for each in (scene.collection, *bpy.data.collections) if each.robokin.is_obstacle]


CLASSES = (RobokinCollection,)
