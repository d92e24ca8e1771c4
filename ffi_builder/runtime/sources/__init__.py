"""Reads modules and what ``link=`` adds to them, and makes their objects."""
