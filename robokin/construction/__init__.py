"""Robots made from numbers: Denavit-Hartenberg tables, screws of a product of exponentials, and files of either."""

from .denavit_hartenberg import CONVENTIONS, DHRow, robot_from_dh
from .product_of_exponentials import ScrewRow, robot_from_screws
from .stick_figure import with_stick_figure
from .table_file import load_robot_table, read_robot_table

__all__ = [
    "CONVENTIONS",
    "DHRow",
    "ScrewRow",
    "load_robot_table",
    "read_robot_table",
    "robot_from_dh",
    "robot_from_screws",
    "with_stick_figure",
]
