"""What holds for every file: where packages of robot descriptions are."""

from __future__ import annotations

import bpy

# The add-on's own name: `bl_ext.<repository>.<id>`, or `robokin_addon` where it is used as a plain package.
ADDON = __package__.rpartition(".")[0]


class RobokinPreferences(bpy.types.AddonPreferences):
    """Edited under Edit > Preferences > Add-ons."""

    bl_idname = ADDON

    package_paths: bpy.props.StringProperty(
        name="Package Folders",
        description="Folders searched for package:// meshes, beside those around the file; separated by semicolons",
    )

    def draw(self, context: bpy.types.Context) -> None:
        self.layout.prop(self, "package_paths")


CLASSES = (RobokinPreferences,)


def package_paths() -> list[str]:
    """The folders of the preferences; none where the add-on has no preferences (used as a plain package)."""
    entry = bpy.context.preferences.addons.get(ADDON)
    return split_paths(entry.preferences.package_paths) if entry and entry.preferences else []


def split_paths(text: str) -> list[str]:
    """Folders separated by semicolons, a leading // meaning the folder of the .blend file."""
    return [bpy.path.abspath(part.strip()) for part in text.split(";") if part.strip()]
