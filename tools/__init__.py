"""Scripts that make and check releases."""
