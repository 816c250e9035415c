"""What a library override of a linked robot may change and keeps when the file is saved: values, and items of lists."""

from __future__ import annotations

VALUE = {"LIBRARY_OVERRIDABLE"}
LIST = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}
