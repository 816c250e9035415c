"""The grammar of xacro's expressions: that part of Python's which robots use, read by a parser of bounded depth.

A tree is a tuple: ("constant", 1.5), ("name", "a"), ("binary", "+", a, b), ("unary", "-", a),
("and" | "or", a, b), ("compare", a, (("<", b), ...)), ("choice", then, condition, otherwise), ("entry", a, key),
("slice", a, (begin, end, step)), ("attribute", a, "name"), ("call", a, (arguments ...), (("name", a), ...)),
("list" | "tuple", (a, ...)), ("dictionary", ((key, value), ...)), ("each", value, (names ...), items, conditions).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NoReturn

from ...errors import ModelError

MAX_LENGTH = 8192  # characters of an expression
MAX_NESTED = 30  # brackets and the like inside each other
MAX_DEPTH = 120  # of a tree, with those of the properties that it names; half of what Python's own stack holds
_MAX_ARGUMENTS = 64

Tree = tuple[Any, ...]

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>(?:0[xX][0-9a-fA-F]{1,32}|(?:[0-9]{1,400}\.?[0-9]{0,400}|\.[0-9]{1,400})(?:[eE][-+]?[0-9]{1,5})?)(?![\w.]))
    |(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<name>[^\W\d]\w*)
    |(?P<sign>\*\*|//|<=|>=|==|!=|[-+*/%<>()\[\]{}.,:=])
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\([\\'\"nt])")
_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "t": "\t"}
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_WORDS = {"and", "else", "for", "if", "in", "is", "lambda", "not", "or"}
_CONSTANTS = {"True": True, "False": False, "None": None}
# How strongly operators bind, as in Python.
_CHOICE, _OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _SIGN, _POWER = range(1, 10)
_BINARY = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "//": _PRODUCT, "%": _PRODUCT}


def parse(text: str) -> Tree:
    """The tree of an expression. Raises ModelError."""
    if len(text) > MAX_LENGTH:
        raise ModelError(f"an expression of more than {MAX_LENGTH} characters")
    return _Parser(text).whole()


def _parts(items: Tree) -> Iterator[Tree]:
    """The trees in the items of a tree; a named argument counts as one."""
    for item in items:
        if isinstance(item, tuple):
            if item and isinstance(item[0], str):
                yield item
            else:
                yield from _parts(item)


class _Parser:
    """`kind`, `word`: the next token; both "" at the end."""

    def __init__(self, text: str) -> None:
        self.text = text.rstrip()
        self.at = 0
        self.depth = 0
        self.kind, self.word = "", ""
        self._next()

    def whole(self) -> Tree:
        tree = self._listed("") if self.word else self._refuse()
        if self.kind:
            self._refuse()
        level = [tree]
        for _ in range(MAX_DEPTH):
            level = [part for each in level for part in _parts(each[1:])]
        if level:
            raise ModelError(f"an expression is nested more than {MAX_DEPTH} deep")
        return tree

    def _refuse(self) -> NoReturn:
        where = f"at {self.word[:30]!r}" if self.kind else "at its end"
        raise ModelError(f"not an expression {where}")

    def _next(self) -> str:
        """The token that was next; goes on by one."""
        before = self.word
        if self.at >= len(self.text):
            self.kind, self.word = "", ""
            return before
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            raise ModelError(f"not an expression at {self.text[self.at : self.at + 30].strip()!r}")
        self.at = match.end()
        self.kind = str(match.lastgroup)
        self.word = match[self.kind]
        if self.kind == "name" and self.word in _WORDS:
            self.kind = "word"
        return before

    def _is(self, *words: str) -> bool:
        return self.kind in ("sign", "word") and self.word in words

    def _take(self, word: str) -> bool:
        """Whether this is the next token, which is then behind us."""
        if not self._is(word):
            return False
        self._next()
        return True

    def _need(self, word: str) -> None:
        if not self._take(word):
            self._refuse()

    def _expression(self, binding: int = _CHOICE) -> Tree:
        """All that binds at least as strongly."""
        self.depth += 1
        if self.depth > MAX_NESTED:
            raise ModelError(f"an expression is nested more than {MAX_NESTED} deep")
        tree = self._prefix(binding)
        while True:
            if self.kind == "sign" and self.word in _BINARY and _BINARY[self.word] >= binding:
                sign = self._next()
                tree = ("binary", sign, tree, self._expression(_BINARY[sign] + 1))
            elif binding <= _COMPARE and (self._is(*_COMPARISONS, "in", "is") or self._is("not")):
                tree = ("compare", tree, self._comparisons())
            elif binding <= _AND and self._take("and"):
                tree = ("and", tree, self._expression(_NOT))
            elif binding <= _OR and self._take("or"):
                tree = ("or", tree, self._expression(_AND))
            elif binding <= _CHOICE and self._take("if"):
                condition = self._expression(_OR)
                self._need("else")
                tree = ("choice", tree, condition, self._expression())
            else:
                self.depth -= 1
                return tree

    def _prefix(self, binding: int) -> Tree:
        if binding <= _NOT and self._take("not"):
            return ("unary", "not", self._expression(_NOT))
        if binding <= _POWER and self._is("-", "+"):
            sign = self._next()
            return ("unary", sign, self._expression(_SIGN))
        tree = self._postfix(self._atom())
        if self._take("**"):
            return ("binary", "**", tree, self._expression(_SIGN))
        return tree

    def _comparisons(self) -> Tree:
        found = []
        while self._is(*_COMPARISONS, "in", "is", "not"):
            sign = self._next()
            if sign == "not":
                self._need("in")
                sign = "not in"
            elif sign == "is" and self._take("not"):
                sign = "is not"
            found.append((sign, self._expression(_SUM)))
        return tuple(found)

    def _atom(self) -> Tree:
        kind, word = self.kind, self.word
        if kind == "number":
            self._next()
            whole = int(word, 0) if word[:2] in ("0x", "0X") else int(word) if word.isdecimal() else None
            return ("constant", float(word) if whole is None else whole)
        if kind == "text":
            self._next()
            return ("constant", _ESCAPE.sub(lambda found: _ESCAPES[found[1]], word[1:-1]))
        if kind == "name":
            self._next()
            return ("constant", _CONSTANTS[word]) if word in _CONSTANTS else ("name", word)
        if self._take("("):
            tree: Tree = ("tuple", ()) if self._is(")") else self._listed(")", True)
            self._need(")")
            return tree
        if self._take("["):
            if self._is("]"):
                tree = ("list", ())
            else:
                first = self._expression()
                tree = self._each(first) if self._is("for") else ("list", (first, *self._rest("]")))
            self._need("]")
            return tree
        if self._take("{"):
            tree = ("dictionary", tuple(self._pairs()))
            self._need("}")
            return tree
        self._refuse()

    def _listed(self, end: str, generated: bool = False) -> Tree:
        """One expression, or several with commas: a tuple."""
        first = self._expression()
        if generated and self._is("for"):
            return self._each(first)
        return ("tuple", (first, *self._rest(end))) if self._is(",") else first

    def _rest(self, end: str) -> list[Tree]:
        found = []
        while self._take(","):
            if self._is(end) or not self.kind:
                break
            found.append(self._expression())
        return found

    def _pairs(self) -> list[tuple[Tree, Tree]]:
        found = []
        while not self._is("}"):
            key = self._expression()
            self._need(":")
            found.append((key, self._expression()))
            if not self._take(","):
                break
        return found

    def _each(self, value: Tree) -> Tree:
        """`value for a, b in items if condition`."""
        self._need("for")
        names = [self._name()]
        while self._take(","):
            names.append(self._name())
        self._need("in")
        items, conditions = self._expression(_OR), []
        while self._take("if"):
            conditions.append(self._expression(_OR))
        return ("each", value, tuple(names), items, tuple(conditions))

    def _name(self) -> str:
        if self.kind != "name" or self.word in _CONSTANTS:
            self._refuse()
        return self._next()

    def _postfix(self, tree: Tree) -> Tree:
        while True:
            if self._take("."):
                tree = ("attribute", tree, self._name())
            elif self._take("("):
                tree = self._arguments(tree)
            elif self._take("["):
                tree = self._key(tree)
                self._need("]")
            else:
                return tree

    def _arguments(self, function: Tree) -> Tree:
        given: list[Tree] = []
        named: list[tuple[str, Tree]] = []
        while not self._is(")"):
            value = self._expression()
            if value[0] == "name" and self._take("="):
                named.append((value[1], self._expression()))
            elif named:
                self._refuse()
            else:
                given.append(self._each(value) if self._is("for") else value)
            if len(given) + len(named) > _MAX_ARGUMENTS:
                raise ModelError(f"a function with more than {_MAX_ARGUMENTS} arguments")
            if not self._take(","):
                break
        self._need(")")
        return ("call", function, tuple(given), tuple(named))

    def _key(self, tree: Tree) -> Tree:
        parts: list[Tree | None] = [None]
        if not self._is(":"):
            parts[0] = self._expression()
            if not self._is(":"):
                return ("entry", tree, parts[0])
        while self._take(":") and len(parts) < 3:
            parts.append(None if self._is(":", "]") else self._expression())
        return ("slice", tree, tuple(parts))
