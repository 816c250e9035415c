"""Names of meshes and textures in a description that is saved in another folder than it was read from."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from ..errors import ModelError
from ..files.resources import ResourceFinder, is_relative
from ..model.geometry import Geometry, Mesh
from ..model.robot import RobotModel


def relocated(model: RobotModel, path: str | os.PathLike) -> RobotModel:
    """The robot as it must be written to `path`: relative names of files that were found are relative to its folder,
    or absolute where the folders have too little in common for a reader to follow. Other names stay as read."""
    place = _Destination(path)
    links = [
        replace(
            link,
            visuals=tuple(map(place.geometry, link.visuals)),
            collisions=tuple(map(place.geometry, link.collisions)),
        )
        for link in model.links
    ]
    return RobotModel(model.name, links, model.joints[1:], model.root, model.drive)


class _Destination:
    def __init__(self, path: str | os.PathLike) -> None:
        self.folder = Path(os.path.abspath(path)).parent
        self.finder = ResourceFinder(path)

    def geometry(self, geometry: Geometry) -> Geometry:
        shape, material = geometry.shape, geometry.material
        if isinstance(shape, Mesh):
            shape = replace(shape, filename=self.name(shape.filename, shape.path))
        if material is not None and material.texture is not None:
            material = replace(material, texture=self.name(material.texture, material.texture_path))
        return replace(geometry, shape=shape, material=material)

    def name(self, written: str, found: str | None) -> str:
        if found is None or not is_relative(written):
            return written
        # Our reader also looks in folders above; others do not.
        if os.path.abspath(self.folder / written) == os.path.abspath(found):
            return written
        try:
            relative = Path(os.path.relpath(found, self.folder)).as_posix()
        except ValueError:  # another drive
            return Path(found).as_posix()
        return relative if self._finds(relative, found) else Path(found).as_posix()

    def _finds(self, name: str, wanted: str) -> bool:
        try:
            found = self.finder.find(name).path
        except ModelError:
            return False
        return found is not None and os.path.abspath(found) == os.path.abspath(wanted)
