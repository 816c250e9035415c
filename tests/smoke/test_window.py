"""The tools of Pose Mode in Blender's window, with simulated events. Without a display it starts Xvfb."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest
from test_extension import MODULE

pytestmark = pytest.mark.window

SCRIPT = Path(__file__).with_name("window_tools.py")
SERVER = 'Xvfb :87 -screen 0 1600x1000x24 >/dev/null 2>&1 & server=$!; sleep 2; DISPLAY=:87 "$@"; code=$?; kill $server'


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict:
    out = tmp_path_factory.mktemp("window") / "found.json"
    *before, program = shlex.split(os.environ["BLENDER"])
    server = [] if "DISPLAY" in os.environ else ["bash", "-c", f"{SERVER}; exit $code", "bash"]
    window = ["--gpu-backend", "opengl", "--enable-event-simulate", "--window-geometry", "0", "0", "1600", "1000"]
    command = [*before, *server, program, *window, "--python", str(SCRIPT), "--", MODULE, str(out)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    assert out.exists(), done.stdout + done.stderr
    told = json.loads(out.read_text())
    assert "fault" not in told, told["fault"]
    return told


def test_a_drag_poses_the_robot_in_one_undo_step(found: dict) -> None:
    assert found["grab"] > 0.05
    assert found["undo"] < 1e-6 and found["redo"] < 1e-6


def test_jog_keys_step_the_chosen_joint(found: dict) -> None:
    assert found["jog"] == pytest.approx([0.0, 6.0, 0.0, 0.0, 0.0, 0.0, 0.0], abs=0.01)
