"""Those that are compared: each module runs in an environment of its own."""
