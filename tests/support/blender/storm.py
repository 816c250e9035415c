"""Random edits of robots in a scene, with steps of undo between them, as from a window.

An edit returns the names of the bones that it may change the joints of, or None for all; what a step does is written
down in `log`. Every edit is a step of undo, also a change of mode, and nothing is changed between a step and going back
from it: else Blender itself may crash.
"""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
from robokin_addon.properties.bridge import is_robot

from support.blender.every_joint import make_every_joint
from support.blender.scene_robots import add_robot, add_target
from support.blender.storm_edits import BLENDERS, EDITS, mend, readable

Touched = set[str] | None

NUMBERS = (0.0, 1.0, -1.0, 0.3, -0.7, 3.0, 1e-9, 1e6, 3e38, float("nan"), float("inf"))
BACK = 0.06  # share of steps that go back, and of those that go forth again


class Storm:
    """A scene with robots, and random edits of it. folder: where it is saved."""

    def __init__(self, rng: np.random.Generator, folder: Path) -> None:
        self.rng, self.folder, self.log = rng, folder, []
        robot = make_every_joint()
        bpy.context.view_layer.objects.active = robot
        bpy.ops.robokin.target_add(tip="ball", kind="POSITION")
        robot = add_robot()
        add_target(robot)
        bpy.context.view_layer.objects.active = robot
        self._push()

    def step(self) -> Touched:
        """One edit of one robot, or the mending of one that is none any more, which half of the edits would make it; or
        some edits back, or one forth."""
        if self.rng.random() < 2 * BACK:
            self._go_back_or_forth()
            return None
        edit = EDITS[self.rng.integers(len(EDITS))]
        robot = self.robot()
        if robot is None:
            self.log.append("new robot")
            self._to_object_mode()
            add_robot()
            self._push()
            return None
        if not readable(robot) and (self.rng.random() < 0.5 or not robot.data.bones):
            edit = mend  # at once where no bone is left, for most edits take one
        self.log.append(f"{edit.__name__} {robot.name}")
        self._activate(robot)
        touched: Touched = None
        try:
            touched = edit(self, robot)
        except RuntimeError as error:
            assert edit in BLENDERS and "Traceback" not in str(error), error
        self._push()
        return touched

    def robot(self) -> bpy.types.Object | None:
        robots = [obj for obj in bpy.context.view_layer.objects if is_robot(obj)]
        return robots[self.rng.integers(len(robots))] if robots else None

    def bone(self, robot: bpy.types.Object) -> str:
        names = robot.data.bones.keys()
        return names[self.rng.integers(len(names))]

    def number(self) -> float:
        return float(self.rng.normal()) if self.rng.random() < 0.5 else NUMBERS[self.rng.integers(len(NUMBERS))]

    def call(self, name: str, **options: object) -> None:
        """One of our operators, which may refuse in one line."""
        self.log[-1] += f": {name} {options}"
        try:
            getattr(bpy.ops.robokin, name)(**options)
        except RuntimeError as error:
            assert "Traceback" not in str(error), error

    def _activate(self, robot: bpy.types.Object) -> None:
        self._to_object_mode()
        for other in bpy.context.view_layer.objects:
            other.select_set(other == robot)
        bpy.context.view_layer.objects.active = robot

    def _to_object_mode(self) -> None:
        if bpy.context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
            self._push()

    def _push(self) -> None:
        bpy.ops.ed.undo_push(message=self.log[-1] if self.log else "begin")

    def _go_back_or_forth(self) -> None:
        way, steps = (bpy.ops.ed.undo, self.rng.integers(1, 4)) if self.rng.random() < 0.6 else (bpy.ops.ed.redo, 1)
        self.log.append(f"{way.idname_py()} {steps}")
        for _ in range(steps):
            if way.poll():
                way()
