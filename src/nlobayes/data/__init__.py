"""Where points come from: the embedded engine, tables, and the maps applied to them."""
