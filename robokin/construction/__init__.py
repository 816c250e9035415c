"""Robots from numbers and back: Denavit-Hartenberg tables, screws of a product of exponentials, files of either."""

from .denavit_hartenberg import CONVENTIONS, DHRow, robot_from_dh
from .parameters import DHTable, ScrewTable, dh_table, screw_table
from .product_of_exponentials import ScrewRow, robot_from_screws
from .stick_figure import with_stick_figure
from .table_file import load_robot_table, read_robot_table
from .table_text import robot_table_text
