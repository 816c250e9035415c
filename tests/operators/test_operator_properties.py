"""What an operator was last called with steers no later call: Blender fills in last values where a call is silent."""

from __future__ import annotations

import bpy

# What a person may well want again: where files are.
KEPT = {"filepath", "package_paths", "filter_glob"}


def operators() -> list[bpy.types.Struct]:
    return [getattr(bpy.ops.robokin, name).get_rna_type() for name in dir(bpy.ops.robokin)]


def test_what_is_left_out_is_looked_for_anew(addon):
    """A text left empty or a number of -1 stands for what is selected, active or set in the robot."""
    remembered = [
        f"{operator.identifier}.{name}"
        for operator in operators()
        for name, item in operator.properties.items()
        if name not in KEPT
        and not item.is_skip_save
        and ((item.type == "STRING" and not item.default) or (item.type == "INT" and item.default == -1))
    ]
    assert len(operators()) > 40
    assert not remembered
