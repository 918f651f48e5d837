"""Studies: named presets, crossed by name into runs, and the specification of each job."""
