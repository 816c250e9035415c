"""Names of a package that are imported when they are first used, so that nobody waits for what is not."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def exports(
    package: str, names: Mapping[str, Sequence[str]], renamed: Mapping[str, str] | None = None
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The package's `__getattr__` and `__dir__` (PEP 562). names: what it exports, by the module of it that has them;
    none may be called as one of its modules, as that is what the name then stands for.   renamed: {name of the version
    before: present name}, with a DeprecationWarning."""
    module_of = {name: module for module, own in names.items() for name in own}

    def load(name: str) -> object:
        if renamed and name in renamed:
            warnings.warn(f"{package}.{name} is called {renamed[name]} now", DeprecationWarning, stacklevel=2)
            return getattr(sys.modules[package], renamed[name])
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f".{module_of[name]}", package), name)
        setattr(sys.modules[package], name, value)  # found without this from now on
        return value

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *module_of})

    return load, listed
