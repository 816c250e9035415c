"""What the fields of a task offer to choose from, in the form of Blender's enumerations."""

FRAMES = (
    ("WORLD", "Robot", "The axes of the robot's root"),
    ("TIP", "Tip", "The axes of the tip"),
)
AXES = (
    ("X", "X", "The tip's X axis"),
    ("Y", "Y", "The tip's Y axis"),
    ("Z", "Z", "The tip's Z axis"),
    ("-X", "-X", "Against the tip's X axis"),
    ("-Y", "-Y", "Against the tip's Y axis"),
    ("-Z", "-Z", "Against the tip's Z axis"),
)
RELATIONS = (
    ("EQUAL", "At", "The distance is this"),
    ("INSIDE", "At Most", "The distance is not larger than this"),
    ("OUTSIDE", "At Least", "The distance is not smaller than this"),
)
SIDES = (
    ("ON", "On", "On the plane"),
    ("ABOVE", "Above", "On the side to which the target's Z axis points, or on the plane"),
    ("BELOW", "Below", "On the other side, or on the plane"),
)
