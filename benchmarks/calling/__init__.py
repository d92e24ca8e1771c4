"""What `calls.py` compares a call with."""
