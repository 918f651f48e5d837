"""Code shared by several commands: reading artifacts, points and tables, progress, devices."""
