"""The kinds of tasks as Blender's users meet them: names, what each needs of the scene, and the solver's task.

To add a kind: its entry in the file of its family; menus, panels and the bake follow it.
"""

from collections.abc import Iterator

from .context import Reading, TaskContext, tip_axis, tip_offset
from .joints import KINDS as JOINTS
from .kind import LENGTH, TaskKind
from .mass import KINDS as MASS
from .places import KINDS as PLACES
from .poses import KINDS as POSES
from .relative import KINDS as RELATIVE
from .velocities import KINDS as VELOCITIES

# Headings of the menu, and the kinds below each.
GROUPS: dict[str, dict[str, TaskKind]] = {
    "Tip at a Target": POSES,
    "Tip on a Shape": PLACES,
    "Between Bones": RELATIVE,
    "Whole Robot": {**MASS, **JOINTS},
    "Speeds, in a Bake": VELOCITIES,
}
KINDS: dict[str, TaskKind] = {name: kind for kinds in GROUPS.values() for name, kind in kinds.items()}


def _items() -> Iterator[tuple]:
    """Items of a menu in columns: an item without a name is a heading."""
    for heading, kinds in GROUPS.items():
        yield "", heading, ""
        for name, kind in kinds.items():
            yield name, kind.label, kind.description, kind.icon, kind.number


ITEMS = tuple(_items())

__all__ = ["ITEMS", "KINDS", "LENGTH", "Reading", "TaskContext", "TaskKind", "tip_axis", "tip_offset"]
