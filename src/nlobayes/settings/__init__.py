"""What settings are made of: bounded values, files and functions of the user, families of kinds."""
