"""The commands of the workflow: each rule calls the one of its name."""
