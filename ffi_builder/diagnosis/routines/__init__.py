"""The diagnosis, written in the code of a small register machine."""
