"""The front door: one call that wraps whatever a compiler emits."""
