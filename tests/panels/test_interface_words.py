"""Words of the interface as Blender writes them: American, labels in title case, tooltips without a full stop."""

from __future__ import annotations

import inspect
import re

import bpy
import pytest
from robokin_addon import operators, panels, properties
from robokin_addon.panels.prepared.robot_panel import STATUS_ICONS
from robokin_addon.properties.results.result_text import STATUS_WORDS
from robokin_addon.solvers import Status

SMALL = set("a an and as at by for from in of on or per the to with".split())
UNITS = {"mm", "m", "m/s", "m/s²", "/s", "/s²", "1/s", "kg", "kg/m\u00b3"}
BRITISH = re.compile(
    r"\w*(centre|colour|metre|modelled|towards|grey|behaviour|neighbour|fibre|aluminium)\w*", re.IGNORECASE
)


def classes():
    found = set(properties.CLASSES)
    for package in (operators, panels):
        for module in package.MODULES:
            found |= {cls for _, cls in inspect.getmembers(module, inspect.isclass) if hasattr(cls, "bl_rna")}
    return [cls for cls in found if cls.__module__.startswith("robokin_addon")]


def texts(cls):
    """(where, label, tooltip) of a class and of its own properties."""
    if hasattr(cls, "bl_label"):
        yield cls.__name__, cls.bl_label, cls.__doc__ if issubclass(cls, bpy.types.Operator) else ""
    rna = cls.bl_rna
    if issubclass(cls, bpy.types.Operator):
        group, _, name = cls.bl_idname.partition(".")
        rna = getattr(getattr(bpy.ops, group), name).get_rna_type()
    bases = [*cls.__mro__[1:], bpy.types.Operator]  # a macro is shown as an operator, of which it is no subclass
    inherited = {item for base in bases if hasattr(base, "bl_rna") for item in base.bl_rna.properties.keys()}
    for name, item in rna.properties.items():
        is_group = item.type == "POINTER" and item.fixed_type.identifier.startswith("Robokin")
        if name not in inherited and not item.is_hidden and not is_group:
            yield f"{cls.__name__}.{name}", item.name, item.description
            for entry in item.enum_items if item.type == "ENUM" else ():
                yield f"{cls.__name__}.{name}={entry.identifier}", "", entry.description


def is_title(label):
    first, *rest = re.sub(r"\(.*?\)", "", label).split() or [""]
    words = [word for word in rest if word not in UNITS]
    inner = words[:-1] if words else []
    small = all(word.lower() not in SMALL or word.islower() for word in inner)
    return small and all(word in SMALL or not word[0].islower() for word in [first, *words] if word)


@pytest.mark.parametrize(
    ("label", "right"), [("Make Robot From Text", False), ("make Robot", False), ("Axes Of", True)]
)
def test_title_case_is_known(label, right):
    assert is_title(label) == right


def test_every_status_has_words():
    assert set(STATUS_WORDS) == set(Status)
    assert set(STATUS_ICONS) <= set(Status)


def test_words_are_blenders(addon):
    assert len(classes()) > 60
    for cls in classes():
        for where, label, tooltip in texts(cls):
            assert is_title(label), (where, label)
            assert "\n" not in (tooltip or ""), (where, tooltip)  # Blender breaks lines itself
            assert not re.search(r"[ms]2\b", tooltip or ""), (where, tooltip)
            assert not tooltip.rstrip().endswith("."), (where, tooltip)
            found = BRITISH.search(f"{label} {tooltip}")
            assert not found, (where, found.group(0))


def test_every_property_and_every_choice_has_a_tooltip(addon):
    assert [where for cls in classes() for where, _, tip in texts(cls) if "." in where and not tip] == []


def test_tooltips_say_more_than_the_label():
    """Not "Lower of the joint", nor "Revolute joint: 1 degrees of freedom"."""
    for cls in classes():
        for where, label, tip in texts(cls):
            rest = re.sub(
                r"\d+ degrees of freedom|\bof the joint\b|\bjoint\b|[\W\d]",
                "",
                (tip or "").lower().replace(label.lower(), ""),
            )
            assert not tip or rest, (where, tip)
            assert "1 degrees" not in (tip or ""), (where, tip)
