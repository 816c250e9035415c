"""The materials of a COLLADA file: diffuse colour or texture of each."""

from __future__ import annotations

from urllib.parse import unquote

from .....robokin import FileFormatError
from .....robokin.files.resources import file_beside
from .....robokin.urdf.xml import Element
from .collada_text import floats, found
from .mesh_data import FileMaterial
from .obj import PICTURES

_SHADINGS = ("phong", "lambert", "blinn", "constant")


class ColladaMaterials:
    """`by_id`: the elements of the document by id. `path`: the file, beside which textures are."""

    def __init__(self, by_id: dict[str, Element], path: str) -> None:
        self._by_id = by_id
        self._path = path
        self._found: dict[str, FileMaterial] = {}

    def material(self, name: str) -> FileMaterial:
        """The material of this id; one without colour when it is not there."""
        if name not in self._found:
            self._found[name] = self._read(name)
        return self._found[name]

    def _read(self, name: str) -> FileMaterial:
        element = self._by_id.get(name)
        instance = element.child("instance_effect") if element is not None else None
        effect = self._by_id.get(instance.attributes.get("url", "").lstrip("#")) if instance is not None else None
        profile = effect.child("profile_COMMON") if effect is not None else None
        if element is None or profile is None:
            return FileMaterial(name)
        label = element.attributes.get("name") or name
        for shading in _SHADINGS:
            diffuse = found(profile, f"technique/{shading}/diffuse")
            if diffuse is None:
                continue
            texture, color = diffuse.child("texture"), diffuse.child("color")
            if texture is not None:
                return FileMaterial(label, None, self._picture(profile, texture.attributes.get("texture", "")))
            if color is not None:
                return FileMaterial(label, _rgba(color))
        return FileMaterial(label)

    def _picture(self, profile: Element, sampler: str) -> str | None:
        """Path of the image behind a sampler: sampler -> surface -> image, or the image itself."""
        params = {p.attributes.get("sid"): p for p in profile.all("newparam")}
        surface = _text(params.get(sampler), "sampler2D/source")
        image = _text(params.get(surface), "surface/init_from") if surface in params else sampler
        element = self._by_id.get(image)
        written = _text(element, "init_from") or _text(element, "init_from/ref")
        return file_beside(self._path, written, PICTURES) or file_beside(self._path, unquote(written), PICTURES)


def _text(element: Element | None, path: str) -> str:
    inner = found(element, path) if element is not None else None
    return "" if inner is None else inner.content.strip()


def _rgba(color: Element) -> tuple[float, float, float, float] | None:
    """A colour that cannot be read leaves the default one."""
    for count in (4, 3):
        try:
            red, green, blue = (min(max(float(value), 0.0), 1.0) for value in floats(color, count)[:3])
        except FileFormatError:
            continue
        # Exporters disagree about what opacity means; links are solid.
        return red, green, blue, 1.0
    return None
