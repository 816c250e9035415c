"""The companion papers' methods, to teach and to compare: `solve_by` chooses one by its name. `solve_ik` is the solver
of everything else."""
