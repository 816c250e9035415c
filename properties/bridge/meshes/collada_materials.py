"""The materials of a COLLADA file: diffuse colour or texture of each."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from urllib.parse import unquote

from .mesh_data import FileMaterial

_SHADINGS = ("phong", "lambert", "blinn", "constant")


class ColladaMaterials:
    """`by_id`: the elements of the document by id, without name spaces. `folder`: where it lies."""

    def __init__(self, by_id: dict[str | None, ET.Element], folder: str) -> None:
        self._by_id = by_id
        self._folder = folder
        self._found: dict[str, FileMaterial] = {}

    def material(self, name: str) -> FileMaterial:
        """The material of this id; one without colour when it is not there."""
        if name not in self._found:
            self._found[name] = self._read(name)
        return self._found[name]

    def _read(self, name: str) -> FileMaterial:
        element = self._by_id.get(name)
        instance = element.find("instance_effect") if element is not None else None
        effect = self._by_id.get(instance.get("url", "").lstrip("#")) if instance is not None else None
        profile = effect.find("profile_COMMON") if effect is not None else None
        if profile is None:
            return FileMaterial(name)
        label = element.get("name") or name
        for shading in _SHADINGS:
            diffuse = profile.find(f"technique/{shading}/diffuse")
            if diffuse is None:
                continue
            texture = diffuse.find("texture")
            if texture is not None:
                return FileMaterial(label, None, self._image(profile, texture.get("texture", "")))
            color = diffuse.findtext("color", "").split()
            if len(color) >= 3:
                # Exporters disagree about what opacity means; links are solid.
                return FileMaterial(label, (float(color[0]), float(color[1]), float(color[2]), 1.0))
        return FileMaterial(label)

    def _image(self, profile: ET.Element, sampler: str) -> str | None:
        """Path of the image behind a sampler: sampler -> surface -> image, or the image itself."""
        params = {p.get("sid"): p for p in profile.iterfind("newparam")}
        surface = params[sampler].findtext("sampler2D/source", "") if sampler in params else ""
        image = params[surface].findtext("surface/init_from", "") if surface in params else sampler
        element = self._by_id.get(image.strip())
        source = element.find("init_from") if element is not None else None
        if source is None:
            return None
        text = (source.text or source.findtext("ref") or "").strip()
        written = unquote(text.removeprefix("file://")).replace("\\", "/")
        # Many files name the texture where its author had it: beside the mesh is the second place to look.
        for candidate in (os.path.join(self._folder, written), os.path.join(self._folder, os.path.basename(written))):
            if written and os.path.isfile(candidate):
                return os.path.normpath(candidate)
        return None
