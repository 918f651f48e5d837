"""One run of a study without Snakemake: the same commands, in this process or in workers."""
