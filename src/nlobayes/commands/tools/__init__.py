"""The commands that people call with finished results."""
