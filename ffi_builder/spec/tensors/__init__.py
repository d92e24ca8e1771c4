"""Tensors as parameters: alone, in lists, and as workspaces."""
