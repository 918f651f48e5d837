"""The settings of methods, one file each."""
