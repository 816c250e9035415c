"""Panels, drawn into a layout that writes down what it is given: what a person would read and press."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import bpy
from robokin_addon.panels import MODULES
from robokin_addon.properties.pages import PAGES

from support.blender.drawing import writes_refused

_ALL = [cls for module in MODULES for cls in module.CLASSES if issubclass(cls, bpy.types.Panel)]
PANELS = [cls for cls in _ALL if cls.bl_region_type != "HEADER"]  # without popovers
POPOVERS = [cls for cls in _ALL if cls not in PANELS]
PANELS.sort(key=lambda cls: hasattr(cls, "bl_parent_id"))  # parents first
LISTS = {cls.__name__: cls for module in MODULES for cls in module.CLASSES if issubclass(cls, bpy.types.UIList)}


class FakeLayout:
    """Takes everything a UILayout does; checks that what it is asked to draw exists."""

    def __init__(self, drawn=None, is_row=False, is_list=False):
        self.__dict__.update(parts=[], is_row=is_row, is_list=is_list)
        self.__dict__["drawn"] = (
            {
                "labels": [],
                "props": [],
                "operators": [],
                "texts": [],
                "bars": [],
                "given": {},
                "words": set(),
                "menus": {},
            }
            if drawn is None
            else drawn
        )

    @property
    def rows(self):
        """How many of the height of a button all that is inside takes."""
        heights = [part if isinstance(part, int) else part.rows for part in self.parts]
        return max(heights, default=0) if self.is_row else sum(heights)

    def _inside(self, is_row):
        self.parts.append(FakeLayout(self.drawn, is_row, self.is_list))
        return self.parts[-1]

    def column(self, **_):
        return self._inside(False)

    def row(self, **_):
        return self._inside(True)

    box, split, grid_flow = column, row, row

    def panel(self, name, default_closed=False):
        return self.row(), self.column()  # unfolded

    def separator(self, **_):
        pass

    def label(self, text="", icon="NONE"):
        assert icon in _icons()
        self.parts.append(1)
        self.drawn["labels"].append(text)
        self.drawn["words"].add(text)

    def prop(self, data, name, index=-1, text=None, icon="NONE", **_):
        assert name in data.bl_rna.properties, f"{data} has no {name}"
        assert icon in _icons()
        if self.is_list and data.bl_rna.properties[name].type == "BOOLEAN":
            assert icon != "NONE", f"Blender 4 shows no checkbox in a list: {name}"
        self.parts.append(1)
        self.drawn["props"].append((name, index) if index >= 0 else name)
        self.drawn["texts"].append(text)
        self._read(data.bl_rna.properties[name], text)

    def progress(self, factor=0.0, text=""):
        self.parts.append(1)
        self.drawn["bars"].append(factor)

    def _read(self, item, text=None):
        """What a person reads: a label, and where it may be opened the choices."""
        self.drawn["words"].add(item.name if text is None else text)
        if getattr(item, "type", "") == "ENUM":
            self.drawn["words"].update(entry.name for entry in item.enum_items)

    def prop_search(self, data, name, owner, collection, text=None, **_):
        assert name in data.bl_rna.properties and hasattr(owner, collection)
        self.parts.append(1)
        self.drawn["props"].append(name)
        self._read(data.bl_rna.properties[name], text)

    def template_list(self, list_type, _, data, name, active_data, active_name, rows=5, **__):
        self.parts.append(rows + 1)
        assert hasattr(bpy.types, list_type) and name in data.bl_rna.properties
        for i, item in enumerate(getattr(data, name)):
            layout = FakeLayout(self.drawn, is_list=True)
            LISTS[list_type].draw_item(None, bpy.context, layout, data, item, 0, active_data, active_name, i, 0)

    def operator(self, name, text=None, icon="NONE", **_):
        self.parts.append(1)
        self.drawn["texts"].append(text)
        assert icon in _icons()
        self.drawn["operators"].append(name)
        self._read(_operator(name), text)
        return Settable(_settings(name), self.drawn["given"].setdefault(name, {}))

    def prop_decorator(self, data, name, index=-1):
        assert name in data.bl_rna.properties

    def popover(self, panel, text=None, icon="NONE"):
        assert hasattr(bpy.types, panel) and icon in _icons()

    def menu(self, name, text=None, icon="NONE"):
        self.drawn["texts"].append(text)
        assert hasattr(bpy.types, name) and icon in _icons()
        self.drawn["menus"][text or getattr(bpy.types, name).bl_label] = name

    def prop_menu_enum(self, data, name, text=None, icon="NONE"):
        self.prop(data, name, text=text, icon=icon)

    def operator_menu_enum(self, name, prop, text=None, icon="NONE"):
        settings = self.operator(name, text, icon)
        self._read(_operator(name).properties[prop])
        setattr(settings, prop, None)
        return settings


class Settable:
    def __init__(self, names, given):
        self.__dict__.update(names=names, given=given)

    def __setattr__(self, name, value):
        assert name in self.names
        self.given[name] = value


@cache
def _icons():
    return frozenset(bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items.keys())


def _operator(name):
    """Blender's description. Raises KeyError where there is no such operator."""
    group, _, own = name.partition(".")
    return getattr(getattr(bpy.ops, group), own).get_rna_type()


@cache
def _settings(operator):
    """The names of an operator's properties."""
    return frozenset(p.identifier for p in _operator(operator).properties)


def draw(**override):
    """Everything drawn by all panels of all pages whose poll lets them, {label: drawn}; none of them may write."""
    found = {}
    for page, *_ in PAGES:
        bpy.context.window_manager.robokin_page = page
        found |= draw_page(**override)
    return found


def draw_popover(name, **override):
    """As `draw`, of one popover."""
    layout, cls = FakeLayout(), next(cls for cls in POPOVERS if cls.bl_idname == name)
    with bpy.context.temp_override(**override), writes_refused():
        cls.draw(SimpleNamespace(layout=layout), bpy.context)
    return layout.drawn


def draw_page(**override):
    """As `draw`, of the page that is shown."""
    with bpy.context.temp_override(**override):
        found = {}
        for cls in PANELS:
            above = getattr(cls, "bl_parent_id", None)
            if (not hasattr(cls, "poll") or cls.poll(bpy.context)) and (above is None or above in found):
                layout = FakeLayout()
                panel = SimpleNamespace(layout=layout)
                if hasattr(cls, "draw_robot"):
                    panel.draw_robot = lambda *args, cls=cls: cls.draw_robot(None, *args)
                with writes_refused():
                    cls.draw(panel, bpy.context)
                found[cls.bl_idname] = layout.drawn | {"rows": layout.rows}
    return found
