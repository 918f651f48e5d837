"""What is asked: named presets, crossed by name into runs, and what each job of a run is told."""
