"""A captured motion, as a BVH file."""

from __future__ import annotations

import numpy as np

FRAMES = 16
# Parent, and offset from it [cm], Y up and Z ahead, of a person of 1.6 m.
BONES = {
    "Hips": (None, (0, 90, 0)),
    "Spine": ("Hips", (0, 12, 0)),
    "Head": ("Spine", (0, 45, 0)),
    **{
        f"{side}{name}": (f"{side}{above}" if above[0].isupper() and above not in ("Hips", "Spine") else above, offset)
        for side, s in (("Left", 1), ("Right", -1))
        for name, above, offset in (
            ("UpLeg", "Hips", (9 * s, -5, 0)),
            ("Leg", "UpLeg", (0, -40, 0)),
            ("Foot", "Leg", (0, -38, 0)),
            ("Arm", "Spine", (18 * s, 35, 0)),
            ("ForeArm", "Arm", (28 * s, 0, 0)),
            ("Hand", "ForeArm", (25 * s, 0, 0)),
        )
    },
}


def bvh() -> str:
    """The person goes down by 4 cm and up again, knees ahead, and sways by 1 cm; the arms hang."""
    lines = ["HIERARCHY"]

    def write(name: str, depth: int) -> None:
        pad, (parent, offset) = "\t" * depth, BONES[name]
        lines.append(f"{pad}{'JOINT' if parent else 'ROOT'} {name}")
        place = "Xposition Yposition Zposition " if parent is None else ""
        lines.extend((f"{pad}{{", f"{pad}\tOFFSET {' '.join(map(str, offset))}"))
        lines.append(f"{pad}\tCHANNELS {6 if place else 3} {place}Zrotation Xrotation Yrotation")
        order.append(name)
        below = [other for other, (above, _) in BONES.items() if above == name]
        for other in below:
            write(other, depth + 1)
        if not below:
            lines.extend((f"{pad}\tEnd Site", f"{pad}\t{{", f"{pad}\t\tOFFSET 0 5 5", f"{pad}\t}}"))
        lines.append(f"{pad}}}")

    order: list[str] = []
    write("Hips", 0)
    lines += ["MOTION", f"Frames: {FRAMES}", "Frame Time: 0.0416667"]
    for t in np.linspace(0.0, 1.0, FRAMES):
        down, bend = 5.0 * (1.0 - np.cos(2.0 * np.pi * t)), 0.0
        bend = np.degrees(np.arccos(1.0 - down / 78.0))
        turns = {
            f"{side}{name}": (0.0, angle, 0.0)
            for side in ("Left", "Right")
            for name, angle in (("UpLeg", -bend), ("Leg", 2.0 * bend), ("Foot", -bend))
        }
        turns |= {"LeftArm": (-80.0, 0.0, 0.0), "RightArm": (80.0, 0.0, 0.0)}
        row = [1.0 * np.sin(2.0 * np.pi * t), 90.0 - down, 0.0]
        for name in order:
            row += turns.get(name, (0.0, 0.0, 0.0))
        lines.append(" ".join(f"{value:.6f}" for value in row))
    return "\n".join(lines) + "\n"
