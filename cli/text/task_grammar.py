"""What `robokin COMMAND --help` says of tasks."""

GRAMMAR = """\
tasks:
  kind=pose,tip=LINK,target=x:y:z:qw:qx:qy:qz   the link takes this pose
  kind=position,tip=LINK,target=x:y:z           its origin takes this position
  kind=orientation,tip=LINK,target=qw:qx:qy:qz  it takes this orientation
  kind=axis,tip=LINK,axis=x:y:z,target=x:y:z    this axis of the link points in that direction
  kind=aim,tip=LINK,axis=x:y:z,target=x:y:z     this axis of the link points at that point
  kind=plane,tip=LINK,target=x:y:z:nx:ny:nz     its origin is on the plane (,side=on|above|below)
  kind=line,tip=LINK,target=x:y:z:dx:dy:dz      its origin is on the line
  kind=curve,tip=LINK,target=x:y:z:x:y:z:...    its origin is on the polyline (,closed=yes); on one of several with a
                                                / between them
  kind=distance,tip=LINK,target=N               distance of its origin (,relation=equal|inside|outside) from the point
                                                other_point=x:y:z, of the link other=LINK when that is given
  kind=laser,tip=LINK,axis=x:y:z,target=x:y:z,surface=x:y:z:nx:ny:nz
                                                a beam along this axis meets the plane at that spot
  kind=relative_pose,tip=LINK,other=LINK,target=x:y:z:qw:qx:qy:qz   pose relative to another link
  kind=advance,tip=LINK,target=x:y:z            its origin moves on by this (,frame=tip|world)
  kind=pin,tip=LINK                             it stays as it is at the start (,target=x:y:z:qw:qx:qy:qz: as it was)
  kind=loop_closure,tip=LINK,other=LINK         two links are one body, before all other tasks (,correction=N)
  kind=singular_value,tip=LINK,target=N         the singular values of its Jacobian are at least as large
  kind=center_of_mass,target=x:y:z              the centre of mass takes this position
  kind=support,target=x:y:z:x:y:z:...           it is above the convex hull of these points (,margin=N,up=x:y:z)
  kind=posture,target=JSON                      joints take these values (,weights=JSON by joint)
  kind=joint,joint=JOINT,target=N               a joint takes this value
  and, where wanted:
            ,weights=N:N:...   per axis (poses: 6, position first, or one for each part; others: 3; or one for all);
                               0 leaves it free
            ,weight=N          of kinds without axes
            ,frame=world|tip   whose axes the weights of a tip mean (world)
            ,tolerance=N       what counts as met, metres or radians (1e-5); for a pose also position:orientation, for
                               a laser spot:beam, for a posture angle:length
            ,band=N            what does not count, metres or radians; also N:N:N per axis, for a pose 6 or
                               position:orientation, for a posture angle:length
            ,point=x:y:z       point of the link in place of its origin (plane, line, curve, distance)
            ,direction=x:y:z,surface=x:y:z:nx:ny:nz   in place of that point (curve, along_curve) the spot where a beam
                               from it, in this direction of the link, falls on the plane
            ,offset=x:y:z      tip in the link's frame in place of it, of the other kinds with a tip; also with a
                               rotation, x:y:z:qw:qx:qy:qz; other_offset: of the other link
            ,priority=N        whole number, 1 first (1): a task moves nothing that one before it asks for
            ,influence=N       0 to 1, how much it counts (1)
            ,name=TEXT         how reports call it
  Targets are in the robot's root frame, in metres; quaternions need not be normalised.
  In a .blend, an object of the scene may stand for the target:
            ,object=NAME       in place of target (of a distance: of other_point; of a pin, a relative pose, an advance,
                               a joint: not). It is its pose; its origin; its Z axis (axis, line), XY plane (plane,
                               also surface of a laser or a beam); a curve object (curve), the vertices of a mesh
                               (support)
            ,bone=NAME         of the armature object=NAME
            ,surface_object=NAME   of a laser: the mesh that it falls on, in place of surface"""

VELOCITIES = """\
velocities, for bake and check (no pose can meet them):
  kind=twist,tip=LINK,target=vx:vy:vz:wx:wy:wz  the link moves so fast, m/s and rad/s (,frame=world|tip|space)
  kind=twist,tip=LINK,about=x:y:z:ax:ay:az,target=N
                                                it turns about this hinge, rad/s (,pitch=N: metres per radian, a screw)
  kind=along_curve,tip=LINK,curve=x:y:z:x:y:z:...,target=N
                                                its origin goes along the polyline, m/s (,closed=yes)
  kind=joint_velocity,target=JSON               joints move so fast, rad/s or m/s
  kind=linear_velocity,coefficients=JSON,target=N   velocities of joints, each times its number, add up to this
            with weights or weight, tolerance, band (of a twist one, linear:angular, or 6), point, direction and
            surface (along_curve), offset
            (twist), priority, influence, name as above
            ,object=NAME       along_curve: in place of curve; twist: the velocity is that of a body at this object,
                               at its origin in its axes: 0:0:0:0:0:1 turns about its Z axis"""
