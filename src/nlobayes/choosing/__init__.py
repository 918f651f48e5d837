"""The next points (`batch`), what random ones do (`at_random`), when to stop (`stopping`)."""
