"""The list of pairs that may touch: of links, or of a link and an obstacle."""

from __future__ import annotations

from itertools import product

import bpy

from ...properties.bridge import binding
from ...properties.bridge.visuals.mesh_hulls import mesh_hull
from ...properties.pairs.link_pairs import link_pairs, store_link_pairs
from ...properties.selected.selection import selected_bones
from ...robokin import RobokinError
from ...robokin.collision import CollisionModel
from ...robokin.units import counted
from ...scene.collisions import margin_of
from ...scene.obstacles import obstacles_in
from ...solvers.planning.plan import RESOLUTION
from ..common import RobotOperator
from ..tasks.entries import RemoveEntryOperator


class ROBOKIN_OT_find_touching(RobotOperator, bpy.types.Operator):
    """List the pairs of links that touch at rest or always, or that no motion keeps the Margin apart"""

    bl_idname = "robokin.find_touching"
    bl_label = "List Touching Pairs"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        robot = binding(obj)
        model = robot.model
        if not any(link.collisions for link in model.links):
            raise RobokinError(f"no link of {obj.name!r} has a collision shape: Fit Collision Shapes makes them")
        links = CollisionModel(model, hull=mesh_hull)
        always = links.always_near(margin_of(obj, robot) + RESOLUTION)  # of a plan, too
        found = dict.fromkeys(links.touching_at_rest(), "Rest") | dict.fromkeys(always, "Always")
        self.report({"INFO"}, f"{counted(store_link_pairs(obj, found), 'pair')} listed that had not been")
        return {"FINISHED"}


class ROBOKIN_OT_link_pair_add(RobotOperator, bpy.types.Operator):
    """List the links of the two selected bones, or of all selected bones with each selected obstacle: they may touch"""

    bl_idname = "robokin.link_pair_add"
    bl_label = "Add Pair"

    def run(self, context: bpy.types.Context, obj: bpy.types.Object) -> set[str]:
        link_of_bone = binding(obj).link_of_bone
        links = [link_of_bone[bone] for bone in selected_bones(obj) if bone in link_of_bone]
        obstacles = obstacles_in(context.scene, obj)
        touched = [each.name for each in obstacles if any(owner.select_get() for owner in each.owners)]
        if len(links) != 2 and not (links and touched):
            bones = counted(len(links), "bone with a link is", "bones with a link are")
            raise RobokinError(f"{bones} selected, not two, or some and an obstacle (select them in Pose Mode)")
        pairs = [*product(links, touched)] or [(links[0], links[1])]
        if not store_link_pairs(obj, dict.fromkeys(pairs, "User")):
            a, b = pairs[0]
            obj.robokin.active_link_pair = next(i for i, pair in enumerate(link_pairs(obj)) if {*pair} == {a, b})
            self.report({"INFO"}, f"{a!r} and {b!r} are in the list already: they are chosen there")
        return {"FINISHED"}


class ROBOKIN_OT_link_pair_remove(RemoveEntryOperator, bpy.types.Operator):
    """Remove the active pair from the list"""

    bl_idname = "robokin.link_pair_remove"
    bl_label = "Remove Pair"
    entries = "link_pairs"


CLASSES = (ROBOKIN_OT_find_touching, ROBOKIN_OT_link_pair_add, ROBOKIN_OT_link_pair_remove)
register, unregister = bpy.utils.register_classes_factory(CLASSES)
