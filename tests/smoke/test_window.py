"""The tools of Pose Mode in Blender's window, with simulated events. Without a display it starts Xvfb."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from support.robots import robot
from test_extension import MODULE

pytestmark = pytest.mark.window

SERVER = 'Xvfb :87 -screen 0 1600x1000x24 >/dev/null 2>&1 & server=$!; sleep 2; DISPLAY=:87 "$@"; code=$?; kill $server'
PICTURES = os.environ.get("ROBOKIN_PICTURES", "")  # where those of the documents go; else they are made and forgotten


def played(script: str, folder: Path) -> dict:
    """What a script found in Blender's window."""
    out = folder / "found.json"
    *before, program = shlex.split(os.environ["BLENDER"])
    server = [] if "DISPLAY" in os.environ else ["bash", "-c", f"{SERVER}; exit $code", "bash"]
    window = ["--gpu-backend", "opengl", "--enable-event-simulate", "--window-geometry", "0", "0", "1600", "1000"]
    # Where Blender may read it, under the path by which its own files name its meshes.
    description = folder / "example-robot-data/robots/panda_description"
    shutil.copytree(robot("panda").parents[1], description)
    asked = [
        MODULE,
        *(str(each) for each in (description / "urdf/panda.urdf", out, Path(PICTURES or folder).absolute())),
    ]
    command = [*before, *server, program, *window, "--python", str(Path(__file__).with_name(script)), "--", *asked]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    assert out.exists(), done.stdout + done.stderr
    told = json.loads(out.read_text())
    assert "fault" not in told, told["fault"]
    return told


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict:
    return played("window_tools.py", tmp_path_factory.mktemp("tools"))


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> dict:
    return played("window_session.py", tmp_path_factory.mktemp("session"))


def test_what_the_pictures_show_is_so(tmp_path: Path) -> None:
    seen = played("window_gallery.py", tmp_path)
    assert seen["out of reach"].startswith("Too far")
    assert seen["levels"].startswith("Follows; met only as nearly as can be")


def test_the_pictures_of_scenes_show_what_is_so(tmp_path: Path) -> None:
    seen = played("window_scenes.py", tmp_path)
    assert {seen[name] for name in ("door", "laser", "nut", "costs")} == {"CONVERGED"}
    assert seen["too far"].startswith("Too far")


def test_a_drag_beside_the_robot_selects_by_a_box(found: dict) -> None:
    assert "joint_6" in found["boxed"]


def test_a_drag_poses_the_robot_in_one_undo_step(found: dict) -> None:
    assert found["grab"] > 0.05
    assert found["undo"] < 1e-6 and found["redo"] < 1e-6


def test_a_drag_of_a_knob_changes_the_shape_in_one_undo_step(found: dict) -> None:
    before, after, undone = found["radius"]
    assert after == pytest.approx(2.0 * before, rel=0.15) and undone == pytest.approx(before)


def test_jog_keys_step_the_chosen_joint(found: dict) -> None:
    assert found["jog"] == pytest.approx([0.0, 6.0, 0.0, 0.0, 0.0, 0.0, 0.0], abs=0.01)
    assert "ROBOKIN_OT_choose_joint" not in found["offered"]  # by F9: it would take the steps back


def test_a_robot_follows_the_target_that_is_dragged_in_one_undo_step(session: dict) -> None:
    assert session["target at tool"] < 1e-5
    assert session["dragged"] > 0.05 and session["followed"] < 1e-3
    assert session["left"] == 0.0  # by Esc
    assert session["undone"] < 1e-5
    way, off = session["redone"]
    assert way == pytest.approx(session["dragged"], abs=1e-5) and off < 1e-3


def test_the_tutorial_ends_with_a_motion_that_passes_its_check(session: dict) -> None:
    assert session["baked"] == "CONVERGED" and session["checked"]
    assert session["exported"] > 1000


def test_self_motion_moves_the_elbow_and_holds_the_tool(session: dict) -> None:
    assert session["self-motion"] > 0.05 and session["held"] < 1e-3


def test_two_robots_follow_before_and_after_the_file_is_opened(session: dict) -> None:
    assert max(session["two robots"]) < 1e-3
    assert session["opened"] < 1e-5
    assert max(session["after opening"]) < 1e-3
