"""The compared builders; each module may run in its own environment."""
