"""The commands, one file each: read, compute, write."""
