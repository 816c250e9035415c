"""Names of new bones, and of joints and links after bones were renamed or duplicated."""

from __future__ import annotations

import dataclasses

from .stored import BoneRecord

_NAME_BYTES = 63


def unique_bone_name(wanted: str, taken: set[str]) -> str:
    """A name for a bone, like `wanted` but short enough and none of `taken`, to which it is added."""
    name, number = _shortened(wanted, _NAME_BYTES), 0
    while name in taken:
        number += 1
        ending = f".{number:03d}"
        name = _shortened(wanted, _NAME_BYTES - len(ending)) + ending
    taken.add(name)
    return name


def _shortened(name: str, size: int) -> str:
    return name.encode()[:size].decode(errors="ignore")


def named_apart(
    records: dict[str, BoneRecord], parents: dict[str, str | None], links: dict[str, str]
) -> dict[str, BoneRecord]:
    """Renamed and duplicated bones give their new names to their joints; mimics and drives follow, which may also name
    a joint by its bone; link names become unique. links: the name of each bone's link before it was edited."""
    new_names = {name: r.joint.name if name == r.bone else name for name, r in records.items()}
    # Of robots that were joined, two may have a link of the same name; a name that is given a second time stays with
    # the bone that had it before.
    owners: dict[str, str] = {}
    own = [(name, record.link.name) for name, record in records.items() if name == record.bone]
    for name, link_name in sorted(own, key=lambda pair: links[pair[0]] != pair[1]):
        owners.setdefault(link_name, name)
    taken = set(owners)
    result = {}
    for name, record in records.items():
        joint, link = record.joint, record.link
        if joint.name != new_names[name]:
            joint = dataclasses.replace(joint, name=new_names[name])
        if joint.mimic is not None:
            followed = _new_name(joint.mimic.joint, name, records, parents, new_names)
            joint = dataclasses.replace(joint, mimic=dataclasses.replace(joint.mimic, joint=followed))
        if joint.drive is not None:
            wheels = (joint.drive.left, joint.drive.right)
            left, right = (_new_name(wheel, name, records, parents, new_names) for wheel in wheels)
            joint = dataclasses.replace(joint, drive=dataclasses.replace(joint.drive, left=left, right=right))
        if owners.get(link.name) != name and link.name in taken:
            link = dataclasses.replace(link, name=_free(f"{link.name}_{name}", taken))
        taken.add(link.name)
        result[name] = dataclasses.replace(record, joint=joint, link=link)
    return result


def _new_name(
    joint: str,
    seen_from: str,
    records: dict[str, BoneRecord],
    parents: dict[str, str | None],
    new_names: dict[str, str],
) -> str:
    """The name now of the joint that a bone's record calls `joint`. Of a bone and its duplicates it is the nearest in
    the tree, as where two equal grippers were joined."""
    bones = [n for n, r in records.items() if r.joint.name == joint]
    bone = min(bones, key=lambda n: (_steps_up(seen_from, n, parents), n != records[n].bone), default=None)
    return new_names.get(bone or joint, joint)


def _steps_up(name: str, other: str, parents: dict[str, str | None]) -> int:
    """How many bones above `name` is the first that is above `other` too."""
    above = set()
    bone: str | None = other
    while bone is not None:
        above.add(bone)
        bone = parents[bone]
    steps, bone = 0, name
    while bone is not None and bone not in above:
        steps, bone = steps + 1, parents[bone]
    return steps


def _free(wanted: str, taken: set[str]) -> str:
    while wanted in taken:
        wanted += "_"
    return wanted
