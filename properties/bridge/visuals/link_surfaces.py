"""All that a link has of meshes: those on its bone, and what its bone moves of those that the robot deforms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import bpy

from ..errors import BridgeError
from ..model.binding import Binding
from .link_meshes import LinkSurface, link_meshes, link_surface
from .skins import skin_surfaces


def link_surfaces(
    context: bpy.types.Context, obj: bpy.types.Object, robot: Binding, bones: Sequence[str]
) -> Iterator[tuple[str, list[LinkSurface]]]:
    """Yield each bone with the surfaces of its link that have faces. Raises BridgeError, which names the mesh."""
    skins = skin_surfaces(context, obj, robot)
    depsgraph = context.evaluated_depsgraph_get()
    for bone in bones:
        found = []
        for mesh in link_meshes(obj, bone):
            try:
                found.append(link_surface(depsgraph, obj, robot, mesh))
            except BridgeError as fault:
                raise BridgeError(f"bone {bone!r}, mesh {mesh.name!r}: {fault}") from None
        yield bone, [each for each in (*found, *skins.get(bone, ())) if len(each.triangles)]
