"""What an object or a bone hangs on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def with_parents(owner: Any) -> Iterator[Any]:
    """An object or a bone, then its parent, and so on up to the root. Nothing for None."""
    while owner is not None:
        yield owner
        owner = owner.parent
