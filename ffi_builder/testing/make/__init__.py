"""Makes arguments for a signature: chooses values for its symbols, then arrays and objects."""
