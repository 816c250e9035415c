"""The tasks of a robot as the scene states them, in the solver's form."""
