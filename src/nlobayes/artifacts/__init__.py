"""Files: the only place that writes results. Atomic, byte-stable, checked when read."""
