"""Small robots in xacro, each for some of its features, in the manner of those that makers publish."""

from __future__ import annotations

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
STYLES = {
    "arm by parameters": (
        """<xacro:arg name="prefix" default="left_"/><xacro:property name="prefix" value="$(arg prefix)"/>
        <xacro:property name="radius" value="0.05"/><xacro:property name="length" value="${4 * radius}"/>
        <xacro:property name="mass" value="${1000 * pi * radius**2 * length}"/>
        <xacro:macro name="inertia_cylinder" params="mass radius h">
          <inertial><mass value="${mass}"/>
          <inertia ixx="${1./12 * mass * (3 * radius**2 + h**2)}" ixy="0" ixz="0" iyy="${1./12*mass*(3*radius**2+h**2)}"
                   iyz="0" izz="${1./2 * mass * radius**2}"/></inertial>
        </xacro:macro>
        <xacro:macro name="arm_link" params="name parent:='' xyz:='0 0 0' *limits **shapes
          color:=${'grey'} turn:=^|0.5">
          <link name="${prefix}${name}">
            <xacro:inertia_cylinder mass="${mass}" radius="${radius}" h="${length}"/><xacro:insert_block name="shapes"/>
          </link>
          <xacro:unless value="${parent == ''}">
            <joint name="${prefix}${name}_joint" type="revolute">
              <parent link="${prefix}${parent}"/><child link="${prefix}${name}"/>
              <origin xyz="${xyz}" rpy="0 ${turn} ${radians(90)}"/><xacro:insert_block name="limits"/>
            </joint>
          </xacro:unless>
        </xacro:macro>
        <xacro:arm_link name="base"><limit/><shapes/></xacro:arm_link>
        <xacro:property name="turn" value="-0.25"/>
        <xacro:arm_link name="upper" parent="base" xyz="0 0 ${length}">
          <limit lower="${-pi/2}" upper="${pi / 2}" effort="10" velocity="2"/>
          <shapes><visual><geometry><cylinder radius="${radius}" length="${length}"/></geometry></visual></shapes>
        </xacro:arm_link>"""
    ),
    "scopes": (
        """<xacro:property name="a" value="1"/>
        <xacro:macro name="set" params="x"><xacro:property name="a" value="${a + x}" scope="parent"/>
          <xacro:property name="g" value="g${x}" scope="global"/><xacro:property name="a" value="local"/>
          <xacro:inner/></xacro:macro>
        <xacro:macro name="inner"><link name="inner_${a}"/></xacro:macro>
        <link name="root"/>
        <xacro:set x="5"/><link name="outer_${a}_${g}"/>
        <xacro:property name="a" default="9"/><xacro:property name="new" default="8"/><link name="d_${a}_${new}"/>
        <xacro:property name="a" remove="true"/><xacro:property name="a" default="7"/><link name="r_${a}"/>"""
        + "".join(
            f'<joint name="j{i}" type="fixed"><parent link="root"/><child link="{child}"/></joint>'
            for i, child in enumerate(("inner_local", "outer_6_g5", "d_6_8", "r_7"))
        )
    ),
    "lazy and typed": (
        """<xacro:property name="a" value="${b * 2}"/><xacro:property name="b" value="3"/>
        <xacro:property name="c" value="${b * 2}" lazy_eval="false"/><xacro:property name="b" value="4"/>
        <xacro:property name="t" value="true"/><xacro:property name="q" value="'5'"/>
        <xacro:property name="list" value="${[1, 2.5, 'x']}"/><xacro:property name="n_1" value="1_0"/>
        <xacro:property name="${'made' + '_name'}" value="m"/>
        <link name="${a} ${c} ${t} ${q + q} ${list[2]} ${n_1} ${made_name} ${1e-5} ${3.0} ${10**20}
        $${x} ${'%.2f' % b}"/>"""
    ),
    "conditions": (
        """<xacro:arg name="mode" default="fast"/><xacro:property name="mode" value="$(arg mode)"/>
        <link name="a"/>
        <xacro:if value="${mode == 'fast' and not False}"><link name="b"/>
          <joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint></xacro:if>
        <xacro:unless value="true"><link name="never"/></xacro:unless>
        <xacro:if value="0"><link name="never"/></xacro:if>
        <xacro:if value="${'x' in ['y']}"><xacro:nothing/></xacro:if>"""
    ),
    "calls and elements": (
        """<xacro:macro name="one" params="n"><link name="one_${n}"/></xacro:macro>
        <xacro:property name="which" value="one"/><xacro:call macro="${which}" n="1"/>
        <xacro:element xacro:name="${'li' + 'nk'}" name="two">
          <xacro:attribute name="extra" value="${'x' * 2}"/></xacro:element>
        <xacro:property name="origin_block"><origin xyz="1 2 ${which == 'one'}"/></xacro:property>
        <joint name="j" type="fixed"><parent link="one_1"/><child link="two"/>
          <xacro:property name="block"><origin xyz="1 2 3"/></xacro:property>
          <xacro:insert_block name="block"/></joint>"""
    ),
    "macros that make macros": (
        """<xacro:macro name="define" params="name"><xacro:macro name="made" params="n:=${name}"><link name="m_${n}"/>
          </xacro:macro><xacro:made/></xacro:macro><xacro:define name="x"/>"""
    ),
    "blocks through two macros": (
        """<xacro:macro name="outer" params="**content"><link name="a"><xacro:inner><xacro:insert_block name="content"/>
          </xacro:inner></link></xacro:macro>
        <xacro:macro name="inner" params="*visual"><xacro:insert_block name="visual"/></xacro:macro>
        <xacro:outer><content><visual><geometry>
          <sphere radius="${0.1 * 2}"/></geometry></visual></content></xacro:outer>"""
    ),
    "not of URDF": (
        """<link name="a"/><gazebo reference="a"><mu>${0.5 * 2}</mu></gazebo>
        <transmission name="t"><joint name="${'j'}"/></transmission><ros2_control name="c"/>"""
    ),
}  # fmt: skip
