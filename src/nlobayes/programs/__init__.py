"""Programs of users at points: one call of a command, and many with a store."""
