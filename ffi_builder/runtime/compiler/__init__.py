"""Compiles, links and loads modules: `compile`, `compile_many`, the cache."""
