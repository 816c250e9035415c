"""The criteria of a robot in the solver's form, and what they cost."""
