"""Planning: a free way between two configurations."""
