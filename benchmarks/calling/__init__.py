"""Peers that `calls.py` compares a call with."""
