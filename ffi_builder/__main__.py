"""``python -m ffi_builder``: see :mod:`ffi_builder.cli`."""

import sys

from ffi_builder.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
