"""What compare.py is made of; it starts the processes of peers/, and measures nothing itself."""
