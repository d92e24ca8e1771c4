"""Malformed arguments, kept in a file, and a C program that makes the calls under valgrind."""
