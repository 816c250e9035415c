"""Tasks on joint values, joint velocities and the centre of mass."""
