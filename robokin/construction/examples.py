"""Tables to begin with: one of each kind, of arms that every text has."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TableText:
    """`text`: a table as `read_robot_table` reads it."""

    label: str
    description: str
    text: str


_CLASSIC = """\
# Denavit-Hartenberg parameters, classic: Rz(theta) Tz(d) Tx(a) Rx(alpha) for each row.
# The joint value is added to theta (type R) or to d (type P).
robot,Stanford Arm
convention,classic
angles,degrees
lengths,m
joint,type,theta,d,a,alpha,lower,upper,mass
waist,R,0,0.412,0,-90,-170,170,9
shoulder,R,0,0.154,0,90,-125,125,6
reach,P,-90,0.2,0,0,0,0.8,4
wrist_1,R,0,0,0,-90,-170,170,1
wrist_2,R,0,0,0,90,-110,110,0.6
wrist_3,R,0,0.263,0,0,-170,170,0.5
"""
_MODIFIED = """\
# Denavit-Hartenberg parameters, modified (Craig): Rx(alpha) Tx(a) Rz(theta) Tz(d) for each row;
# a and alpha are those of the row before, as the tables are printed.
robot,Elbow Arm
convention,modified
angles,degrees
lengths,mm
tool,120,0,0,0,0,0
joint,type,alpha,a,d,theta,lower,upper,mass
base,R,0,0,350,0,-170,170,8
shoulder,R,-90,0,0,-90,-100,100,6
elbow,R,0,400,0,90,-150,150,4
wrist,R,0,350,0,0,-120,120,1
"""
_SCREWS = """\
# Product of exponentials: the screw v; w of each joint in the root frame, the robot at zero;
# v = -w x p for a turn about w through the point p. `home` is the tool at zero: x, y, z, roll, pitch, yaw.
robot,Exponential Arm
angles,degrees
lengths,m
home,0.9,0,0.4,0,0,0
joint,vx,vy,vz,wx,wy,wz,lower,upper,mass
base,0,0,0,0,0,1,-170,170,5
shoulder,-0.4,0,0,0,1,0,-100,100,4
elbow,-0.4,0,0.5,0,1,0,-140,140,3
"""
_AXES = """\
# Joints by their axis and a point on it, the robot at zero. type: R turns, P slides;
# with a pitch (length per radian) a joint that turns is a screw.
robot,Axes Arm
angles,degrees
lengths,cm
home,60,0,20,0,90,0
joint,type,axis_x,axis_y,axis_z,point_x,point_y,point_z,pitch,lower,upper,mass
turret,R,0,0,1,0,0,0,,-180,180,5
lift,R,0,0,1,30,0,40,1,-1800,0,2
reach,P,1,0,0,30,0,20,,0,25,1.5
"""

EXAMPLES = {
    "CLASSIC": TableText("Denavit-Hartenberg, Classic", "Six axes of the Stanford arm, one of them sliding", _CLASSIC),
    "MODIFIED": TableText("Denavit-Hartenberg, Modified", "Four axes, in Craig's convention", _MODIFIED),
    "SCREWS": TableText("Screws", "Three axes, by the screws of a product of exponentials", _SCREWS),
    "AXES": TableText("Joint Axes", "A turn, a lead screw and a slide, by their axes", _AXES),
}
