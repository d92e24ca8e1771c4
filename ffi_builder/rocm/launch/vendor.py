"""AMD's GPUs as a vendor: limits and words of HIP."""

from __future__ import annotations

from typing import Final

from ffi_builder.cuda.launch import driver
from ffi_builder.cuda.launch.vendor import Vendor

MOST_ITEMS: Final = 2**32 - 1
"""The most threads of a grid in each axis."""
LDS: Final = {0x950: 160 << 10, 0x1250: 320 << 10, 0x1251: 320 << 10}
"""The most LDS of a block on GPUs that have more than others, by the number of their target."""
LDS_OF_OTHERS: Final = 64 << 10

_FUNCTIONS: Final = 19
"""The functions of HIP that the C calls: ``tools/rocm_numbers.py`` has them."""

ROCM: Final = Vendor(
    word="rocm",
    provider="RocmLaunchCallProvider",
    device="rocm",
    memory=("rocm", "rocm_host"),
    kernel_size=32 + 8 * driver.DEVICES,
    library_size=32 + 9 * driver.DEVICES,
    state_size=8 * _FUNCTIONS + 24,
    max_grid=driver.WORDS,
    max_block=(1024, 1024, 1024),
    max_threads=1024,
    special_streams="0 (NULL), 1 (hipStreamLegacy) or 2 (hipStreamPerThread)",
)
"""AMD's GPUs."""
