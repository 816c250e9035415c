"""Lists of moves: each kind goes its way, inside the limits; `robokin move` and `robokin retime`."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from robokin_addon.robokin import RobokinError, forward_kinematics, library_robot, load_urdf, save_urdf
from robokin_addon.robokin.spatial import quaternion
from robokin_addon.solvers import (
    Motion,
    MotionDynamics,
    Move,
    check_motion,
    program_motion,
    read_motion,
    read_moves,
    run_moves,
)
from robokin_addon.solvers.motion.link_motion import link_accelerations, link_twists
from support.command import run
from support.robots import robot

PANDA = library_robot("panda")
TIP = PANDA.link_names[-1]
START = PANDA.limits.middle(PANDA.neutral())


def tips(motion) -> np.ndarray:
    return np.array([forward_kinematics(PANDA, q)[TIP] for q in motion.q])


def program() -> list[dict]:
    home = forward_kinematics(PANDA, START)[TIP][:3, 3]
    a, b, c = home + np.array([[0.0, 0.1, -0.1], [0.05, 0.0, -0.2], [0.0, -0.1, -0.1]])
    return [
        {"name": "ready", "joints": {PANDA.moving_joints[0].name: 0.3}, "speed": 50},
        {"name": "over", "tip": TIP, "position": a.tolist(), "wait": 0.5},
        {"name": "along", "kind": "line", "tip": TIP, "position": home.tolist()},
        {"name": "round", "kind": "circle", "tip": TIP, "position": c.tolist(), "via": b.tolist()},
        {"name": "turn", "kind": "screw", "tip": TIP, "position": home.tolist(), "quaternion": [0.0, 1.0, 0.1, 0.0]},
    ]


def test_each_kind_goes_its_way(tmp_path) -> None:
    (tmp_path / "program.json").write_text(json.dumps({"moves": program()}))
    moves = read_moves(tmp_path / "program.json")
    done = run_moves(PANDA, moves, START)
    assert [move.name for move, _ in done] == ["ready", "over", "along", "round", "turn"]
    ways = [tips(part.motion(200.0))[:, :3, 3] for _, part in done]
    for way, entry in list(zip(ways, program(), strict=True))[1:]:
        assert abs(way[-1] - entry["position"]).max() < 1e-3
    line, circle = ways[2], ways[3]
    along = line[-1] - line[0]
    off = np.cross(line - line[0], along / np.linalg.norm(along))
    assert np.linalg.norm(off, axis=1).max() < 1e-3
    via = np.array(program()[3]["via"])
    assert np.linalg.norm(circle - via, axis=1).min() < 5e-3
    centred = circle - circle[0]  # on one sphere and in one plane
    assert np.linalg.svd(centred)[1][2] < 2e-3
    for _, part in done:
        jerks = part.jerk(np.linspace(0.0, part.duration, 2001))
        assert (abs(jerks) <= part.limits.jerk * (1.0 + 1e-6)).all()
    whole = program_motion(done, 100.0)
    assert whole.duration == pytest.approx(sum(part.duration for _, part in done) + 0.5)
    ticks = np.arange(np.ceil(100.0 * whole.duration)) / 100.0
    np.testing.assert_allclose(whole.times, [*ticks, whole.duration], atol=1e-12)
    assert (abs(np.diff(whole.q, axis=0)).max(axis=1) == 0.0).sum() in (49, 50)  # those of the wait
    broken = [v for v in check_motion(whole).violations if v.kind in ("lower", "upper", "velocity")]
    assert broken == []


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"kind": "zigzag"}, "no kind of move named 'zigzag'"),
        ({"kind": "spline", "tip": TIP}, "a spline and a curve have points"),
        ({"kind": "curve", "tip": TIP, "points": [[0, 1]]}, "each of its points must be 3 numbers"),
        ({"kind": "curve", "tip": TIP, "points": [[1e300, 0, 0]]}, "each of its points must be 3 numbers"),
        ({"name": None, "joints": {}}, "move 1: name must be a text"),
        ({"joints": {}, "blend": 0.1, "wait": 1}, "so it cannot wait"),
        ({"joints": {}, "tool_speed": 0.1}, "tool_speed is that of a tip"),
        ({"kind": "line", "tip": TIP}, "has no end"),
        ({"position": [0, 0, 1]}, "name its link"),
        ({"tip": TIP, "position": [0, 1]}, "position must be 3 numbers"),
        ({"tip": TIP, "position": [0, 0, 1], "quaternion": [0, 0, 0, 0]}, "quaternion is no rotation"),
        ({"tip": TIP, "position": [0, 0, 1], "speed": 120}, "speed must be % of the limits"),
        ({"tip": TIP, "position": [0, 0, 1], "kind": "circle"}, "goes by a point `via`"),
        ({"tip": TIP, "position": [0, 0, 1], "colour": 1}, "no field of a move named 'colour'"),
        ({"tip": TIP, "position": [0, 0, 1], "wait": -1}, "wait must be a number of seconds"),
        (3, "must be an object"),
    ],
)
def test_bad_moves(entry: object, message: str, tmp_path) -> None:
    (tmp_path / "program.json").write_text(json.dumps({"moves": [entry]}))
    with pytest.raises(RobokinError, match=message):
        read_moves(tmp_path / "program.json")


def test_a_message_names_a_move_once(tmp_path) -> None:
    for entry, said in (
        ({}, "move 1 has no end"),
        ({"name": "over"}, "move 1 has no end"),
        ({"speed": 0}, "move 1: speed"),
    ):
        (tmp_path / "program.json").write_text(json.dumps({"moves": [entry]}))
        with pytest.raises(RobokinError, match=f"json: {said}"):
            read_moves(tmp_path / "program.json")
    far = {"kind": "line", "tip": "tool", "position": [9.0, 0.0, 0.0]}
    (tmp_path / "program.json").write_text(json.dumps({"moves": [far]}))
    with pytest.raises(RobokinError, match=r"^move 1: ") as problem:
        run_moves(PANDA, read_moves(tmp_path / "program.json"), PANDA.limits.middle(PANDA.neutral()))
    assert str(problem.value).count("move 1") == 1


@pytest.mark.parametrize(("name", "tip"), [("panda", "panda_hand"), ("ur5_robot", "tool0")])
def test_the_command_names_the_file_and_the_move_that_fails(name, tip, tmp_path, capsys) -> None:
    bad = ({"tip": tip, "position": [9.0, 0.0, 0.0]}, {"tip": "nowhere", "position": [0.3, 0.0, 0.5]})
    for case in (*({"kind": kind} | end for kind in ("line", "joint") for end in bad), {"joints": {"nothing": 1.0}}):
        program = tmp_path / "program.json"
        program.write_text(json.dumps({"moves": [{"name": "still", "joints": {}}, {"name": "far"} | case]}))
        done = run(capsys, "move", robot(name), "--moves", program, "-o", tmp_path / "a.csv")
        assert done.refused(f"{program}: move 'far': "), case
        assert not (tmp_path / "a.csv").exists()


def test_what_cannot_be_reached_names_the_move() -> None:
    for kind in ("joint", "line"):
        with pytest.raises(RobokinError, match="move 'far': its"):
            run_moves(PANDA, [Move("far", kind, tip=TIP, position=(9.0, 0.0, 0.0))], START)
    beyond = forward_kinematics(PANDA, START)[TIP][:3, 3] + (0.1325, 0.0, 0.0)  # only its last place is missed
    with pytest.raises(RobokinError, match="its path only up to 99%"):
        run_moves(PANDA, [Move("far", "line", tip=TIP, position=tuple(beyond))], START)


def test_the_command_begins_with_a_move_to_where_the_robot_stands(capsys, tmp_path) -> None:
    """It takes no time, so no sample tells what binds."""
    save_urdf(PANDA, tmp_path / "panda.urdf")
    ends = [{"name": "ready", "joints": {"joint_1": x}} for x in (0.3, 0.3, 0.5)]
    (tmp_path / "program.json").write_text(json.dumps({"moves": ends}))
    asked = ("--moves", tmp_path / "program.json", "--q0", '{"joint_1": 0.3, "joint_4": -1.5}')
    done = run(capsys, "move", tmp_path / "panda.urdf", *asked, "-o", tmp_path / "a.csv", "--json", tmp_path / "a.json")
    assert done.code == 0 and done.err == ""
    told = json.loads((tmp_path / "a.json").read_text("utf-8"))
    assert [move["duration"] == 0.0 for move in told["moves"]] == [True, True, False] and told["bindings"]


@pytest.mark.parametrize("end", [("move", "--moves", "program.json"), ("plan", "--q1", '{"joint_1": 0.3}')])
def test_a_start_outside_the_limits_is_refused(end, capsys, tmp_path) -> None:
    """The robot stands elsewhere than at the limit: a motion from there is none for it."""
    save_urdf(PANDA, tmp_path / "panda.urdf")
    (tmp_path / "program.json").write_text('{"moves": [{"joints": {"joint_1": 0.3}}]}')
    command, option, value = end
    value = tmp_path / value if command == "move" else value
    start = (tmp_path / "panda.urdf", option, value, "--q0", '{"joint_1": 9}', "-o", tmp_path / "a.csv")
    done = run(capsys, command, *start)
    assert done.code == 2 and not (tmp_path / "a.csv").exists()
    assert done.err == "robokin: --q0: joint 'joint_1' is at 9, outside its limits -2.8973 .. 2.8973\n"


def test_the_commands(capsys, tmp_path) -> None:
    save_urdf(PANDA, tmp_path / "panda.urdf")
    (tmp_path / "program.json").write_text(json.dumps({"moves": program()[:2]}))
    made, faster = tmp_path / "made.csv", tmp_path / "faster.csv"
    q0 = json.dumps({joint.name: float(START[PANDA.slot(joint.name).q][0]) for joint in PANDA.moving_joints})
    asked = ("--moves", tmp_path / "program.json", "--q0", q0, "--acceleration", "3", "--jerk", "60")
    done = run(capsys, "move", tmp_path / "panda.urdf", *asked, "-o", made, "--json", tmp_path / "moves.json")
    motion, report = read_motion(made, PANDA), json.loads((tmp_path / "moves.json").read_text("utf-8"))
    assert done.code == 0
    for move in report["moves"]:
        end = move["start"] + move["duration"]
        assert f"  {move['name']}: {move['kind']}, {move['start']:.3f} to {end:.3f} s" in done.out.splitlines()
    told = report["bindings"]
    assert told[0]["start"] == 0.0 and told[-1]["end"] <= motion.duration and len(told) > 3
    assert {row["kind"] for row in told} <= {"velocity", "acceleration", "jerk"} and told[0]["kind"] == "jerk"
    assert all(row["start"] < row["end"] <= after["start"] for row, after in itertools.pairwise(told))
    assert abs(motion.a).max() <= 3.0 * 1.01
    done = run(capsys, "retime", tmp_path / "panda.urdf", "--motion", made, "--acceleration", "4", "-o", faster)
    assert done.code == 0 and "what keeps it from being faster" in done.out
    assert read_motion(faster, PANDA).duration < motion.duration
    slow = run(capsys, "retime", tmp_path / "panda.urdf", "--motion", made, "--duration", "9", "-o", faster)
    assert slow.code == 0 and read_motion(faster, PANDA).duration == pytest.approx(9.0)
    assert run(capsys, "retime", tmp_path / "panda.urdf", "-o", faster).refused("--motion")
    header, first = made.read_text().splitlines()[:2]
    (tmp_path / "still.csv").write_text("\n".join((header, first, "1" + first[first.index(",") :])))
    still = run(capsys, "retime", tmp_path / "panda.urdf", "--motion", tmp_path / "still.csv", "-o", faster)
    assert still.code == 0 and "nothing moves in it" in still.out and "faster:" not in still.out
    limits = ("--jerk", "60", "--power", "15", "--gravity", "--tool", TIP, "--tool-speed", "0.1")
    report = tmp_path / "report.json"
    retimed = ("retime", tmp_path / "panda.urdf", "--motion", made, "-o", faster)
    assert run(capsys, *retimed, *limits, "--json", report).code == 0
    samples = json.loads(report.read_text("utf-8"))["samples"]
    motion = read_motion(faster, PANDA)
    assert [row["time"] for row in samples] == motion.times.tolist()
    assert "tool speed" in {row["kind"] for row in samples}
    assert np.linalg.norm(np.diff(tips(motion)[:, :3, 3], axis=0), axis=1).max() <= 0.1 * 0.01 * (1.0 + 1e-6)
    assert run(capsys, *retimed, "--tool", TIP).refused("--tool names the link")
    assert run(capsys, *retimed, "--power", "15").refused("--power needs --gravity")
    assert run(capsys, "move", tmp_path / "panda.urdf", *asked, "-o", tmp_path / "a.txt").refused("does not end in")
    assert run(capsys, "move", tmp_path / "panda.urdf", "--moves", tmp_path / "no.json", "-o", made).refused("no.json")


@pytest.mark.slow
def test_drives_and_tools_are_limited_all_at_once(tmp_path, capsys) -> None:
    """Of joint moves, lines and moves timed by hand; what comes is compared sample by sample."""
    model = load_urdf(robot("panda"))
    start = model.limits.middle(model.neutral())
    tip = "panda_hand"
    home = forward_kinematics(model, start)[tip][:3, 3]
    entries = [
        {"name": "swing", "joints": {"panda_joint1": 1.0, "panda_joint2": 0.5}},
        {"name": "down", "kind": "line", "tip": tip, "position": np.add(home, [0.0, 0.2, -0.1]).tolist()},
    ]
    moves = [Move(**entry) for entry in entries]
    limits = {"power": 15.0, "tools": {tip: {"speed": 0.6, "acceleration": 2.5}}}
    peaks = []
    for given in ((), (limits, (0.0, 0.0, -9.81))):
        fine = program_motion(run_moves(model, moves, start, *given), 400.0)
        found = MotionDynamics.of(Motion.of(model, fine.times, fine.q))
        twists, rates = (each(found.motion, [tip]) for each in (link_twists, link_accelerations))
        inner = slice(3, -3)
        most = [
            abs(found.power[inner]).max(),
            *(np.linalg.norm(x[inner, 0, :3], axis=1).max() for x in (twists, rates)),
        ]
        peaks.append(np.array(most) / [15.0, 0.6, 2.5])
    assert (peaks[0] > 1.2).all() and (peaks[1] <= 1.01).all() and peaks[1].max() > 0.95
    slow = [[0.0, 0.0], [0.4, 0.5], [0.8, 1.0]]
    run_moves(model, [Move("by hand", progress=slow, joints={"panda_joint4": -1.9})], start)
    with pytest.raises(RobokinError, match=r"too fast: panda_hand accelerates at .*allowed 0.1 m/s²"):
        tight = {"tools": {tip: {"acceleration": 0.1}}}
        run_moves(model, [Move("by hand", progress=slow, joints={"panda_joint4": -1.9})], start, tight)
    (tmp_path / "still.json").write_text('{"moves": [{"joints": {"panda_joint1": 0.1}}]}')
    command = ("move", robot("panda"), "--moves", tmp_path / "still.json", "-o", tmp_path / "m.csv", "--power", "0.5")
    assert run(capsys, *command).refused("--power needs --gravity")
    slow_down = run(capsys, *command, "--gravity", "--tool", tip, "--tool-speed", "0.01")
    assert slow_down.code == 0 and read_motion(tmp_path / "m.csv", model).duration > 3.0


@pytest.mark.parametrize("kind", ["line", "screw", "circle", "spline"])
def test_an_arm_of_five_joints_leads_the_place_of_its_tip(kind) -> None:
    """It cannot keep the rotation too; one that is given is asked for."""
    model = library_robot("desk_arm")
    tip, q = model.link_names[-1], model.limits.middle(model.neutral())
    T = forward_kinematics(model, q)[tip]
    end = T[:3, 3] + (-0.03, 0.05, -0.02)
    via = {"via": T[:3, 3] + (-0.01, 0.04, 0.0)} if kind == "circle" else {}
    where = {"points": [end]} if kind == "spline" else {"position": end}
    ((_, done),) = run_moves(model, [Move("aside", kind, tip=tip, **where, **via)], q)
    places = np.array([forward_kinematics(model, each)[tip][:3, 3] for each in done.motion(200.0).q])
    assert np.linalg.norm(places[-1] - end) < 1e-5
    if kind != "circle":
        along = (end - T[:3, 3]) / np.linalg.norm(end - T[:3, 3])
        assert np.linalg.norm(np.cross(places - T[:3, 3], along), axis=1).max() < 1e-4
    if kind == "line":
        turned = quaternion.from_matrix(T[:3, :3])
        with pytest.raises(RobokinError, match="its end is not reached"):
            run_moves(model, [Move("aside", kind, tip=tip, position=end, quaternion=turned)], q)


def test_a_joint_move_to_a_place_leaves_a_base_on_wheels_where_it_is() -> None:
    model = library_robot("mobile_arm")
    q = model.limits.middle(model.neutral())
    place = forward_kinematics(model, q)["tool"][:3, 3] - [0.0, 0.0, 0.05]
    motion = program_motion(run_moves(model, [Move("down", tip="tool", position=place)], q))
    np.testing.assert_allclose(forward_kinematics(model, motion.q[-1])["tool"][:3, 3], place, rtol=0.0, atol=1e-4)
    (base,) = model.rolling_bases
    own = [base.q, base.q + 1, base.q + 2, *base.wheel_q]
    assert (motion.q[:, own] == q[own]).all()
