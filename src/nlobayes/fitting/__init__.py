"""A run of a study without Snakemake: the same commands, called in this process or in workers."""
