"""The solver's form of each kind of task. To add a kind: its entry in `properties/task_kinds.py`, a `Form` here."""

from .asked import Asked, Form, tip_axis
from .joints import JOINT, JOINT_VELOCITY, LINEAR_VELOCITY, POSTURE
from .mass import CENTER_OF_MASS, SUPPORT
from .measured import DISTANCE, LASER, LOOP, RELATIVE
from .moving import ADVANCE, ALONG_CURVE, PIN, TWIST
from .tips import AIM, AXIS, CURVE, LINE, ORIENTATION, PLANE, POSE, POSITION

FORMS: dict[str, Form] = {
    "POSE": POSE,
    "POSITION": POSITION,
    "ORIENTATION": ORIENTATION,
    "AXIS": AXIS,
    "AIM": AIM,
    "LASER": LASER,
    "PLANE": PLANE,
    "LINE": LINE,
    "CURVE": CURVE,
    "DISTANCE": DISTANCE,
    "RELATIVE": RELATIVE,
    "PIN": PIN,
    "ADVANCE": ADVANCE,
    "LOOP": LOOP,
    "CENTER_OF_MASS": CENTER_OF_MASS,
    "SUPPORT": SUPPORT,
    "POSTURE": POSTURE,
    "JOINT": JOINT,
    "ALONG_CURVE": ALONG_CURVE,
    "TWIST": TWIST,
    "JOINT_VELOCITY": JOINT_VELOCITY,
    "LINEAR_VELOCITY": LINEAR_VELOCITY,
}

__all__ = ["FORMS", "Asked", "Form", "tip_axis"]
