"""The kinds of tasks as Blender's users meet them: names, what each needs of the scene, and the solver's task.

To add a kind: its entry in the file of its family; menus, panels and the bake follow it.
"""

from .context import Reading, TaskContext, tip_axis
from .joints import KINDS as JOINTS
from .kind import LENGTH, TaskKind
from .mass import KINDS as MASS
from .places import KINDS as PLACES
from .poses import KINDS as POSES
from .relative import KINDS as RELATIVE
from .velocities import KINDS as VELOCITIES

KINDS: dict[str, TaskKind] = {**POSES, **PLACES, **RELATIVE, **MASS, **JOINTS, **VELOCITIES}
ITEMS = tuple((name, kind.label, kind.description, kind.icon, kind.number) for name, kind in KINDS.items())

__all__ = ["ITEMS", "KINDS", "LENGTH", "Reading", "TaskContext", "TaskKind", "tip_axis"]
