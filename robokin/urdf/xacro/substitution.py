"""Texts of a xacro file: `${expression}`, `$(arg NAME)`, `$(find PACKAGE)`, and the properties that they name."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Mapping
from functools import partial

from ...errors import ModelError
from ...files.resources import ResourceFinder
from ...files.text_file import read_bytes
from .expression import Evaluator
from .functions import FUNCTIONS, Function, Library
from .scope import Scope
from .values import MAX_TEXT, Budget, literal, text_of
from .yaml import parse_yaml

logger = logging.getLogger(__name__)

_PIECE = re.compile(
    r"\$(?P<escaped>\$+[{(])|\$\{(?P<expression>[^}]*)\}|\$\((?P<command>[^)]*)\)|(?P<plain>[^$]+|\$(?![{(]))"
)
_LAZY_DEPTH = 3  # how much deeper a property makes an expression that names it: its evaluation takes more of the stack
_MAX_MESSAGES = 20
_YAML = (".yaml", ".yml", ".json")


class Substitution:
    """Evaluates the texts of one robot. `files`: those that are being read, the innermost last.

    `args`: values by name. `args_used`: names of those that a text asked for.
    """

    def __init__(self, path: str, finder: ResourceFinder, args: Mapping[str, str]) -> None:
        self.finder = finder
        self.files = [path]
        self.args = dict(args)
        self.args_used: set[str] = set()
        self.budget = Budget()
        self._evaluator = Evaluator(self.budget)
        self._resolving: list[tuple[Scope, str]] = []
        self._yaml: dict[str, object] = {}
        self._messages = 0
        known = {
            "abs_filename": self._absolute,
            "arg": self.argument,
            "dotify": lambda value: value,
            "error": self._message,
            "fatal": _fatal,
            "load_yaml": self._load_yaml,
            "message": self._message,
            "tokenize": _tokenize,
            "warning": self._message,
        }
        functions = {name: Function(name, call) for name, call in known.items()}
        direct = {name: functions[name] for name in ("abs_filename", "dotify", "load_yaml")}
        self._known = {**FUNCTIONS, **direct, "xacro": Library("xacro", functions)}

    def text(self, text: str, scope: Scope) -> str:
        """`text` with everything in it replaced. Raises ModelError."""
        return text_of(self.value(text, scope))

    def value(self, text: str, scope: Scope) -> object:
        """The text with its expressions replaced; a text that is one expression alone is its value: a number, a list
        ..."""
        self.budget.spend(1 + len(text) // 64)
        if "$" not in text:
            return text
        if len(text) > MAX_TEXT:
            raise ModelError(f"a text of more than {MAX_TEXT} characters")
        pieces = list(self._pieces(text, scope))
        if len(pieces) == 1:
            return pieces[0]
        whole = "".join(map(text_of, pieces))
        self.budget.spend(len(whole) // 64)
        if len(whole) > MAX_TEXT:
            raise ModelError(f"a text of more than {MAX_TEXT} characters")
        return whole

    def _pieces(self, text: str, scope: Scope) -> Iterator[object]:
        at = 0
        while at < len(text):
            match = _PIECE.match(text, at)
            if match is None:
                raise ModelError(f"{text[at : at + 60]!r} is not closed")
            at = match.end()
            if (inside := match["expression"]) is not None:
                try:
                    yield self._evaluator.evaluate(self.text(inside, scope), partial(self.lookup, scope))
                except ModelError as fault:
                    raise ModelError(f"in ${{{inside[:100]}}}: {fault}") from None
            elif (inside := match["command"]) is not None:
                yield self._command(self.text(inside, scope))
            else:
                yield match["escaped"] or match["plain"]

    def lookup(self, scope: Scope, name: str) -> object:
        """The value of a property, or what is known everywhere. Raises ModelError."""
        self.budget.spend(1 + scope.level // 16)
        holder = scope.holder(name)
        if holder is None:
            if name not in self._known:
                raise ModelError(f"name {name!r} is not defined")
            return self._known[name]
        if name in holder.lazy:
            self._resolve(holder, name)
        return holder.values[name]

    def _resolve(self, holder: Scope, name: str) -> None:
        if (holder, name) in self._resolving:
            circle = " -> ".join(each for _, each in self._resolving)
            raise ModelError(f"properties need each other: {circle} -> {name}")
        self._resolving.append((holder, name))
        self._evaluator.depth += _LAZY_DEPTH
        try:
            holder.set(name, literal(self.value(str(holder.values[name]), holder)))
        finally:
            self._evaluator.depth -= _LAZY_DEPTH
            self._resolving.pop()

    def argument(self, name: str) -> str:
        """The value of `<xacro:arg name=...>`. Raises ModelError."""
        self.args_used.add(name)
        if name not in self.args:
            raise ModelError(f"argument {name!r} has no value")
        return self.args[name]

    def _command(self, text: str) -> str:
        command, *words = text.split() or [""]
        if command == "arg" and len(words) == 1:
            return self.argument(words[0])
        if command == "find" and len(words) == 1:
            folder = self.finder.package_folder(words[0])
            if folder is None:
                hint = "name its folder among the Package Folders, or with --package-path"
                raise ModelError(f"package {words[0]!r} of $({text}) not found ({hint})")
            return folder.as_posix()
        # The environment is the user's own: a robot learns of it what the user gives as an argument.
        if command == "optenv" and words:
            self.args_used.add(words[0])
            return self.args.get(words[0], " ".join(words[1:]))
        if command == "env" and len(words) == 1:
            return self.argument(words[0])
        raise ModelError(f"$({text[:60]}) is not supported (valid: arg, find, env, optenv)")

    def _absolute(self, name: str) -> str:
        """The path of a file whose name is relative to the file that is being read."""
        if not isinstance(name, str):
            raise ModelError(f"{name!r} is not the path of a file")
        plain = name.replace("\\", "/")
        if "://" in plain:
            raise ModelError(f"{name[:200]!r} is not the path of a file ($(find PACKAGE) names a package's folder)")
        folder = os.path.dirname(os.path.abspath(self.files[-1]))
        return plain if plain.startswith("//") else os.path.join(folder, plain)

    def part(self, name: str, endings: tuple[str, ...]) -> str:
        """Path of a file that the robot is made of; "" when it is not there. Raises ModelError for what may not be."""
        return self.finder.part(self._absolute(name), endings)

    def _load_yaml(self, name: str) -> object:
        path = self.part(name, _YAML)
        if not path:
            raise ModelError(f"cannot read {name[:200]!r}: no such file")
        if path not in self._yaml:
            data = read_bytes(path, "a YAML file")
            self.budget.spend(len(data) // 8)
            self._yaml[path] = parse_yaml(data, path, self._evaluator)
        return self._yaml[path]

    def _message(self, *parts: object, **options: object) -> str:
        self._messages += 1
        if self._messages <= _MAX_MESSAGES:
            logger.warning("%s: %s", self.files[-1], _joined(parts))
        return ""


def _joined(parts: tuple[object, ...]) -> str:
    return " ".join(" ".join(text_of(part) for part in parts).split())[:300]


def _fatal(*parts: object) -> str:
    raise ModelError(_joined(parts))


def _tokenize(text: str, sep: str = ",; ", skip_empty: bool = True) -> list[str]:
    words = re.split(f"[{re.escape(sep)}]", text)
    return [word for word in words if word or not skip_empty]
