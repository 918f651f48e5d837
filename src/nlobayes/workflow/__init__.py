"""What the Snakefile needs: the plan of a study, and inputs, specifications, needs of jobs."""
