"""Menus of the 3D view: what search finds, and what a right click offers."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest
from mathutils import Vector
from robokin_addon.operators.handlers.select_link import ROBOKIN_OT_select_link, joint_bone
from robokin_addon.panels import menus
from robokin_addon.properties import criteria, task_kinds
from robokin_addon.properties.selected.selection import select, selected_bones
from support.blender.panels import FakeLayout
from support.blender.scene_robots import TOOL, add_robot, add_target


@pytest.fixture
def robot(scene):
    return add_robot()


def drawn(draw, **override):
    layout = FakeLayout()
    with bpy.context.temp_override(**override):
        draw(SimpleNamespace(layout=layout), bpy.context)
    return layout.drawn


@pytest.mark.parametrize("menu", ["VIEW3D_MT_object", "VIEW3D_MT_pose"])
def test_object_and_pose_menus_have_the_robot(scene, menu):
    assert any(draw.__module__.endswith("menus") for draw in getattr(bpy.types, menu).draw._draw_funcs)
    shown = drawn(menus.ROBOKIN_MT_robot.draw)
    assert {"robokin.solve_pose", "robokin.target_add", "robokin.duplicate_move"} <= set(shown["operators"])


# {command: what an animator or a roboticist types who looks for it}; "kind" after a dot is an item of the command.
WORDS = {
    "solve_pose": "solve,reach,reach target,solve pose,ik solve",
    "target_add": "ik,add target,target,goal,inverse kinematics,end effector,effector",
    "live": "live,follow,follow target",
    "home": "home,default pose",
    "reset_pose": "rest,rest pose,zero,clear pose",
    "postures": "elbow,wrist,shoulder,all postures",
    "posture_add": "store,save pose,store posture",
    "copy_joint_values": "copy joint,joint values,angles,copy angles",
    "paste_joint_values": "paste joint,paste angles",
    "mirror_pose": "mirror,flip",
    "locked": "lock,lock joint,padlock,motor",
    "jog": "jog,teach,keyboard",
    "grab_link": "grab,drag,hand,tool,move hand",
    "turn_joint": "turn joint,rotate,fk,gripper",
    "self_motion": "self-motion,null space,swivel",
    "snap_targets": "snap,match,ik to fk,ik fk,snap target",
    "pin_feet": "pin feet,foot lock,feet,stand",
    "task_add.POSE": "follow pose,add task,constraint",
    "task_add.AIM": "aim,look at,track",
    "task_add.CENTER_OF_MASS": "center of mass,balance",
    "task_add.SUPPORT": "support,balance,feet,ground",
    "task_add.PIN": "pin,foot,stay in place",
    "task_add.DISTANCE": "distance",
    "task_add.RELATIVE": "relative,carry,two hands",
    "task_add.LOOP": "loop,closed chain",
    "task_add.LASER": "laser",
    "task_add.ALONG_CURVE": "along curve,path speed",
    "criterion_add.GRAVITY_TORQUE": "gravity,gravity torque",
    "criterion_add.SMALLEST_SINGULAR_VALUE": "singular,singularity,singularity avoidance",
    "criterion_add.MANIPULABILITY": "manipulability,dexterity",
    "criterion_add.JOINT_SPRINGS": "spring,away from limits",
    "criterion_add.FAR_FROM_OBSTACLES": "away from obstacles,clearance",
    "criterion_add.KINETIC_ENERGY": "kinetic energy,optimize,redundancy,redundan",
    "mode": "priority,weight,weighted",
    "avoid_collisions": "avoid,avoid collision,collision",
    "solve_by_method": "solver,algorithm,method",
    "bake": "bake,keyframe,keyframes",
    "check": "check,validate,velocity",
    "plan_path": "plan,path,trajectory,obstacles,path planning",
    "move_add": "waypoint,pick and place,program,move",
    "bake_moves": "bake moves,trajectory",
    "next_target": "next,next target",
    "retarget_motion": "retarget,mocap,bvh",
    "retime": "retime,speed,duration,faster",
    "slow_targets": "slow,slow down",
    "smooth": "smooth,filter,jitter,jerk",
    "reduce_keys": "reduce,clean,simplify,reduce keys",
    "key_dynamics": "dynamics,torque,force,power,energy,graph",
    "key_singularities": "singular,manipulability,jacobian",
    "export_motion": "export,csv,ros,json,yaml,export motion",
    "import_motion": "import motion,import csv",
    "import_urdf": "import,urdf,import robot,import urdf,xacro",
    "export_urdf": "export urdf,urdf",
    "import_srdf": "srdf,import srdf",
    "import_table": "robot table",
    "add_robot": "add robot,robot arm,panda,franka,ur5,puma,scara,wheels,humanoid",
    "set_joint": "joint limits,limit,range,hinge,joint type",
    "copy_joint": "copy joint to selected",
    "robot_to_text": "dh,denavit,hartenberg,screw",
    "inertia_from_mesh": "mass,inertia,weight",
    "fit_collisions": "collision,fit,simplify,collision shape",
    "find_touching": "self-collision,self collision,touching",
    "obstacle": "obstacle,collision,avoid",
    "find_meshes": "mesh,meshes,missing,visuals,stl",
    "center_of_mass": "center of mass,balance,gravity",
    "manipulability": "manipulability,ellipsoid",
    "axes": "axes,frames,overlay",
    "path": "path,trail,tool path,trajectory",
    "ghosts": "ghost,onion skin",
    "task_errors": "residual,errors",
    "duplicate_move": "duplicate,copy robot",
    "delete_robot": "delete robot,delete",
    "make_robot": "make robot,rig,skeleton,armature",
    "convert_rig": "convert,convert rig,constraints",
}


class Search(FakeLayout):
    """Every entry below a menu, as Blender's search collects them: {text of its path: command}."""

    def __init__(self, path, found):
        super().__init__()
        self.__dict__.update(path=path, found=found)

    def _inside(self, is_row):
        return self

    def _enter(self, text, command):
        self.found.append((f"{self.path} > {text}".lower(), command))

    def prop(self, data, name, text=None, **options):
        self._enter(data.bl_rna.properties[name].name if text is None else text, name)

    def operator(self, name, text=None, icon="NONE", **_):
        settings = super().operator(name, text, icon)
        rna = getattr(bpy.ops.robokin, name.partition(".")[2]).get_rna_type() if "robokin" in name else None
        self._enter(rna.name if text is None else text, name.partition(".")[2])
        return Chosen(settings, self.found)

    def operator_menu_enum(self, name, prop, text=None, icon="NONE"):
        command = name.partition(".")[2]
        for item in getattr(bpy.ops.robokin, command).get_rna_type().properties[prop].enum_items:
            self._enter(f"{text} > {item.name}", command)

    def prop_menu_enum(self, data, name, text=None, icon="NONE"):
        for item in data.bl_rna.properties[name].enum_items:
            self._enter(f"{text} > {item.name}", name)

    def menu(self, name, text=None, icon="NONE"):
        cls = getattr(bpy.types, name)
        below = Search(f"{self.path} > {text or cls.bl_label}", self.found)
        cls.draw(SimpleNamespace(layout=below), bpy.context)


class Chosen:
    """Of an operator that is drawn with a kind, this entry is that kind's."""

    def __init__(self, settings, found):
        self.__dict__.update(settings=settings, found=found)

    def __setattr__(self, name, value):
        setattr(self.settings, name, value)
        text, command = self.found[-1]
        if name == "kind":
            self.found[-1] = text, f"{command}.{value}"
        elif command == "tool_set_by_id":
            self.found[-1] = text, value.partition(".")[2]


@pytest.fixture
def entries(robot):
    """All that search finds in Pose Mode, and in Object Mode what there is more."""
    found = []
    for mode in ("OBJECT", "POSE"):
        bpy.ops.object.mode_set(mode=mode)
        robot.data.bones.active = robot.data.bones["panda_joint3"]
        for menu in MENUS:
            cls = getattr(bpy.types, menu)
            for draw in cls.draw._draw_funcs:
                if draw.__module__.startswith("robokin_addon"):
                    below = Search(f"{PATHS[menu]}", found)
                    draw(SimpleNamespace(layout=below), bpy.context)
    return found


PATHS = {
    "VIEW3D_MT_object": "Object",
    "VIEW3D_MT_pose": "Pose",
    "VIEW3D_MT_armature_add": "Add > Armature",
    "TOPBAR_MT_file_import": "File > Import",
    "TOPBAR_MT_file_export": "File > Export",
}
MENUS = tuple(PATHS)


def finds(entries, words):
    """Blender shows an entry where each word that is typed is in a word of its path."""
    return {command for text, command in entries if all(word in text for word in words.split())}


def test_search_finds_each_command_by_the_words_that_people_try(entries):
    missing = [
        f"{word}: {command}"
        for command, words in WORDS.items()
        for word in words.split(",")
        if command not in finds(entries, word)
    ]
    assert not missing


def test_words_stand_at_kinds_that_there_are():
    assert menus.TASK_WORDS.keys() <= task_kinds.KINDS.keys()
    assert menus.CRITERION_WORDS.keys() <= {name for name, *_ in criteria.KINDS}


def test_no_entry_of_a_menu_is_too_long_to_read(entries):
    assert not [text for text, _ in entries if len(text.rpartition(" > ")[2]) > 60]


@pytest.mark.parametrize("menu", [cls for cls in menus.CLASSES if cls.__name__.startswith("ROBOKIN_MT")])
def test_no_menu_is_longer_than_half_a_screen(robot, menu):
    layout = FakeLayout()
    menu.draw(SimpleNamespace(layout=layout), bpy.context)
    assert len(layout.drawn["texts"]) <= 26


def test_a_right_click_on_a_bone_offers_a_target_there(robot):
    assert drawn(menus._context_menu)["texts"][0] == "Add Target at panda_hand_tcp"
    bpy.ops.object.mode_set(mode="POSE")
    robot.data.bones.active = robot.data.bones["panda_joint3"]
    select(robot.pose.bones["panda_joint3"], True)
    shown = drawn(menus._context_menu)
    assert shown["texts"][0] == "Add Target at panda_link3"
    assert "robokin.set_joint" in shown["operators"] and "robokin.duplicate_move" not in shown["operators"]


def test_nothing_is_offered_where_there_is_no_robot(scene):
    assert not drawn(menus._context_menu)["operators"]


def test_a_body_belongs_to_the_joint_that_moves_it(robot):
    assert joint_bone(robot, TOOL) == "panda_joint7" == joint_bone(robot, "panda_joint7")
    root = next(bone.name for bone in robot.data.bones if bone.parent is None)
    assert joint_bone(robot, root) == root


@pytest.mark.parametrize("extend", [False, True])
def test_a_click_on_a_body_selects_its_joint(robot, monkeypatch, extend):
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    monkeypatch.setattr("robokin_addon.operators.handlers.select_link._clicks_at_press", lambda context: True)
    monkeypatch.setattr(
        "robokin_addon.operators.handlers.select_link.location_3d_to_region_2d", lambda *_: Vector((500, 500))
    )
    event = SimpleNamespace(mouse_region_x=0, mouse_region_y=0)
    operator = SimpleNamespace(extend=extend)
    for clicked in ("panda_joint3", TOOL):
        found = robot, clicked
        monkeypatch.setattr("robokin_addon.operators.handlers.select_link.link_under", lambda *_, found=found: found)
        if not extend:  # as Blender's own click does that finds nothing
            bpy.ops.pose.select_all(action="DESELECT")
        assert ROBOKIN_OT_select_link.invoke(operator, bpy.context, event) == {"FINISHED"}
    assert robot.data.bones.active.name == "panda_joint7"
    assert set(selected_bones(robot)) == ({"panda_joint3", "panda_joint7"} if extend else {"panda_joint7"})


def test_a_target_before_the_body_stays_what_was_clicked(robot, monkeypatch):
    target = add_target(robot)
    monkeypatch.setattr("robokin_addon.operators.handlers.select_link.link_under", lambda *_: (robot, TOOL))
    event, operator = SimpleNamespace(mouse_region_x=0, mouse_region_y=0), SimpleNamespace(extend=False)
    monkeypatch.setattr("robokin_addon.operators.handlers.select_link._clicks_at_press", lambda context: True)
    assert ROBOKIN_OT_select_link.invoke(operator, bpy.context, event) == {"FINISHED"}
    assert bpy.context.view_layer.objects.active == target
    target.select_set(False)
    assert ROBOKIN_OT_select_link.invoke(operator, bpy.context, event) == {"FINISHED"}
    assert bpy.context.view_layer.objects.active == robot and robot.data.bones.active.name == "panda_joint7"


def test_a_click_means_a_link_only_where_there_is_a_robot(robot):
    here = SimpleNamespace(mode="OBJECT", region_data=object(), object=None)
    assert ROBOKIN_OT_select_link.poll(here)
    for armature in list(bpy.data.armatures):
        bpy.data.armatures.remove(armature)
    assert not ROBOKIN_OT_select_link.poll(here)
