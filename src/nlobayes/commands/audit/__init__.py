"""The commands that show and check what made a result."""
