"""Code of the Snakefile: plan of a study; inputs, specifications and resources of its jobs."""
