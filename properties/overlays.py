"""What is drawn over the robots of a scene: `Scene.robokin.overlays`."""

from __future__ import annotations

import bpy

PATH_COLORS = (
    ("RESIDUAL", "Task Error", "How far the tip is from what its tasks ask for: red where they are missed"),
    ("SPEED", "Speed", "The joint that is nearest to its highest speed: red where it is too fast"),
    (
        "TIMING",
        "Timing",
        "The limit that keeps a retimed motion from being faster: blue speed, yellow acceleration, violet jerk, orange "
        "effort and power",
    ),
    ("LIMIT", "Limit Margin", "The joint that is nearest to a position limit: red at the limit"),
)


def _switch(name: str, description: str, default: bool = False) -> object:
    return bpy.props.BoolProperty(name=name, description=description, default=default, options=set())


class RobokinOverlays(bpy.types.PropertyGroup):
    """What is shown of the scene's robots. It is part of the file, and cannot be keyed."""

    show: _switch("Robot Overlays", "Draw what is chosen below over the robots of the scene", True)
    xray: _switch("In Front", "Draw through links and other objects", True)
    selected_only: _switch(
        "Selected Only", "Only of the robot that is selected, and in Pose Mode only the joints of selected bones"
    )
    joint_gizmo: _switch("Joint Gizmo", "Handles of the active joint in Pose Mode: drag its value and its limits", True)
    shape_gizmo: _switch(
        "Shape Handles",
        "Handles of the active collision shape, in place of those of the joint: drag its sizes and where it is. Dots "
        "choose another one",
    )
    axes: _switch("Axes", "The axis of each joint, an arrow in its positive direction")
    names: _switch("Names", "The name of each joint")
    limits: _switch("Limits", "The range of each joint and where it stands in it, red near a limit")
    center_of_mass: _switch(
        "Center of Mass",
        "The center of mass, its projection to the ground, and the polygon that the robot stands on: red when the "
        "robot would fall",
    )
    manipulability: _switch(
        "Manipulability", "How fast each tool moves in each direction when the joints turn at one radian per second"
    )
    manipulability_scale: bpy.props.FloatProperty(
        name="Scale",
        description="Length of the ellipsoid's semi-axes, for each length per second",
        default=0.2,
        min=0.001,
        soft_max=2.0,
        options=set(),
    )
    collisions: _switch("Collision Shapes", "The shapes by which collisions of links are found; meshes as their hulls")
    task_errors: _switch(
        "Task Errors", "An arrow from each tip that misses its target to that target, with the reason", True
    )
    path: _switch("Tool Path", "The path of each tool over the frames, of a robot that has keys")
    path_color: bpy.props.EnumProperty(
        name="Color", description="What the color of the path says", items=PATH_COLORS, default="SPEED", options=set()
    )
    moves: _switch("Moves", "Where the tools go in the list of moves, a color for each move", True)
    problem_frames: _switch(
        "Problem Frames",
        "Frames in which the last bake or check found something: on the path and in the timeline",
        True,
    )
    ghosts: _switch("Ghosts", "The robot as it stands at other frames: red before, blue after")
    ghost_count: bpy.props.IntProperty(
        name="Count", description="Ghosts before and after the frame", default=3, min=1, max=30, options=set()
    )
    ghost_step: bpy.props.IntProperty(
        name="Step", description="Frames between two ghosts", default=5, min=1, soft_max=100, options=set()
    )


class RobokinScene(bpy.types.PropertyGroup):
    """What a scene knows of its robots."""

    overlays: bpy.props.PointerProperty(type=RobokinOverlays, name="Overlays")


CLASSES = (RobokinOverlays, RobokinScene)
