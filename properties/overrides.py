"""What a library override of a linked robot may change and keeps when the file is saved: values, and items of lists.
What animation may change."""

from __future__ import annotations

VALUE = {"LIBRARY_OVERRIDABLE"}
LIST = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}
STATIC: set = set()  # options of what is read once, not at every frame: it cannot be keyed
