"""A launcher for the toy, a device of the tests: ``wrap(image, signature, launch=Grid("n"))``.

A package of users would be imported for its compiler. It registers names of modules, so that
importing it loads no launcher.
"""

from ffi_builder.extending import addons

DEVICE = "ext_dev"
MAGIC = b"TOY\0"

addons.register("source", "toy", f"{__name__}.launching:read")
addons.register("zeros", DEVICE, f"{__name__}.launching:fill")
