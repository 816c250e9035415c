"""A xacro document turned into elements of URDF: macros, conditions, includes, blocks.

What a macro calls is put on a stack of our own, which is bounded; Python's is not needed for it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Any

from ...errors import ModelError
from ...files.text_file import read_bytes
from ..xml import MAX_DEPTH, MAX_ELEMENTS, Element, parse_xml
from .functions import Library
from .macro import Macro, Parameter, parse_parameters
from .scope import Scope, checked_name
from .substitution import Substitution
from .values import literal, truth

MAX_CALLS = 1000  # macros, conditions and elements inside each other
PREFIX = "xacro:"
_CALL, _INCLUDE = 10, 100  # steps
_ENDINGS = (".xacro", ".urdf", ".xml", ".gazebo", ".trans", ".transmission", ".inc")
# Not of URDF itself: the reader skips them, so they are not expanded.
SKIPPED = ("gazebo", "transmission", "ros2_control")

Steps = Generator[Any, None, None]


class _Namespace(Library):
    """The names of a file that is included with ns=..."""

    def __init__(self, name: str, scope: Scope, macros: Scope, texts: Substitution) -> None:
        super().__init__(name, _Members(scope, texts))  # type: ignore[arg-type]
        self.scope = scope
        self.macros = macros


class _Members:
    def __init__(self, scope: Scope, texts: Substitution) -> None:
        self._scope = scope
        self._texts = texts

    def __contains__(self, name: str) -> bool:
        return self._scope.holder(name) is not None

    def __getitem__(self, name: str) -> object:
        return self._texts.lookup(self._scope, name)


class _Place:
    """Where elements are made: the names that are seen, the element above, and how deep it is."""

    def __init__(self, scope: Scope, macros: Scope, out: Element, depth: int) -> None:
        self.scope, self.macros, self.out, self.depth = scope, macros, out, depth

    def inside(self, out: Element) -> _Place:
        return _Place(self.scope, self.macros, out, self.depth + 1)


class Expansion:
    """`at`: the element that is being expanded, for messages."""

    def __init__(self, texts: Substitution) -> None:
        self.texts = texts
        self._parsed: dict[str, Element] = {}
        self._made = 0
        self.at = self._document(texts.files[0])

    def robot(self) -> Element:
        """The document with everything expanded. Raises RobokinError."""
        root = self.at
        out = Element(root.tag, {}, root.path, root.line)
        scope = Scope()
        self._run(self._children(root, _Place(scope, Scope(), out, 1)))
        # The robot's name may be an argument, whose default stands inside.
        self.at = root
        out.attributes = {**self._attributes(root, scope), **out.attributes}
        return out

    def _document(self, path: str) -> Element:
        if path not in self._parsed:
            data = read_bytes(path, "a xacro file")
            self.texts.budget.spend(len(data) // 64)
            self._parsed[path] = parse_xml(data, path, contents=True)
        return self._parsed[path]

    def _run(self, first: Steps) -> None:
        stack = [first]
        while stack:
            step = next(stack[-1], None)
            if step is None:
                stack.pop()
                continue
            stack.append(step)
            if len(stack) > MAX_CALLS:
                raise ModelError(f"macros are nested more than {MAX_CALLS} deep: endless recursion?")

    def _children(self, node: Element, place: _Place) -> Steps:
        yield from self._expand(node.children, place)
        # URDF has no text, but some files report their errors from one.
        if "${xacro." in node.content:
            self.at = node
            self.texts.text(node.content, place.scope)

    def _expand(self, nodes: Iterable[Element], place: _Place) -> Steps:
        for node in nodes:
            self.at = node
            self.texts.budget.spend()
            if node.tag in SKIPPED:
                continue
            if not node.tag.startswith(PREFIX):
                yield self._element(node, node.tag, place)
                continue
            kind = node.tag.removeprefix(PREFIX)
            if kind in _SIMPLE:
                _SIMPLE[kind](self, node, place)
            else:
                yield _NESTED.get(kind, Expansion._call)(self, node, place)

    def _new(self, tag: str, attributes: dict[str, str], node: Element) -> Element:
        self._made += 1
        if self._made > MAX_ELEMENTS:
            raise ModelError(f"more than {MAX_ELEMENTS} elements are made: does a macro call itself, or double itself?")
        return Element(tag, attributes, node.path, node.line)

    def _attributes(self, node: Element, scope: Scope) -> dict[str, str]:
        own = {k: v for k, v in node.attributes.items() if not k.startswith(("xmlns", PREFIX))}
        return {name: self.texts.text(text, scope) for name, text in own.items()}

    def _element(self, node: Element, tag: str, place: _Place) -> Steps:
        made = self._new(tag, self._attributes(node, place.scope), node)
        if place.depth >= MAX_DEPTH:
            raise ModelError(f"elements are nested more than {MAX_DEPTH} deep")
        place.out.children.append(made)
        yield self._children(node, place.inside(made))

    def _named_element(self, node: Element, place: _Place) -> Steps:
        yield self._element(node, self.texts.text(node.text("xacro:name"), place.scope), place)

    def _set_attribute(self, node: Element, place: _Place) -> None:
        name = self.texts.text(node.text("name"), place.scope)
        place.out.attributes[name] = self.texts.text(node.attributes.get("value", ""), place.scope)

    def _argument(self, node: Element, place: _Place) -> None:
        name = node.text("name")
        self.texts.args_used.add(name)
        if name not in self.texts.args:
            self.texts.args[name] = self.texts.text(_needed(node, "default"), place.scope)

    def _property(self, node: Element, place: _Place) -> None:
        given, scope = node.attributes, place.scope
        name = checked_name(self.texts.text(node.text("name"), scope))
        if truth(self.texts.value(given.get("remove", "false"), scope)):
            scope.remove(name)
            return
        if "value" not in given and "default" not in given:
            scope.set("**" + name, node)
            return
        value = given.get("value")
        if value is None:
            if scope.holder(name) is not None:
                return
            value = given["default"]
        target, where = scope, given.get("scope", "")
        if where == "global":
            target = scope.top()
        elif where == "parent":
            target = scope.parent() or scope
        lazy = not where and truth(self.texts.value(given.get("lazy_eval", "true"), scope))
        found = literal(value if lazy else self.texts.value(value, scope))
        target.set(name, found, lazy and isinstance(found, str))

    def _define(self, node: Element, place: _Place) -> None:
        name = node.text("name").removeprefix(PREFIX)
        if "." in name or name == "call":
            raise ModelError(f"{name[:60]!r} cannot be the name of a macro")
        place.macros.set(name, Macro(name, parse_parameters(node.attributes.get("params", "")), node))

    def _condition(self, node: Element, place: _Place) -> Steps:
        holds = truth(self.texts.value(_needed(node, "value"), place.scope))
        if holds == (node.tag == "xacro:if"):
            yield self._children(node, place)

    def _include(self, node: Element, place: _Place) -> Steps:
        name = self.texts.text(node.text("filename"), place.scope)
        space = self.texts.text(node.attributes.get("ns", ""), place.scope)
        optional = truth(self.texts.value(node.attributes.get("optional", "false"), place.scope))
        self.texts.budget.spend(_INCLUDE)
        path = self.texts.part(name, _ENDINGS)
        if not path:
            if not optional:
                raise ModelError(f"cannot read {name[:200]!r}: no such file")
            return
        if space:
            scope, macros = Scope(place.scope, namespace=True), Scope()
            place.scope.set(checked_name(space), _Namespace(space, scope, macros, self.texts))
            place.macros.set(space, macros)
            place = _Place(scope, macros, place.out, place.depth)
        self.texts.files.append(path)
        yield self._children(self._document(path), place)
        self.texts.files.pop()

    def _insert(self, node: Element, place: _Place) -> Steps:
        name = self.texts.text(node.text("name"), place.scope)
        for key in ("**" + name, "*" + name):
            holder = place.scope.holder(key)
            if holder is not None:
                block: Any = holder.values[key]
                yield self._expand(block.children if key.startswith("**") else [block], place)
                return
        raise ModelError(f"there is no block {name[:60]!r}")

    def _call(self, node: Element, place: _Place) -> Steps:
        given = dict(node.attributes)
        name = node.tag.removeprefix(PREFIX)
        if name == "call":
            name = self.texts.text(node.text("macro"), place.scope)
            del given["macro"]
        self.texts.budget.spend(_CALL)
        macro, scope, macros = self._macro(name, place)
        inner = _Place(Scope(scope), Scope(macros), place.out, place.depth)
        rest = {parameter.name: parameter for parameter in macro.parameters}
        for key, text in given.items():
            if rest.pop(key, None) is None:
                valid = ", ".join(parameter.name for parameter in macro.parameters)
                raise ModelError(f"macro {name[:60]!r} has no parameter {key[:60]!r} (valid: {valid or 'none'})")
            inner.scope.set(key, literal(self.texts.value(text, place.scope)))
        holder = self._new(node.tag, {}, node)
        yield self._children(node, _Place(place.scope, place.macros, holder, 1))
        self.at = node
        self._give_blocks(macro, rest, holder.children, inner.scope)
        for parameter in list(rest.values()):
            if parameter.optional:
                inner.scope.set(parameter.name, literal(self._default(parameter, place.scope)))
                del rest[parameter.name]
        if rest:
            raise ModelError(f"macro {name[:60]!r} needs {', '.join(rest)}")
        yield self._children(macro.body, inner)

    def _macro(self, name: str, place: _Place) -> tuple[Macro, Scope, Scope]:
        """The macro, and what it sees besides its parameters."""
        *spaces, last = [name] if place.macros.holder(name) else name.split(".")
        scope, macros = place.scope, place.macros
        for space in spaces:
            holder = scope.holder(space)
            within = holder.values[space] if holder is not None else None
            if not isinstance(within, _Namespace):
                raise ModelError(f"unknown macro name: {PREFIX}{name[:60]}")
            scope, macros = within.scope, within.macros
        found = macros.holder(last)
        macro = found.values[last] if found is not None else None
        if not isinstance(macro, Macro):
            raise ModelError(f"unknown macro name: {PREFIX}{name[:60]}")
        return macro, scope, macros

    def _give_blocks(self, macro: Macro, rest: dict[str, Parameter], blocks: list[Element], scope: Scope) -> None:
        wanted = [name for name, parameter in rest.items() if parameter.is_block]
        if len(blocks) != len(wanted):
            raise ModelError(f"macro {macro.name!r} takes {len(wanted)} blocks inside, not {len(blocks)}")
        for name, block in zip(wanted, blocks, strict=True):
            scope.set(name, block)
            del rest[name]

    def _default(self, parameter: Parameter, scope: Scope) -> object:
        if parameter.from_caller and scope.holder(parameter.name) is not None:
            return self.texts.lookup(scope, parameter.name)
        if parameter.default is None:
            raise ModelError(f"the property {parameter.name!r}, which the macro takes from its caller, is not defined")
        return self.texts.value(parameter.default, scope)


def _needed(node: Element, name: str) -> str:
    if name not in node.attributes:
        raise ModelError(f"{node} has no {name!r}")
    return node.attributes[name]


# Those that make nothing below them, and those that do. Everything else after `xacro:` is the name of a macro.
_SIMPLE: dict[str, Callable[[Expansion, Element, _Place], None]] = {
    "arg": Expansion._argument,
    "attribute": Expansion._set_attribute,
    "macro": Expansion._define,
    "property": Expansion._property,
}
_NESTED: dict[str, Callable[[Expansion, Element, _Place], Steps]] = {
    "element": Expansion._named_element,
    "if": Expansion._condition,
    "include": Expansion._include,
    "insert_block": Expansion._insert,
    "unless": Expansion._condition,
}
