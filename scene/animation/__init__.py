"""Reading a scene over many frames, and writing whole F-curves."""
