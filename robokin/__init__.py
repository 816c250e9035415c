"""The robot: model, kinematics, dynamics and file formats. NumPy only, no Blender."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .arcs import arc_limits
    from .configuration import clamp, difference, in_limits, integrate, random_configuration
    from .construction import (
        DHRow,
        ScrewRow,
        dh_table,
        load_robot_table,
        read_robot_table,
        robot_from_dh,
        robot_from_screws,
        robot_table_text,
        screw_table,
        with_stick_figure,
    )
    from .dynamics import bias_torque, drive_effort, gravity_torque, inverse_dynamics, mass_matrix
    from .errors import (
        BackendError,
        ConfigurationError,
        FileFormatError,
        ModelError,
        RobokinError,
        TaskError,
        UnknownNameError,
    )
    from .files.resources import missing_meshes
    from .generalized_inverses import extended_inverse, null_space, transversality, weighted_pseudo_inverse
    from .jacobians import (
        body_jacobian,
        center_of_mass_jacobian,
        frame_jacobian,
        rolling_constraints,
        rpy_jacobian,
        space_jacobian,
    )
    from .joint_text import format_joint_values, parse_joint_values, within_limits
    from .kinematics import FramePlacements, center_of_mass, forward_kinematics
    from .library import library_robot
    from .mirror import mirrored_configuration
    from .model.drive import Drive
    from .model.robot import Joint, Link, Mimic, RobotModel
    from .structure.locking import locked_model
    from .urdf import load_urdf, read_urdf_text, save_urdf, urdf_losses, urdf_text
    from .urdf.srdf import import_srdf, save_srdf
else:
    from .lazy import exports

    __getattr__, __dir__ = exports(
        __name__,
        {
            "arcs": ["arc_limits"],
            "configuration": ["clamp", "difference", "in_limits", "integrate", "random_configuration"],
            "construction": [
                "DHRow",
                "ScrewRow",
                "dh_table",
                "load_robot_table",
                "read_robot_table",
                "robot_from_dh",
                "robot_from_screws",
                "robot_table_text",
                "screw_table",
                "with_stick_figure",
            ],
            "model.drive": ["Drive"],
            "structure.locking": ["locked_model"],
            "dynamics": ["bias_torque", "drive_effort", "gravity_torque", "inverse_dynamics", "mass_matrix"],
            "errors": [
                "BackendError",
                "ConfigurationError",
                "FileFormatError",
                "ModelError",
                "RobokinError",
                "TaskError",
                "UnknownNameError",
            ],
            "generalized_inverses": ["extended_inverse", "null_space", "transversality", "weighted_pseudo_inverse"],
            "jacobians": [
                "body_jacobian",
                "center_of_mass_jacobian",
                "frame_jacobian",
                "rolling_constraints",
                "rpy_jacobian",
                "space_jacobian",
            ],
            "joint_text": ["format_joint_values", "parse_joint_values", "within_limits"],
            "kinematics": ["FramePlacements", "center_of_mass", "forward_kinematics"],
            "library": ["library_robot"],
            "mirror": ["mirrored_configuration"],
            "model.robot": ["Joint", "Link", "Mimic", "RobotModel"],
            "files.resources": ["missing_meshes"],
            "urdf.srdf": ["import_srdf", "save_srdf"],
            "urdf": ["load_urdf", "read_urdf_text", "save_urdf", "urdf_losses", "urdf_text"],
        },
    )

__all__ = [
    "BackendError",
    "ConfigurationError",
    "DHRow",
    "Drive",
    "FileFormatError",
    "FramePlacements",
    "Joint",
    "Link",
    "Mimic",
    "ModelError",
    "RobokinError",
    "RobotModel",
    "ScrewRow",
    "TaskError",
    "UnknownNameError",
    "arc_limits",
    "bias_torque",
    "body_jacobian",
    "center_of_mass",
    "center_of_mass_jacobian",
    "clamp",
    "dh_table",
    "difference",
    "drive_effort",
    "extended_inverse",
    "format_joint_values",
    "forward_kinematics",
    "frame_jacobian",
    "gravity_torque",
    "import_srdf",
    "in_limits",
    "integrate",
    "inverse_dynamics",
    "library_robot",
    "load_robot_table",
    "load_urdf",
    "locked_model",
    "mass_matrix",
    "mirrored_configuration",
    "missing_meshes",
    "null_space",
    "parse_joint_values",
    "random_configuration",
    "read_robot_table",
    "read_urdf_text",
    "robot_from_dh",
    "robot_from_screws",
    "robot_table_text",
    "rolling_constraints",
    "rpy_jacobian",
    "save_srdf",
    "save_urdf",
    "screw_table",
    "space_jacobian",
    "transversality",
    "urdf_losses",
    "urdf_text",
    "weighted_pseudo_inverse",
    "with_stick_figure",
    "within_limits",
]
