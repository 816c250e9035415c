"""The materials of a glTF file: base colour and texture, metallic and rough."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from .....robokin import FileFormatError
from .....robokin.files.resources import file_beside
from ..colors import to_display
from .gltf_data import GltfData, number_list, place
from .mesh_data import FileMaterial

_PICTURES = (".png", ".jpg", ".jpeg")
_MARKS = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")


class GltfMaterials:
    def __init__(self, data: GltfData) -> None:
        self._data = data
        self._found: dict[int, tuple[FileMaterial, int]] = {}

    def material(self, index: object) -> tuple[FileMaterial, int]:
        """(material, channel of its texture's coordinates). Raises ValueError for one that is not there."""
        materials = self._data.all("materials")
        at = place(index, materials, "material")
        if at not in self._found:
            self._found[at] = self._read(materials[at], f"material {at}")
        return self._found[at]

    def _read(self, material: dict[str, Any], fallback: str) -> tuple[FileMaterial, int]:
        name = str(material.get("name") or fallback)[:200]
        shading = material.get("pbrMetallicRoughness", {})
        red, green, blue, alpha = number_list(shading.get("baseColorFactor", [1, 1, 1, 1]), 4)
        if material.get("alphaMode", "OPAQUE") == "OPAQUE":
            alpha = 1.0
        rgba = (to_display(red), to_display(green), to_display(blue), float(min(max(alpha, 0.0), 1.0)))
        texture, channel = shading.get("baseColorTexture"), 0
        picture = None
        if texture is not None:
            picture, channel = self._picture(texture.get("index")), texture.get("texCoord", 0)
        metallic, rough = number_list([shading.get("metallicFactor", 1), shading.get("roughnessFactor", 1)], 2)
        found = FileMaterial(name, rgba, picture, float(min(max(metallic, 0.0), 1.0)), float(min(max(rough, 0.0), 1.0)))
        return found, channel if isinstance(channel, int) else 0

    def _picture(self, index: object) -> str | bytes | None:
        """Path or bytes of a texture's picture; None for what is no PNG or JPEG: the mesh is shown without."""
        try:
            textures = self._data.all("textures")
            images = self._data.all("images")
            image = images[place(textures[place(index, textures, "texture")].get("source"), images, "image")]
            uri = image.get("uri")
            if isinstance(uri, str) and not uri.startswith("data:"):
                return file_beside(self._data.path, unquote(uri), _PICTURES)
            if uri is None:
                data = bytes(self._data.view(image.get("bufferView")))
            else:
                data = self._data.bytes_of(uri, _PICTURES)
        except (ValueError, FileFormatError):
            return None
        return data if data.startswith(_MARKS) else None
