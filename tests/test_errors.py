"""Errors travel between processes."""

from __future__ import annotations

import copy
import pickle

import pytest
from robokin_addon.robokin import FileFormatError, Joint, ModelError, UnknownNameError

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
