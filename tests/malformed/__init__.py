"""Malformed arguments, by hand and drawn, and a C program that passes them, under valgrind too."""
