"""Reading and writing of all result files: atomic, byte-stable, checked when read."""
