"""The progress of runs and of jobs: read from files, and shown on terminals and in logs."""
