"""What authors do to a module of theirs, before or beside attaching: asserts, signatures."""
