"""Mass, centre of mass and inertia of links, from their meshes."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ...properties.bridge import Binding, binding, write_bodies
from ...properties.bridge.visuals.link_surfaces import link_surfaces
from ...properties.selected.selection import selected_bones
from ...robokin import RobokinError
from ...robokin.arrays import Array
from ...robokin.inertia import Body, body_around, combined, convex_body, mesh_body
from ...robokin.units import counted
from ..common import RobotOperator

WHICH = (
    ("SELECTED", "Selected", "Of the selected bones; when none is, of the active one"),
    ("ACTIVE", "Active", "Of the active bone"),
    ("ALL", "All", "Of all bones that have a mesh"),
)
METHODS = (
    ("MESH", "Mesh", "What the mesh encloses; of a mesh that is not closed, and of a part of a skin, its convex hull"),
    ("HULL", "Convex Hull", "The convex hull of each mesh"),
    ("BOX", "Box", "A box around each mesh, along the mesh's axes"),
    ("CYLINDER", "Cylinder", "A cylinder around each mesh, along the longest of the mesh's axes"),
    ("SPHERE", "Sphere", "A ball as wide as each mesh"),
    ("CAPSULE", "Capsule", "A capsule around each mesh, along the longest of the mesh's axes"),
)
# kg/m^3: usual values of handbooks; of plastics solid, not as printed with hollows.
DENSITIES = {
    "ALUMINIUM": ("Aluminum", 2700.0),
    "STEEL": ("Steel", 7850.0),
    "TITANIUM": ("Titanium", 4430.0),
    "BRASS": ("Brass", 8500.0),
    "CARBON": ("Carbon Fiber", 1600.0),
    "ABS": ("ABS", 1050.0),
    "PLA": ("PLA", 1240.0),
    "NYLON": ("Nylon", 1140.0),
    "WOOD": ("Wood", 600.0),
    "RUBBER": ("Rubber", 1200.0),
    "WATER": ("Water", 1000.0),
}
MATERIALS = (
    ("CUSTOM", "Custom", "The density given below"),
    *((name, label, f"{density:g} kg/m\u00b3") for name, (label, density) in DENSITIES.items()),
)


class ROBOKIN_OT_inertia_from_mesh(RobotOperator, bpy.types.Operator):
    """Mass, center of mass and inertia of links, from the meshes on their bones"""

    bl_idname = "robokin.inertia_from_mesh"
    bl_label = "Inertia from Mesh"

    which: bpy.props.EnumProperty(name="Links", description="Of which bones", items=WHICH)
    method: bpy.props.EnumProperty(name="Shape", description="What each mesh stands for", items=METHODS)
    by: bpy.props.EnumProperty(
        name="Mass By",
        description="What is known",
        items=(
            ("DENSITY", "Density", "The material: masses follow from the volumes"),
            ("MASS", "Total Mass", "The mass of all chosen links together, shared among them by their volumes"),
        ),
    )
    material: bpy.props.EnumProperty(name="Material", description="Sets the density", items=MATERIALS)
    density: bpy.props.FloatProperty(
        name="Density kg/m\u00b3",
        description="Mass per volume [kg/m\u00b3]",
        default=1000.0,
        min=1e-6,
        soft_max=20000.0,
    )
    mass: bpy.props.FloatProperty(
        name="Mass kg", description="Mass of all chosen links together [kg]", default=1.0, min=1e-9, precision=4
    )

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.draw_properties("which", "method")
        layout.row().prop(self, "by", expand=True)
        if self.by == "MASS":
            layout.prop(self, "mass")
            return
        layout.prop(self, "material")
        if self.material == "CUSTOM":
            layout.prop(self, "density")

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        robot = binding(obj)
        solids, notes = self._solids(context, obj, robot)
        volume = sum(body.mass for body in solids.values())
        density = self.mass / volume if self.by == "MASS" else DENSITIES.get(self.material, ("", self.density))[1]
        bodies = {bone: body.times(density) for bone, body in solids.items()}
        write_bodies(context, obj, bodies)
        for note in notes:
            self.report({"WARNING"}, note)
        total = sum(body.mass for body in bodies.values())
        links = counted(len(bodies), "link")
        self.report(
            {"INFO"}, f"{links}: {total:.5g} kg, {volume:.4g} m\u00b3; {density:.4g} kg/m\u00b3; "
            f"the robot: {binding(obj).model.total_mass:.5g} kg"
        )  # fmt: skip
        return {"FINISHED"}

    def _solids(
        self, context: bpy.types.Context, obj: bpy.types.Object, robot: Binding
    ) -> tuple[dict[str, Body], list[str]]:
        """Bodies of density 1 by bone, and warnings. Raises RobokinError, also when no chosen link has a mesh."""
        chosen = _chosen(obj, robot, self.which)
        solids: dict[str, Body] = {}
        notes = []
        for bone, surfaces in link_surfaces(context, obj, robot, chosen):
            parts = []
            for surface in surfaces:
                try:
                    method = "HULL" if surface.is_cut and self.method == "MESH" else self.method
                    part, remarks = _solid(surface.triangles, surface.axes, method)
                except RobokinError as fault:
                    raise RobokinError(f"bone {bone!r}, mesh {surface.mesh!r}: {fault}") from None
                parts.append(part)
                notes += [f"bone {bone!r}, mesh {surface.mesh!r}: {remark}" for remark in remarks]
            if parts:
                solids[bone] = combined(parts)
        if not solids:
            names = ", ".join(map(repr, chosen[:4])) + (" ..." if len(chosen) > 4 else "")
            raise RobokinError(
                f"no mesh with faces is parented to or deformed by {names}: parent a mesh to the bone, or type the mass"
            )
        return solids, notes


def _chosen(obj: bpy.types.Object, robot: Binding, which: str) -> list[str]:
    """Bones of links, in the robot's order. Raises RobokinError when there is none among them."""
    bones = robot.bones
    active = obj.data.bones.active
    chosen = list(bones) if which == "ALL" else selected_bones(obj) if which == "SELECTED" else []
    chosen = chosen or ([active.name] if active else [])
    found = [bone for bone in bones if bone in chosen]
    if not found:
        raise RobokinError("no bone of the robot is selected or active: select some in Pose Mode, or choose All")
    return found


def _solid(triangles: Array, axes: Array, method: str) -> tuple[Body, Sequence[str]]:
    """A body of density 1 and remarks. Raises RobokinError."""
    if method == "MESH":
        found = mesh_body(triangles)
        return found.body, found.notes
    points = triangles.reshape(-1, 3)
    if method == "HULL":
        return convex_body(points), ()
    return body_around(points, method.lower(), axes), ()


CLASSES = (ROBOKIN_OT_inertia_from_mesh,)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
