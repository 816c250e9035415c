"""A URDF saved in another folder still finds its meshes; Pinocchio finds them too."""

from __future__ import annotations

import shutil
from pathlib import Path

import pinocchio as pin
import pytest
from robokin_addon.robokin import load_urdf, missing_meshes, save_urdf

TOY = Path(__file__).resolve().parents[2] / "data" / "toy_description"
TEXT = """<robot name="r"><link name="base"><visual><geometry><mesh filename="{name}"/></geometry>
<material name="m"><texture filename="{texture}"/></material></visual>
<collision><geometry><mesh filename="{name}" scale="2 2 2"/></geometry></collision></link></robot>"""


@pytest.fixture
def read(tmp_path):
    """The robot of a file whose mesh and texture have these names, in tmp_path/pkg/urdf."""
    package = tmp_path / "pkg"
    (package / "urdf").mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>pkg</name></package>")
    (package / "meshes").mkdir()
    shutil.copy(TOY / "meshes" / "triangle.stl", package / "meshes" / "part one.stl")
    (package / "meshes" / "wood.png").write_bytes(b"x")

    def load(name, texture="../meshes/wood.png"):
        path = package / "urdf" / "robot.urdf"
        path.write_text(TEXT.format(name=name, texture=texture))
        return load_urdf(path)

    return load


@pytest.mark.parametrize("folder", ["pkg/urdf", "pkg", "pkg/a", "elsewhere", "a/b/c/d/e", "pkg/meshes"])
@pytest.mark.parametrize("name", ["../meshes/part one.stl", "meshes/part one.stl", "package://pkg/meshes/part one.stl"])
def test_meshes_are_found_from_where_the_file_is_saved(read, tmp_path, folder, name):
    model = read(name)
    target = tmp_path / folder / "saved.urdf"
    target.parent.mkdir(parents=True, exist_ok=True)
    save_urdf(model, target)
    packages = [tmp_path] if name.startswith("package:") else []
    again = load_urdf(target, packages)
    assert missing_meshes(again) == []
    (link,), (other,) = again.links, model.links
    for a, b in zip((*link.visuals, *link.collisions), (*other.visuals, *other.collisions), strict=True):
        assert Path(a.shape.path).samefile(b.shape.path) and a.shape.scale == b.shape.scale
        if name.startswith("package:"):
            assert a.shape.filename == name
    assert Path(link.visuals[0].material.texture_path).samefile(other.visuals[0].material.texture_path)
    # Pinocchio looks for names that are not of a package in its package folders, not around the file.
    geometry = pin.buildGeomFromUrdf(
        pin.buildModelFromUrdf(str(target)),
        str(target),
        pin.GeometryType.VISUAL,
        package_dirs=[str(target.parent), str(tmp_path)],
    )
    assert Path(geometry.geometryObjects[0].meshPath).samefile(other.visuals[0].shape.path)


def test_a_mesh_that_was_not_found_keeps_its_name(read, tmp_path):
    model = read("../meshes/none.stl")
    save_urdf(model, tmp_path / "saved.urdf")
    assert load_urdf(tmp_path / "saved.urdf").links[0].visuals[0].shape.filename == "../meshes/none.stl"
