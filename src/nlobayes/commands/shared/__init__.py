"""What several commands share: reading artifacts, points and tables, progress, devices."""
