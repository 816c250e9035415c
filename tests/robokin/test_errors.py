"""Errors travel between processes, and can be told whatever they are about."""

from __future__ import annotations

import copy
import pickle

import pytest
from robokin_addon.robokin import FileFormatError, Joint, ModelError, RobokinError, UnknownNameError, library_robot
from robokin_addon.robokin.arrays import shown

ERRORS = [
    FileFormatError("arm.urdf", 3, "no name"),
    UnknownNameError("joint", "elbow", ["shoulder", "elbow_1"]),
    ModelError("a circle", Joint("j", "fixed", "a", "b")),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("moved", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))], ids=["copy", "pickle"])
def test_errors_can_be_copied_and_pickled(error, moved):
    again = moved(error)
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again).keys() == vars(error).keys()


def test_a_number_of_thousands_of_digits_is_reported_without_its_digits() -> None:
    """Python refuses to write it."""
    assert shown([1, 10**5000]) == "list of thousands of digits"
    assert "no link named int of thousands of digits" in str(UnknownNameError("link", 10**5000, ["hand"]))
    with pytest.raises(RobokinError, match="int of thousands of digits"):
        library_robot("panda").configuration({"joint_1": 10**5000})
