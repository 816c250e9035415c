"""URDF's <visual> and <collision>: a shape with placement and material."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ModelError
from ..files.resources import ResourceFinder
from ..model.geometry import Box, Capsule, Cylinder, Geometry, Hull, Material, Mesh, RoundedBox, Shape, Source, Sphere
from .placement import read_placement
from .xml import Element, shorten

logger = logging.getLogger(__name__)

UNIT_SCALE = (1.0, 1.0, 1.0)
OWN = "robokin"  # an element of ours beside a shape, as URDF has no hulls, rounded boxes, capsules; others leave it out


class ShapeReader:
    """Reads the shapes of one document, whose materials may be named once and used anywhere."""

    def __init__(self, document: Element, finder: ResourceFinder) -> None:
        self.finder = finder
        self.materials: dict[str, Material] = {}
        # A material of the robot comes first; one that is described inside a visual serves other visuals as well.
        inside = (m for link in document.all("link") for visual in link.all("visual") for m in visual.all("material"))
        for element in (*document.all("material"), *inside):
            material = self._read_material(element)
            if material.name and (material.rgba or material.texture):
                self.materials.setdefault(material.name, material)

    def read_all(self, link: Element, tag: str) -> tuple[Geometry, ...]:
        """The <visual> or <collision> elements of a link but for the ends of capsules. Raises FileFormatError."""
        owns = [(each, each.child(OWN)) for each in link.all(tag)]
        return tuple(self.read(each) for each, own in owns if own is None or own.attributes)

    def read(self, element: Element) -> Geometry:
        """A <visual> or <collision>. Raises FileFormatError."""
        material = element.child("material") if element.tag == "visual" else None
        shape, own = self._read_shape(element.needed_child("geometry")), element.child(OWN)
        return Geometry(
            shape if own is None else _own_shape(own, shape),
            read_placement(element.child("origin")),
            None if material is None else self._resolve_material(material),
            element.attributes.get("name", ""),
        )

    def _resolve_material(self, element: Element) -> Material:
        own = self._read_material(element)
        return own if own.rgba or own.texture else self.materials.get(own.name, own)

    def _read_material(self, element: Element) -> Material:
        color, texture = element.child("color"), element.child("texture")
        rgba: Any = None
        if color is not None:
            # Some real files count to 255 or slip below 0; a colour is no reason to lose a robot.
            rgba = tuple(min(max(value, 0.0), 1.0) for value in color.numbers("rgba", 4))
        filename = texture.attributes.get("filename", "").strip() if texture is not None else ""
        path = None
        if texture is not None and filename:
            try:
                path = self.finder.find(filename).path
            except ModelError as fault:
                logger.warning("%s", texture.error(f"texture left out: {fault}"))
        return Material(element.attributes.get("name", ""), rgba, filename or None, path)

    def _read_shape(self, geometry: Element) -> Shape:
        readers: dict[str, Callable[[Element], Shape]] = {
            "box": self._read_box,
            "cylinder": self._read_cylinder,
            "capsule": self._read_capsule,
            "sphere": self._read_sphere,
            "mesh": self._read_mesh,
        }
        for element in geometry.children:
            if element.tag in readers:
                return readers[element.tag](element)
        found = f"<{shorten(geometry.children[0].tag, quoted=False)}>" if geometry.children else "nothing"
        raise geometry.error(f"no known shape in <geometry>, but {found} (valid: {', '.join(readers)})")

    def _read_box(self, element: Element) -> Box:
        size = element.numbers("size", 3)
        if min(size) < 0:
            raise element.error(f"the size of a box must not be negative: {size}")
        return Box(size)

    def _read_cylinder(self, element: Element) -> Cylinder:
        return Cylinder(_length(element, "radius"), _length(element, "length"))

    def _read_capsule(self, element: Element) -> Capsule:
        return Capsule(_length(element, "radius"), _length(element, "length"))

    def _read_sphere(self, element: Element) -> Sphere:
        return Sphere(_length(element, "radius"))

    def _read_mesh(self, element: Element) -> Mesh:
        filename = element.text("filename")
        scale = element.numbers("scale", 3, UNIT_SCALE)
        if not all(scale):
            raise element.error(f"the scale of mesh {shorten(filename)} must not be zero: {scale}")
        source = Source(element.path, element.line)
        try:
            found = self.finder.find(filename.strip())
        except ModelError as fault:
            return Mesh(filename, scale, source=source, refused=str(fault))
        return Mesh(filename, scale, found.path, source=source, searched=found.searched)


def _own_shape(element: Element, around: Shape) -> Shape:
    """The hull, capsule or rounded box that `around` stands for in other programs. Raises FileFormatError."""
    radius = _length(element, "radius")
    if "length" in element.attributes:
        return Capsule(radius, _length(element, "length"))
    if "points" in element.attributes:
        count = 3 * max(len(element.text("points").split()) // 3, 1)
        return Hull(np.reshape(element.numbers("points", count), (-1, 3)), radius)
    if not isinstance(around, Box) or min(around.size) < 2.0 * radius:
        raise element.error(f"{element} without points rounds a box, which must be twice its radius wide")
    x, y, z = (side - 2.0 * radius for side in around.size)
    return RoundedBox((x, y, z), radius)


def _length(element: Element, name: str) -> float:
    value = element.number(name)
    if value < 0:
        raise element.error(f"the {name} of a {element.tag} must not be negative: {value}")
    return value
