"""Meshes are found without ROS, in the stated order, and never outside the search path."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from robokin_addon.robokin import ModelError, RobokinError, load_urdf, missing_meshes, read_urdf_text
from robokin_addon.robokin.files.resources import ResourceFinder
from robokin_addon.robokin.model.geometry import Mesh
from support.robots import all_urdfs, robot

VARIABLES = ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "GAZEBO_MODEL_PATH", "GZ_SIM_RESOURCE_PATH")


@pytest.fixture(autouse=True)
def no_ros(monkeypatch):
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)


def put(path: Path, text: str = "mesh") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


@pytest.fixture
def robot_file(tmp_path):
    return Path(put(tmp_path / "ws/arm_description/urdf/arm.urdf"))


def test_walks_up_from_the_file(tmp_path, robot_file):
    own = put(tmp_path / "ws/arm_description/meshes/a.stl")
    sibling = put(tmp_path / "ws/other_description/meshes/b.stl")
    finder = ResourceFinder(robot_file)
    for uri in ("package://arm_description/meshes/a.stl", "package:///arm_description/meshes/a.stl"):
        assert finder.find(uri).path == own
    assert finder.find("package://other_description/meshes/b.stl").path == sibling
    assert finder.find("model://other_description/meshes/./b.stl").path == sibling
    assert finder.find(r"package://arm_description\meshes\a.stl").path == own


def test_a_package_is_known_by_its_package_xml_and_found_in_a_renamed_clone(tmp_path, robot_file):
    mesh = put(tmp_path / "clone-main/meshes/a.stl")
    put(tmp_path / "clone-main/package.xml", "<package><name> real_name </name></package>")
    assert ResourceFinder(robot_file, [tmp_path / "clone-main"]).find("package://real_name/meshes/a.stl").path == mesh
    assert ResourceFinder(robot_file, [tmp_path / "clone-main"]).find("package://any/meshes/a.stl").path == mesh
    assert ResourceFinder(robot_file, [tmp_path]).find("package://real_name/meshes/a.stl").path == mesh
    renamed = put(tmp_path / "ws/arm_description/meshes/c.stl")
    assert ResourceFinder(robot_file).find("package://name_before_cloning/meshes/c.stl").path == renamed


def test_package_paths_come_first_then_the_surroundings_then_the_environment(tmp_path, robot_file, monkeypatch):
    uri = "package://p/a.stl"
    assert ResourceFinder(robot_file).find(uri).path is None
    in_environment = put(tmp_path / "ros/repository/p/a.stl")
    monkeypatch.setenv("ROS_PACKAGE_PATH", os.pathsep.join(["/nowhere", str(tmp_path / "ros")]))
    assert ResourceFinder(robot_file).find(uri).path == in_environment
    around = put(tmp_path / "ws/p/a.stl")
    assert ResourceFinder(robot_file).find(uri).path == around
    given = put(tmp_path / "given/p/a.stl")
    assert ResourceFinder(robot_file, [str(tmp_path / "given")]).find(uri).path == given


def test_ament_prefix(tmp_path, robot_file, monkeypatch):
    mesh = put(tmp_path / "opt/share/p/a.stl")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "opt"))
    assert ResourceFinder(robot_file).find("package://p/a.stl").path == mesh


def test_files_and_relative_paths(tmp_path, robot_file):
    mesh = put(tmp_path / "ws/arm_description/meshes/a b.stl")
    finder = ResourceFinder(robot_file)
    encoded = mesh.replace(" ", "%20")
    for uri in (mesh, f"file://{encoded}", f"file://localhost{encoded}", "../meshes/a b.stl", "meshes/a b.stl"):
        assert finder.find(uri).path == mesh
    assert finder.find("file:///nowhere/a.stl").path is None
    elsewhere = put(tmp_path / "given/b.stl")
    assert ResourceFinder(robot_file, [tmp_path / "given"]).find("b.stl").path == elsewhere
    assert ResourceFinder(robot_file, [tmp_path]).find("../../../given/b.stl").path == elsewhere


@pytest.mark.parametrize(
    "uri",
    [
        "http://example.org/a.stl",
        "HTTPS://example.org/a.stl",
        "ftp:a.stl",
        "data:text/plain,x",
        "//server/share/a.stl",
        r"\\server\share\a.stl",
        "file:////server/share/a.stl",
        "file:///%5C%5Cserver/share/a.stl",
        "file:///a%00.stl",
        "package://p/a/C:/secret.stl",
        "package://p/../secret.stl",
        "package://p/a/../../../secret.stl",
        r"package://p\..\..\secret.stl",
        "package://../secret.stl",
        "package://./secret.stl",
        "package://p",
        "package://",
        "package://p//../secret.stl",
        "model://p/../secret.stl",
        "../../../secret.stl",
        "../meshes/../../../secret.stl",
        "a\n.stl",
    ],
)
def test_what_no_description_may_name(tmp_path, robot_file, uri):
    put(tmp_path / "secret.stl")
    put(tmp_path / "ws/secret.stl")
    put(tmp_path / "ws/p/a.stl")
    put(tmp_path / "ws/arm_description/package.xml", "<name>arm_description</name>")
    with pytest.raises(ModelError) as caught:
        ResourceFinder(robot_file).find(uri)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("form", ["{}", "file://{}", "file:{}", "file://localhost{}"])
def test_absolute_paths_outside_name_meshes_only(tmp_path, robot_file, form):
    for secret in (put(tmp_path / "secret/passwd"), put(tmp_path / "secret/a.stl/key")):
        with pytest.raises(ModelError, match="outside the search path"):
            ResourceFinder(robot_file).find(form.format(secret))


def test_absolute_paths(tmp_path, robot_file):
    outside = put(tmp_path / "elsewhere/far/away/a.STL")
    odd = put(tmp_path / "ws/arm_description/meshes/odd.shape")
    assert ResourceFinder(robot_file).find(outside).path == outside
    assert ResourceFinder(robot_file).find(odd).path == odd
    far = put(tmp_path / "elsewhere/far/away/odd.shape")
    assert ResourceFinder(robot_file, [tmp_path / "elsewhere"]).find(f"file://{far}").path == far


def test_one_package_path_need_not_be_in_a_list(tmp_path, robot_file):
    mesh = put(tmp_path / "given/p/a.stl")
    for given in (tmp_path / "given", str(tmp_path / "given")):
        assert ResourceFinder(robot_file, given).find("package://p/a.stl").path == mesh
        assert ResourceFinder(robot_file, given).given == [tmp_path / "given"]


def test_a_package_path_that_no_system_has(robot_file):
    assert ResourceFinder(robot_file, ["nul\0"]).find("package://p/a.stl").path is None


def test_the_root_of_the_file_system_is_no_package_path(robot_file):
    assert ResourceFinder(robot_file).find("package://etc/passwd").path is None
    assert ResourceFinder("/robot.urdf").find("package://etc/passwd").path is None


def test_names_that_the_system_refuses_are_not_found(robot_file):
    finder = ResourceFinder(robot_file)
    for uri in ("x" * 5000, "package://p/" + "x/" * 5000 + "a.stl", "file:///" + "y" * 5000):
        assert finder.find(uri).path is None


def test_missing_meshes_are_reported_once_with_file_and_line(tmp_path):
    shape = '<geometry><mesh filename="package://p/a.stl"/></geometry>'
    text = f'<robot name="r"><link name="a">\n<visual>{shape}</visual>\n<collision>{shape}</collision></link></robot>'
    model = read_urdf_text(text, tmp_path / "r.urdf")
    assert isinstance(model.link("a").visuals[0].shape, Mesh)
    (error,) = missing_meshes(model)
    assert isinstance(error, RobokinError)
    assert (error.path, error.line) == (str(tmp_path / "r.urdf"), 2)
    assert "mesh 'package://p/a.stl' not found (searched: " in error.problem
    assert str(tmp_path) in error.problem and "--package-path" in error.problem
    assert missing_meshes(model, visuals=False)[0].line == 3
    assert missing_meshes(model, visuals=False, collisions=False) == []
    put(tmp_path / "p/a.stl")
    assert missing_meshes(read_urdf_text(text, tmp_path / "r.urdf")) == []


def test_the_meshes_of_real_robots():
    missing = {path.stem: len(missing_meshes(load_urdf(path))) for path in all_urdfs() if path.stem != "ur3"}
    # Its author's file:///usr/Romeo/... ; everything else lies in the data package.
    assert {name: count for name, count in missing.items() if count} == {"romeo_laas_small": 20}


def test_a_robot_away_from_its_package_needs_the_package_path(tmp_path):
    panda = robot("panda")
    copy = Path(put(tmp_path / "panda.urdf", panda.read_text()))
    assert missing_meshes(load_urdf(copy))
    package = next(folder for folder in panda.parents if folder.name == "example-robot-data")
    for folder in (package, package.parent):
        assert missing_meshes(load_urdf(copy, package_paths=[folder])) == []


def test_a_folder_that_is_a_package_by_its_name_and_its_place_is_told_once(tmp_path):
    folder = tmp_path / "p" / "urdf"
    folder.mkdir(parents=True)
    found = ResourceFinder(folder / "r.urdf").find("package://p/a.stl")
    assert found.path is None and len(set(found.searched)) == len(found.searched) > 0
