"""The commands of the workflow. Each rule calls the command of the same name."""
