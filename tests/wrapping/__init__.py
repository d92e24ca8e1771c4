"""Tests of ``wrap``."""
