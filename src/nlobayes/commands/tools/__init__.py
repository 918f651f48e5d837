"""Commands for users who have finished results."""
