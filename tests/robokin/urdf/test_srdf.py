"""SRDF: named poses of real robots as Pinocchio reads them, and those of hand-written files."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest
from robokin_addon.robokin import (
    ConfigurationError,
    FileFormatError,
    RobokinError,
    UnknownNameError,
    forward_kinematics,
    import_srdf,
    library_robot,
    load_urdf,
    save_srdf,
)
from support.oracles.pinocchio_oracle import Oracle
from support.robots import robot, robot_data

REAL = [
    ("panda", "panda_description/srdf/panda.srdf", "fixed"),
    ("talos_full_v2", "talos_data/srdf/talos.srdf", "floating"),
    ("pr2", "pr2_description/srdf/pr2.srdf", "planar"),
    ("go2", "go2_description/srdf/go2.srdf", "floating"),
    ("b1-z1", "b1_description/srdf/b1-z1.srdf", "floating"),
    ("xarm7", "xarm_description/srdf/xarm7.srdf", "fixed"),
    ("solo12", "solo_description/srdf/solo.srdf", "floating"),
    ("icub", "icub_description/srdf/icub.srdf", "floating"),
]


@pytest.mark.parametrize(("name", "srdf", "root"), REAL)
def test_states_of_real_robots_are_those_of_pinocchio(name, srdf, root):
    path = robot_data() / srdf
    model = load_urdf(robot(name), root=root)
    oracle = Oracle.from_urdf(model, robot(name))
    pin.loadReferenceConfigurations(oracle.pin_model, str(path), False)
    found = import_srdf(path, model)
    states = {entry.key(): entry.data() for entry in oracle.pin_model.referenceConfigurations}
    assert set(found.postures) == set(states) and states
    for state, values in found.postures.items():
        q = model.configuration(values)
        # Pinocchio moves what follows another joint by its own value; where it is named it must agree.
        wanted = states[state]
        pin.framesForwardKinematics(oracle.pin_model, oracle.data, wanted)
        shown = forward_kinematics(model, q)
        moved = {joint.child for joint in model.joints if joint.mimic is not None}
        below = {link for link in model.link_names if not _has_above(model, link, moved)}
        for link in below:
            frame = oracle.data.oMf[oracle._frame(link)].homogeneous
            assert np.allclose(shown[link], frame, atol=1e-9), (state, link)


def _has_above(model, link, links):
    while link is not None:
        if link in links:
            return True
        link = model.joints[model.link_index(link)].parent
    return False


TEXT = """<?xml version="1.0"?>
<robot name="puma560">
  <virtual_joint name="world" type="floating" parent_frame="map" child_link="base"/>
  <passive_joint name="joint6"/>
  <group_state name="home" group="arm"><joint name="joint1" value="0.5"/><joint name="joint2" value="-0.25"/>
  </group_state>
  <group_state name="home" group="wrist"><joint name="joint4" value="1"/></group_state>
  <group_state name="home" group="other"><joint name="joint1" value="0.75"/></group_state>
  <group_state name="base" group="base"><joint name="world" value="1 2 3 0 0 0.6 0.8"/></group_state>
  <group_state name="odd" group="arm"><joint name="elbow" value="1"/><joint name="joint3" value="2"/>
    <joint name="finger" value="1 2 3"/></group_state>
  <end_effector name="tool" parent_link="link6" group="arm"/>
</robot>
"""


def names(model):
    return [joint.name for joint in model.moving_joints]


@pytest.fixture
def text():
    result = TEXT
    for i, name in enumerate(names(library_robot("puma560"))):
        result = result.replace(f'"joint{i + 1}"', f'"{name}"')
    return result


def test_groups_are_merged_and_strangers_named(text, tmp_path):
    path = tmp_path / "arm.srdf"
    path.write_text(text)
    model = library_robot("puma560")
    j = names(model)
    found = import_srdf(path, model)
    assert found.postures == {
        "home": {j[0]: 0.5, j[1]: -0.25, j[3]: 1.0},
        "home (other)": {j[0]: 0.75},
        "odd": {j[2]: 2.0},
    }
    assert len(found.warnings) == 2
    assert "'elbow', 'finger'" in found.warnings[0] and "'base'" in found.warnings[1]
    floating = library_robot("puma560", root="floating")
    found = import_srdf(path, floating)
    assert found.postures["base"] == {"root_joint": pytest.approx([1, 2, 3, 0.8, 0, 0, 0.6])}


@pytest.mark.parametrize("root", ["fixed", "floating", "planar"])
def test_what_is_written_reads_back_equal(root, tmp_path):
    model = load_urdf(robot("talos_full_v2"), root=root)
    rng = np.random.default_rng(1)
    q = model.check_configuration(rng.normal(size=model.nq))
    postures = {"one & <only>": model.joint_values(q), "part": {names(model)[-1]: 0.1}}
    save_srdf(model, postures, tmp_path / "a.srdf")
    found = import_srdf(tmp_path / "a.srdf", model)
    assert found.warnings == () and list(found.postures) == list(postures)
    assert np.allclose(model.configuration(found.postures["one & <only>"]), q, rtol=0, atol=1e-15)
    assert found.postures["part"] == postures["part"]
    oracle = Oracle.from_urdf(model, robot("talos_full_v2"))
    pin.loadReferenceConfigurations(oracle.pin_model, str(tmp_path / "a.srdf"), False)
    if root != "planar":  # Pinocchio's planar joint has four values
        assert np.allclose(oracle.pin_model.referenceConfigurations["one & <only>"], oracle.q(q), atol=1e-12)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "empty"),
        ("<robot name='a'", 1, "not well-formed"),
        ("<sdf/>", 1, "not SRDF"),
        ("<robot>\n<group_state>\n</group_state></robot>", 2, "name"),
        ("<robot><group_state name='a'>\n<joint value='1'/></group_state></robot>", 2, "name"),
        ("<robot><group_state name='a'>\n<joint name='JOINT'/></group_state></robot>", 2, "value"),
        ("<robot><group_state name='a'>\n<joint name='JOINT' value='1 2'/></group_state></robot>", 2, "takes 1 value"),
        ("<robot><group_state name='a'>\n<joint name='JOINT' value='nan'/></group_state></robot>", 2, "finite"),
        ("<!DOCTYPE robot>\n<robot/>", 1, "document types"),
    ],
)
def test_faults_name_file_and_line(text, line, words, tmp_path):
    model = library_robot("puma560")
    path = tmp_path / "bad.srdf"
    path.write_text(text.replace("JOINT", names(model)[0]))
    with pytest.raises(FileFormatError, match=words) as fault:
        import_srdf(path, model)
    assert fault.value.line == line and str(path) in str(fault.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(RobokinError, match="no such file"):
        import_srdf(tmp_path / "none.srdf", library_robot("puma560"))


def test_links_that_may_touch_of_a_real_file_and_back(tmp_path):
    path = robot_data() / "panda_description/srdf/panda.srdf"
    model = load_urdf(robot("panda"))
    known = set(model.link_names)
    pairs = [(e.get("link1"), e.get("link2")) for e in ElementTree.parse(path).iter("disable_collisions")]
    found = import_srdf(path, model)
    assert len(pairs) > 30 and list(found.may_touch) == [pair for pair in pairs if set(pair) <= known]
    assert found.may_touch["panda_link0", "panda_link1"] == "Adjacent"
    save_srdf(model, {}, tmp_path / "a.srdf", {("panda_link0", "panda_link5"): "a < b"})
    assert import_srdf(tmp_path / "a.srdf", model).may_touch == {("panda_link0", "panda_link5"): "a < b"}
    with pytest.raises(UnknownNameError, match="no link named 'arm'"):
        save_srdf(model, {}, tmp_path / "b.srdf", {("panda_link0", "arm"): ""})
    with pytest.raises(ConfigurationError, match="two links may touch, not 1"):
        save_srdf(model, {}, tmp_path / "b.srdf", {("panda_link0",): ""})
    assert not (tmp_path / "b.srdf").exists()
    one, other = (
        f"<disable_collisions link1='panda_link{a}' link2='panda_link{b}' reason='a'/>" for a, b in ((0, 5), (5, 0))
    )
    (tmp_path / "c.srdf").write_text(f"<robot name='panda'>{one}{other}</robot>")
    assert list(import_srdf(tmp_path / "c.srdf", model).may_touch) == [("panda_link0", "panda_link5")]


def test_links_that_a_robot_does_not_have_are_reported(tmp_path):
    (tmp_path / "a.srdf").write_text(
        "<robot name='a'><disable_collisions link1='upperarm' link2='hand' reason='Never'/></robot>"
    )
    found = import_srdf(tmp_path / "a.srdf", library_robot("puma560"))
    assert not found.may_touch and "links that" in found.warnings[0] and "hand" in found.warnings[0]
