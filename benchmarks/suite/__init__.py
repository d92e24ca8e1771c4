"""The parts of compare.py. They start the processes of peers/, which measure."""
