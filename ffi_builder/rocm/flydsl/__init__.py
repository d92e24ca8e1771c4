"""Functions that FlyDSL has exported as objects, as sources of ``wrap``."""
