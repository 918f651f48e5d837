"""Sources of points (the embedded engine, tables, SLHA files) and the maps applied to them."""
