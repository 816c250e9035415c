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

    __getattr__, __dir__, __all__ = exports(__name__)
