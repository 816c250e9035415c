"""Functions on a scene: reading what is asked, writing what was found. No operator here."""
