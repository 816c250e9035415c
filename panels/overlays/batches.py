"""Batches of coloured points, as the graphics card takes them."""

from __future__ import annotations

from functools import cache

import gpu

from ...robokin.arrays import Array


@cache
def _format() -> gpu.types.GPUVertFormat:
    made = gpu.types.GPUVertFormat()
    made.attr_add(id="pos", comp_type="F32", len=3, fetch_mode="FLOAT")
    made.attr_add(id="color", comp_type="F32", len=4, fetch_mode="FLOAT")
    return made


def batch_of(kind: str, points: Array, colors: Array) -> gpu.types.GPUBatch:
    """points: (v, 3), colors: (v, 4), in single precision."""
    buffer = gpu.types.GPUVertBuf(format=_format(), len=len(points))
    buffer.attr_fill(id="pos", data=points)
    buffer.attr_fill(id="color", data=colors)
    return gpu.types.GPUBatch(type=kind, buf=buffer)
