"""What stands in `${...}` of a xacro file, evaluated.

Nothing of Python is reached from an expression. A name is a property of the file or one of `functions.FUNCTIONS`; what
follows a dot is a key of a dictionary or one of `functions.METHODS`. Values, depth and the number of steps are bounded.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ...errors import ModelError, RobokinError
from .functions import METHODS, Function, Library, formatted, gathered
from .grammar import MAX_DEPTH, Tree, parse
from .values import CONTAINERS, MAX_TEXT, Budget, weight

_MAX_BITS = 400  # of a power of integers

Lookup = Callable[[str], object]

_BINARY: dict[str, Callable] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
}
_UNARY: dict[str, Callable] = {"+": operator.pos, "-": operator.neg, "not": operator.not_}
_COMPARISONS: dict[str, Callable] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
}
_FAULTS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class Evaluator:
    """Evaluates the expressions of one file. `depth`: levels that are being evaluated now."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.depth = 0
        self._trees: dict[str, Tree] = {}

    def evaluate(self, text: str, lookup: Lookup) -> object:
        """The value of an expression, whose names `lookup` knows. Raises ModelError."""
        before = self.depth
        if text not in self._trees:
            self.budget.spend(20 + len(text))
            self._trees[text] = parse(text)
        try:
            return self._made(self._value(self._trees[text], lookup))
        except RobokinError:
            raise
        except _FAULTS as fault:
            what = "no entry" if isinstance(fault, KeyError) else ""
            raise ModelError(" ".join(f"{what} {fault}".split())[:200] or type(fault).__name__) from None
        finally:
            self.depth = before

    def _value(self, tree: Tree, lookup: Lookup) -> Any:
        self.budget.spend()
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ModelError(f"expressions, and properties named in them, are nested more than {MAX_DEPTH} deep")
        value = _KINDS[tree[0]](self, lookup, *tree[1:])
        self.depth -= 1
        return value

    def _made(self, value: object) -> object:
        """A new value, checked; large ones cost more."""
        self.budget.spend(weight(value))
        return value

    def _constant(self, lookup: Lookup, value: object) -> object:
        return self._made(value)

    def _name(self, lookup: Lookup, name: str) -> object:
        return lookup(name)

    def _binary(self, lookup: Lookup, sign: str, left: Tree, right: Tree) -> object:
        compute = _BINARY[sign]
        a, b = self._value(left, lookup), self._value(right, lookup)
        if sign == "%" and isinstance(a, str):
            compute = formatted
        elif sign == "*":
            _check_repetition(a, b)
            _check_repetition(b, a)
        elif sign == "**" and isinstance(a, int) and isinstance(b, int):
            if a.bit_length() * abs(b) > _MAX_BITS and abs(a) > 1:
                raise ModelError("a power with a number above 1e100")
        return self._made(compute(a, b))

    def _unary(self, lookup: Lookup, sign: str, operand: Tree) -> object:
        return _UNARY[sign](self._value(operand, lookup))

    def _and(self, lookup: Lookup, left: Tree, right: Tree) -> object:
        return self._value(left, lookup) and self._value(right, lookup)

    def _or(self, lookup: Lookup, left: Tree, right: Tree) -> object:
        return self._value(left, lookup) or self._value(right, lookup)

    def _compare(self, lookup: Lookup, first: Tree, others: tuple[tuple[str, Tree], ...]) -> object:
        left = self._value(first, lookup)
        for sign, tree in others:
            right = self._value(tree, lookup)
            if not isinstance(right, dict) or isinstance(left, dict):
                self.budget.spend(weight(left) + weight(right))
            if not _COMPARISONS[sign](left, right):
                return False
            left = right
        return True

    def _choice(self, lookup: Lookup, then: Tree, condition: Tree, otherwise: Tree) -> object:
        return self._value(then if self._value(condition, lookup) else otherwise, lookup)

    def _entry(self, lookup: Lookup, tree: Tree, key: Tree) -> object:
        value = self._value(tree, lookup)
        if not isinstance(value, (str, *CONTAINERS)):
            raise ModelError(f"{_kind(value)} has no entries")
        return value[self._value(key, lookup)]

    def _slice(self, lookup: Lookup, tree: Tree, ends: tuple[Tree | None, ...]) -> object:
        value = self._value(tree, lookup)
        if not isinstance(value, (str, list, tuple)):
            raise ModelError(f"{_kind(value)} has no slices")
        found: list[Any] = [end and self._value(end, lookup) for end in ends]
        return self._made(value[slice(*found)])

    def _list(self, lookup: Lookup, parts: tuple[Tree, ...]) -> object:
        return self._made([self._value(part, lookup) for part in parts])

    def _tuple(self, lookup: Lookup, parts: tuple[Tree, ...]) -> object:
        return self._made(tuple(self._value(part, lookup) for part in parts))

    def _dictionary(self, lookup: Lookup, pairs: tuple[tuple[Tree, Tree], ...]) -> object:
        return self._made({self._value(key, lookup): self._value(value, lookup) for key, value in pairs})

    def _each(self, lookup: Lookup, *parts: Any) -> object:
        return self._made(gathered(self._generated(lookup, *parts)))

    def _generated(
        self, lookup: Lookup, value: Tree, names: tuple[str, ...], items: Tree, conditions: tuple[Tree, ...]
    ) -> Iterator[object]:
        for item in self._value(items, lookup):
            found = {names[0]: item} if len(names) == 1 else dict(zip(names, item, strict=True))
            inner = partial(_or_else, found, lookup)
            if all(self._value(condition, inner) for condition in conditions):
                yield self._value(value, inner)

    def _attribute(self, lookup: Lookup, tree: Tree, name: str) -> object:
        value = self._value(tree, lookup)
        if isinstance(value, Library):
            if name not in value.members:
                raise ModelError(f"{value} has no {name!r}")
            return value.members[name]
        known = METHODS.get(type(value), {})
        if name in known:
            own = known[name]
            return Function(name, getattr(value, name) if own is None else partial(own, value))
        if isinstance(value, dict) and name in value:
            return value[name]
        raise ModelError(f"{_kind(value)} has no {name!r}")

    def _call(self, lookup: Lookup, tree: Tree, given: tuple[Tree, ...], named: tuple[tuple[str, Tree], ...]) -> object:
        function = self._value(tree, lookup)
        if not isinstance(function, Function):
            raise ModelError(f"{_kind(function)} is no function")
        values = [self._value(part, lookup) for part in given]
        by_name = {name: self._value(part, lookup) for name, part in named}
        self.budget.spend(sum(weight(value) for value in values if isinstance(value, (str, *CONTAINERS))))
        return self._made(function.call(*values, **by_name))


_KINDS: dict[str, Callable] = {
    "and": Evaluator._and,
    "attribute": Evaluator._attribute,
    "binary": Evaluator._binary,
    "call": Evaluator._call,
    "choice": Evaluator._choice,
    "compare": Evaluator._compare,
    "constant": Evaluator._constant,
    "dictionary": Evaluator._dictionary,
    "each": Evaluator._each,
    "entry": Evaluator._entry,
    "list": Evaluator._list,
    "name": Evaluator._name,
    "or": Evaluator._or,
    "slice": Evaluator._slice,
    "tuple": Evaluator._tuple,
    "unary": Evaluator._unary,
}


def _check_repetition(many: object, times: object) -> None:
    if isinstance(many, (str, list, tuple)) and isinstance(times, int) and len(many) * times > MAX_TEXT:
        raise ModelError(f"a text or list of more than {MAX_TEXT} parts")


def _or_else(first: dict[str, object], lookup: Lookup, name: str) -> object:
    return first[name] if name in first else lookup(name)


def _kind(value: object) -> str:
    names: dict[type, str] = {str: "a text", list: "a list", tuple: "a list", dict: "the dictionary"}
    return names.get(type(value), f"{value}")
