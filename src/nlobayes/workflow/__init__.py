"""What the Snakefile asks: what a study has, and what its jobs read, are told and need."""
