"""A photographer's studio for a robot: floor and backdrop, soft lights, a camera, Cycles on the CPU."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector

Point = Sequence[float]
Colour = tuple[float, float, float]


def set_up(scene: bpy.types.Scene, centre: Point, size: float) -> None:
    """Floor, lights and camera for a subject of `size` Blender units about `centre`; Cycles as the renderer."""
    collection = bpy.data.collections.new("Studio")
    scene.collection.children.link(collection)
    _backdrop(collection, size)
    _light(collection, "Key", centre, (0.9, -1.5, 1.9), size, 0.7, 75.0)
    _light(collection, "Fill", centre, (1.6, 1.3, 0.9), size, 2.0, 8.0)
    _light(collection, "Rim", centre, (-1.7, 0.8, 1.7), size, 0.9, 50.0)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    collection.objects.link(camera)
    scene.camera = camera
    world = bpy.data.worlds.new("Studio")
    scene.world = world
    if world.node_tree is None:  # Blender 4.5; from 5.0 on a world has nodes from the start
        world.use_nodes = True
    background = world.node_tree.nodes["Background"]
    background.inputs["Color"].default_value = (0.75, 0.85, 1.0, 1.0)
    background.inputs["Strength"].default_value = 0.2
    scene.render.engine = "CYCLES"
    scene.cycles.device = "CPU"
    scene.cycles.max_bounces = 3
    scene.cycles.use_denoising = True
    scene.render.use_persistent_data = True
    scene.view_settings.look = "AgX - Medium High Contrast"


def look_from(scene: bpy.types.Scene, place: Point, at: Point, lens: float = 50.0) -> None:
    camera = scene.camera
    camera.location = place
    camera.rotation_euler = (Vector(at) - Vector(place)).to_track_quat("-Z", "Y").to_euler()
    camera.data.lens = lens


def material(name: str, colour: Colour, *, roughness: float = 0.5, metallic: float = 0.0, glow: float = 0.0):
    made = bpy.data.materials.new(name)
    if made.node_tree is None:
        made.use_nodes = True
    surface = next(node for node in made.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    surface.inputs["Base Color"].default_value = (*colour, 1.0)
    surface.inputs["Roughness"].default_value = roughness
    surface.inputs["Metallic"].default_value = metallic
    surface.inputs["Emission Color"].default_value = (*colour, 1.0)
    surface.inputs["Emission Strength"].default_value = glow
    made.diffuse_color = (*colour, 1.0)
    return made


def take_picture(scene: bpy.types.Scene, path: Path, size: tuple[int, int], samples: int) -> None:
    render = scene.render
    render.resolution_x, render.resolution_y = size
    render.resolution_percentage = 100
    render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGB"
    render.filepath = str(path)
    scene.cycles.samples = samples
    bpy.ops.render.render(write_still=True)


def take_multiple_exposure(
    scene: bpy.types.Scene, path: Path, frames: Sequence[int], size: tuple[int, int], samples: int
) -> None:
    """Several frames on one picture, the last of them the strongest; what stands still is solid."""
    total = np.zeros(size[0] * size[1] * 4, np.float32)
    weights = np.linspace(1.0, 1.6, len(frames))
    weights[-1] *= 2.0
    for frame, weight in zip(frames, weights / weights.sum(), strict=True):
        scene.frame_set(frame)
        take_picture(scene, path, size, samples)
        exposure = bpy.data.images.load(str(path))
        pixels = np.empty(total.size, np.float32)
        exposure.pixels.foreach_get(pixels)
        total += np.float32(weight) * pixels
        bpy.data.images.remove(exposure)
    picture = bpy.data.images.new("Exposures", *size)
    picture.pixels.foreach_set(total)
    picture.file_format = "PNG"
    picture.save(filepath=str(path))
    bpy.data.images.remove(picture)


def _light(
    collection: bpy.types.Collection, name: str, centre: Point, direction: Point, size: float, area: float, power: float
) -> None:
    """A square area light `size * direction` from the centre, looking at it; `power` for a subject of one metre."""
    data = bpy.data.lights.new(name, "AREA")
    data.energy, data.size = power * size**2, area * size
    light = bpy.data.objects.new(name, data)
    light.location = Vector(centre) + size * Vector(direction)
    light.rotation_euler = (Vector(centre) - light.location).to_track_quat("-Z", "Y").to_euler()
    collection.objects.link(light)
    light.hide_set(True)  # in the viewport alone


def _backdrop(collection: bpy.types.Collection, size: float) -> None:
    """A floor that bends up into a wall behind the subject, as one seamless sheet facing the camera's side (+X, -Y)."""
    far, bend, height, half = 3.0 * size, 1.6 * size, 6.0 * size, 14.0 * size
    profile = [(14.0 * size, 0.0), (-far, 0.0)]
    profile += [
        (-far - bend * math.sin(a), bend * (1.0 - math.cos(a))) for a in np.linspace(0.0, math.pi / 2, 16)[1:].tolist()
    ]
    profile.append((-far - bend, height))
    vertices = [(x, side * half, z) for x, z in profile for side in (-1, 1)]
    faces = [(2 * i, 2 * i + 1, 2 * i + 3, 2 * i + 2) for i in range(len(profile) - 1)]
    mesh = bpy.data.meshes.new("Backdrop")
    mesh.from_pydata(vertices, [], faces)
    mesh.shade_smooth()
    mesh.materials.append(material("Backdrop", (0.32, 0.36, 0.42), roughness=0.9))
    sheet = bpy.data.objects.new("Backdrop", mesh)
    sheet.rotation_euler[2] = math.radians(-40)  # its open side towards the camera
    sheet.hide_select = True
    collection.objects.link(sheet)
