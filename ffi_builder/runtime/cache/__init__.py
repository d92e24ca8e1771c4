"""The compile cache: keys, entries and the folder that holds them."""
