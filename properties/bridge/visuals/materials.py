"""Materials of links, shared within one import."""

from __future__ import annotations

import bpy

from .colors import to_display, to_linear
from .meshes import FileMaterial

Rgba = tuple[float, float, float, float]

_GREY: Rgba = (0.72, 0.72, 0.74, 1.0)


_MOST = 4096  # of a robot; each takes Blender a millisecond


class MaterialShelf:
    """Makes each material once. Colours are display values, as every robot viewer takes them; Blender's are linear."""

    def __init__(self) -> None:
        self._made: dict[FileMaterial, bpy.types.Material] = {}

    def material(self, wanted: FileMaterial) -> bpy.types.Material:
        if wanted not in self._made and len(self._made) >= _MOST:
            wanted = FileMaterial("")
        if wanted not in self._made:
            self._made[wanted] = _new_material(wanted)
        return self._made[wanted]


def _new_material(wanted: FileMaterial) -> bpy.types.Material:
    material = bpy.data.materials.new(wanted.name or "Robot")
    rgba = wanted.rgba or _GREY
    color = (*(to_linear(x) for x in rgba[:3]), rgba[3])
    rough = 0.5 if wanted.roughness is None else wanted.roughness
    material.diffuse_color = color
    material.roughness = rough
    if material.node_tree is None:  # Blender 5 makes it with the material
        material.use_nodes = True
    tree = material.node_tree
    shader = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = color
    shader.inputs["Roughness"].default_value = rough
    shader.inputs["Metallic"].default_value = wanted.metallic or 0.0
    shader.inputs["Alpha"].default_value = rgba[3]
    picture = _picture(wanted.name or "Robot", wanted.texture) if wanted.texture is not None else None
    if picture is not None:
        image = tree.nodes.new("ShaderNodeTexImage")
        image.location = (-320, 260)
        image.image = picture
        tree.links.new(image.outputs["Color"], shader.inputs["Base Color"])
    return material


def _picture(name: str, texture: str | bytes) -> bpy.types.Image | None:
    """None for a file that Blender cannot open: the mesh is shown in its colour."""
    if isinstance(texture, bytes):
        image = bpy.data.images.new(name, 1, 1)
        image.pack(data=texture, data_len=len(texture))
        image.source = "FILE"
    else:
        before = len(bpy.data.images)
        try:
            image = bpy.data.images.load(texture, check_existing=True)
        except RuntimeError:
            return None
        if len(bpy.data.images) == before:  # it was there, maybe painted on
            return image if image.size[0] > 0 else None
    is_opened = image.size[0] > 0  # this reads it
    image.buffers_free()
    if not is_opened:
        bpy.data.images.remove(image)
    return image if is_opened else None


def stated_color(material: bpy.types.Material) -> Rgba:
    """The colour of a material as a display value; what a texture adds is not looked at."""
    nodes = material.node_tree.nodes if material.node_tree is not None else ()
    shader = next((node for node in nodes if node.type == "BSDF_PRINCIPLED"), None)
    color = material.diffuse_color
    if shader is not None:
        color = (*shader.inputs["Base Color"].default_value[:3], shader.inputs["Alpha"].default_value)
    red, green, blue = (to_display(float(x)) for x in color[:3])
    return red, green, blue, round(min(max(float(color[3]), 0.0), 1.0), 6)


def has_texture(material: bpy.types.Material) -> bool:
    nodes = material.node_tree.nodes if material.node_tree is not None else ()
    return any(node.type == "TEX_IMAGE" and node.image is not None for node in nodes)
