"""Names of a package that are imported when they are first used, so that nobody waits for what is not."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from modulefinder import ModuleFinder
from types import CodeType


def exports(
    package: str, renamed: Mapping[str, str] | None = None
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """The package's `__getattr__`, `__dir__` (PEP 562) and `__all__`. The names are those that it imports for type
    checkers, read from its compiled code, so that each stands there once, and a copy without sources has them. None may
    be called as one of its modules, since that is what the name then stands for.   renamed: {name of the version
    before: present name}, with a DeprecationWarning."""
    module_of = _imports(package, sys._getframe(1).f_code)

    def load(name: str) -> object:
        if renamed and name in renamed:
            warnings.warn(f"{package}.{name} is called {renamed[name]} now", DeprecationWarning, stacklevel=2)
            return getattr(sys.modules[package], renamed[name])
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module_of[name], package), name)
        setattr(sys.modules[package], name, value)  # found without this from now on
        return value

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *module_of})

    return load, listed, sorted(module_of)


def _imports(package: str, code: CodeType) -> dict[str, str]:
    """{name: the module, relative to the package, that it is imported from}; of `*` all that a module exports."""
    found: dict[str, str] = {}
    for kind, said in ModuleFinder().scan_opcodes(code):
        if kind == "relative_import" and exports.__name__ not in said[1]:
            module = "." * said[0] + said[2]
            for name in said[1]:
                found |= dict.fromkeys(import_module(module, package).__all__ if name == "*" else [name], module)
    return found
