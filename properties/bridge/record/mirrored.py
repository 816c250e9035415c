"""Bones that Blender's Symmetrize made: their joints are the mirror images of those they were copied from.

A mirrored bone has the rest matrix M R M (with M the reflection in x), and the name of the other side; the record
that came with the copy is still that of its source.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import bpy
import numpy as np

from ....robokin.arrays import Array
from ....robokin.reflection import reflected_joint, reflected_link
from .stored import BoneRecord

_M = np.diag([-1.0, 1.0, 1.0, 1.0])
_NEAR = 1e-4


def mirrored_apart(records: dict[str, BoneRecord], rests: Mapping[str, Array]) -> dict[str, BoneRecord]:
    """The records, mirrored where the bone is the mirror image of the bone whose record it carries.

    rests: (4, 4) of each bone in the armature.
    """
    return {name: _image(r) if _is_image(name, r, records, rests) else r for name, r in records.items()}


def _is_image(name: str, record: BoneRecord, records: dict[str, BoneRecord], rests: Mapping[str, Array]) -> bool:
    source = record.bone
    if source == name or source not in records or bpy.utils.flip_name(source) != name:
        return False
    apart = abs(rests[name] - _M @ rests[source] @ _M)
    reach = max(1e-6, float(np.linalg.norm(rests[source][:3, 3])))
    return bool(apart[:3, :3].max() <= _NEAR and apart[:3, 3].max() <= _NEAR * reach)


def _image(record: BoneRecord) -> BoneRecord:
    S = record.frame @ _M[:3, :3] @ record.frame.T
    return dataclasses.replace(record, joint=reflected_joint(record.joint, S), link=reflected_link(record.link, S))
