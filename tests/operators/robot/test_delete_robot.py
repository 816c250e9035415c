"""Delete Robot: all that belongs to a robot goes with it, and nothing else."""

from __future__ import annotations

from types import SimpleNamespace as Of

import bpy
from robokin_addon.operators.robot.delete_robot import ROBOKIN_OT_delete_robot
from robokin_addon.properties.bridge.visuals.link_visuals import SHOWS
from support.blender.scene_robots import add_empty, add_target
from support.robots import robot


def test_a_robot_goes_with_its_meshes_targets_and_markers(scene):
    kept = set(scene.objects.keys())
    for _ in range(2):
        assert bpy.ops.robokin.import_urdf(filepath=str(robot("panda"))) == {"FINISHED"}
    first, second = (obj for obj in scene.objects if obj.type == "ARMATURE")
    target, lamp = add_target(first), add_empty("lamp")
    lamp.parent, lamp.parent_type, lamp.parent_bone = first, "BONE", "panda_joint4"
    target.location.z += 5.0
    with bpy.context.temp_override(object=first):
        bpy.ops.robokin.check()
    assert scene.timeline_markers
    for obj in scene.objects:
        obj.select_set(obj in (first, lamp))
    bpy.context.view_layer.objects.active = first
    stays = {second.name, *(mesh.name for mesh in second.children)} | kept
    assert bpy.ops.robokin.delete_robot() == {"FINISHED"}
    assert set(scene.objects.keys()) == stays and len(second.children) > 5
    assert not scene.timeline_markers
    second.select_set(True)
    assert bpy.ops.robokin.delete_robot() == {"FINISHED"}
    assert set(scene.objects.keys()) == kept
    assert not ROBOKIN_OT_delete_robot.poll(bpy.context)


def pumas(scene, count):
    for _ in range(count):
        assert bpy.ops.robokin.add_robot(robot="puma560") == {"FINISHED"}
    return [obj for obj in scene.objects if obj.type == "ARMATURE"]


def delete(scene, *chosen):
    for obj in scene.objects:
        obj.select_set(obj in chosen)
    assert bpy.ops.robokin.delete_robot() == {"FINISHED"}


def test_a_target_that_something_else_needs_stays(scene):
    for needs in ("task", "move", "constraint"):
        first, second = pumas(scene, 2)
        target = add_target(first, tip="tool_joint")
        if needs == "constraint":
            second.constraints.new("DAMPED_TRACK").target = target
        else:
            getattr(second.robokin, f"{needs}s").add().target = target
        delete(scene, first)
        assert target.name in scene.objects, needs
        delete(scene, second, target)


def test_all_that_is_selected_goes_and_the_objects_of_moves_too(scene):
    """A selected target is gone with its robot already, when it is its turn."""
    kept = set(scene.objects.keys())
    first, second = pumas(scene, 2)
    targets = [add_target(each, tip="tool_joint") for each in (first, second)]
    with bpy.context.temp_override(object=first, active_object=first):
        assert bpy.ops.robokin.move_add(kind="CIRCLE") == {"FINISHED"}
    delete(scene, first, second, *targets)
    assert set(scene.objects.keys()) == kept


def test_a_robot_on_a_robot_keeps_its_meshes(scene):
    for _ in range(2):
        assert bpy.ops.robokin.import_urdf(filepath=str(robot("panda"))) == {"FINISHED"}
    first, second = (obj for obj in scene.objects if obj.type == "ARMATURE")
    second.parent, second.parent_type, second.parent_bone = first, "BONE", "panda_joint4"
    stays = {second, *second.children_recursive}
    delete(scene, first)
    assert set(scene.objects) == stays


def test_the_scenes_own_collection_stays(scene):
    """Blender crashes where it is removed."""
    for collection in list(scene.collection.children):
        bpy.data.collections.remove(collection)
    assert bpy.ops.robokin.import_urdf(filepath=str(robot("panda"))) == {"FINISHED"}
    for obj in list(scene.objects):
        obj.users_collection[0].objects.unlink(obj)
        scene.collection.objects.link(obj)
    for collection in list(bpy.data.collections):
        bpy.data.collections.remove(collection)
    bpy.context.view_layer.update()
    delete(scene, bpy.data.objects["panda"])
    assert not scene.objects and scene.collection.is_embedded_data


def test_x_asks_and_another_key_is_blenders(scene, monkeypatch):
    from robokin_addon.operators.robot import delete_robot

    asked = []
    manager = Of(invoke_confirm=lambda *_, **__: asked.append(True) or {"RUNNING_MODAL"})
    operator = Of(execute=lambda context: {"FINISHED"})
    for known, key, outcome in ((True, "X", "RUNNING_MODAL"), (True, "DEL", "FINISHED"), (False, "X", "PASS_THROUGH")):
        monkeypatch.setattr(delete_robot, "has_key", lambda *_, known=known: known)
        found = ROBOKIN_OT_delete_robot.invoke(operator, Of(window_manager=manager), Of(type=key, shift=False))
        assert found == {outcome}
    assert asked == [True]


def test_a_robot_of_two_scenes_goes_from_one_alone(scene):
    (first,) = pumas(scene, 1)
    other = bpy.data.scenes.new("Other")
    other.collection.children.link(first.users_collection[0])
    mine = bpy.data.collections.new("Mine")
    scene.collection.children.link(mine)
    for each in (first, *first.children):
        other.collection.objects.link(each)
    names = {first.name, *(each.name for each in first.children)}
    delete(scene, first)
    assert not names & set(scene.objects.keys()) and names <= set(other.objects.keys())


def test_a_collection_of_the_user_stays_and_that_of_the_import_goes(scene):
    assert bpy.ops.robokin.import_urdf(filepath=str(robot("panda"))) == {"FINISHED"}
    first = next(obj for obj in scene.objects if obj.type == "ARMATURE")
    own = {first.users_collection[0].name, first.children[0].users_collection[0].name}
    mine = bpy.data.collections.new("Mine")
    scene.collection.children.link(mine)
    for each in (first, *first.children):
        mine.objects.link(each)
    delete(scene, first)
    assert mine.name in scene.collection.children and not mine.objects
    assert not own & set(bpy.data.collections.keys())


def test_it_counts_what_went_as_one_speaks(scene, capfd):
    (first,) = pumas(scene, 1)
    add_target(first, tip="tool_joint")
    meshes = [each for each in first.children_recursive if SHOWS in each]
    bpy.data.batch_remove(meshes[1:])
    delete(scene, first)
    said = capfd.readouterr().out
    assert "deleted 'Puma 560' with 1 mesh and 1 target\n" in said


def test_a_robot_that_another_scene_has_without_its_meshes_leaves_no_mesh_without_a_scene(scene):
    assert bpy.ops.robokin.import_urdf(filepath=str(robot("panda"))) == {"FINISHED"}
    first = next(obj for obj in scene.objects if obj.type == "ARMATURE")
    meshes = [each.name for each in first.children_recursive if SHOWS in each]
    made = [each.name for each in first.users_collection]
    other = bpy.data.scenes.new("other")
    other.collection.objects.link(first)
    delete(scene, first)
    assert first.name in other.objects
    assert meshes and not set(meshes) & set(bpy.data.objects.keys())
    assert made and not set(made) & set(bpy.data.collections.keys())
