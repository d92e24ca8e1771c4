"""Parsing texts: signatures, their dimensions, and conditions."""
