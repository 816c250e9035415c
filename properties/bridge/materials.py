"""Materials of links, shared within one import."""

from __future__ import annotations

import bpy

Rgba = tuple[float, float, float, float]

_GREY: Rgba = (0.72, 0.72, 0.74, 1.0)


class MaterialShelf:
    """Makes each material once. Colours are display values, as every robot viewer takes them; Blender's are linear."""

    def __init__(self) -> None:
        self._made: dict[tuple, bpy.types.Material] = {}

    def material(self, name: str, rgba: Rgba | None, texture: str | None) -> bpy.types.Material:
        key = (name, rgba, texture)
        if key not in self._made:
            self._made[key] = _new_material(name or "Robot", rgba or _GREY, texture)
        return self._made[key]


def _new_material(name: str, rgba: Rgba, texture: str | None) -> bpy.types.Material:
    material = bpy.data.materials.new(name)
    color = (*(_linear(x) for x in rgba[:3]), rgba[3])
    material.diffuse_color = color
    material.roughness = 0.5
    if material.node_tree is None:  # Blender 5 makes it with the material
        material.use_nodes = True
    tree = material.node_tree
    shader = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = color
    shader.inputs["Roughness"].default_value = 0.5
    shader.inputs["Alpha"].default_value = rgba[3]
    if texture is not None:
        image = tree.nodes.new("ShaderNodeTexImage")
        image.location = (-320, 260)
        image.image = bpy.data.images.load(texture, check_existing=True)
        tree.links.new(image.outputs["Color"], shader.inputs["Base Color"])
    return material


def _linear(value: float) -> float:
    """sRGB to linear (IEC 61966-2-1)."""
    value = min(max(value, 0.0), 1.0)
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def stated_color(material: bpy.types.Material) -> Rgba:
    """The colour of a material as a display value; what a texture adds is not looked at."""
    nodes = material.node_tree.nodes if material.node_tree is not None else ()
    shader = next((node for node in nodes if node.type == "BSDF_PRINCIPLED"), None)
    color = material.diffuse_color
    if shader is not None:
        color = (*shader.inputs["Base Color"].default_value[:3], shader.inputs["Alpha"].default_value)
    red, green, blue = (_display(float(x)) for x in color[:3])
    return red, green, blue, round(min(max(float(color[3]), 0.0), 1.0), 6)


def has_texture(material: bpy.types.Material) -> bool:
    nodes = material.node_tree.nodes if material.node_tree is not None else ()
    return any(node.type == "TEX_IMAGE" and node.image is not None for node in nodes)


def _display(value: float) -> float:
    """Linear to sRGB (IEC 61966-2-1), rounded to what single precision knows."""
    value = min(max(value, 0.0), 1.0)
    return round(12.92 * value if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055, 6)
