"""Which backend is used, and how that is said."""

from __future__ import annotations

import logging

import pytest
from robokin_addon.robokin import BackendError, backend
from robokin_addon.robokin.backend import ENVIRONMENT_VARIABLE, get_backend


@pytest.fixture(autouse=True)
def undecided(monkeypatch):
    """Every test decides anew, and leaves no decision behind."""
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)
    backend._best.cache_clear()
    backend.why_no_kernel.cache_clear()
    yield
    backend._best.cache_clear()
    backend.why_no_kernel.cache_clear()


class Fake:
    name = "native"


def unavailable():
    raise BackendError("the kernel is for another processor")


def test_numpy_is_always_there():
    assert get_backend("numpy").name == "numpy"


def test_auto_is_native_when_the_kernel_loads(monkeypatch):
    fake = Fake()
    monkeypatch.setattr(backend, "_native", lambda: fake)
    assert get_backend() is fake
    assert get_backend("auto") is fake
    assert get_backend("native") is fake
    assert get_backend("numpy").name == "numpy"


def test_auto_falls_back_to_numpy_and_says_so_once(monkeypatch, caplog):
    monkeypatch.setattr(backend, "_native", unavailable)
    with caplog.at_level(logging.WARNING):
        assert get_backend().name == "numpy"
        assert get_backend().name == "numpy"
    assert [record.getMessage() for record in caplog.records] == [
        "the native kernel is not used, NumPy takes over (slower): the kernel is for another processor"
    ]


def test_native_by_name_does_not_fall_back(monkeypatch):
    monkeypatch.setattr(backend, "_native", unavailable)
    with pytest.raises(BackendError, match="another processor"):
        get_backend("native")


def test_the_environment_decides_for_auto_only(monkeypatch):
    fake = Fake()
    monkeypatch.setattr(backend, "_native", lambda: fake)
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, "numpy")
    assert get_backend().name == "numpy"
    assert get_backend("native") is fake
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, "native")
    assert get_backend() is fake
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, "")
    assert get_backend() is fake


def test_unknown_names_are_refused(monkeypatch):
    with pytest.raises(BackendError, match=r"no backend is called 'cuda' \(valid: auto, native, numpy\)"):
        get_backend("cuda")
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, "fast")
    with pytest.raises(BackendError, match=r"ROBOKIN_BACKEND.*'fast'"):
        get_backend()
