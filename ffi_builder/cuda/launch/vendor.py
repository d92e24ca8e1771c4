"""A vendor of GPUs: what differs from one to the other in names, numbers, limits and words.

A launch is written once for all vendors, as far as they agree: ``ffi_builder.rocm`` has the other
one. Python code takes a :class:`Vendor`. The C code of ``cuda/support`` is compiled once for each,
with CUDA's names, and with a ``numbers.h`` that ``tools/numbers_header.py`` makes. These files are
a vendor's own, of the same names in its folder ``support``:

================ ===============================================================================
``vendor.h``     the functions of its library, and the states of a module, an image and a kernel
``context.c``    enters a device, which for NVIDIA's GPUs is a context
``load.c``       opens the library, and loads images
``own_limits.c`` asks about kernels and devices, and says which limits others do not have
``launch.c``     launches
================ ===============================================================================

What a wrapper of CUDA's does per call is emitted, as it takes nanoseconds; AMD's calls one function
in C, ``rocm/support/call.c``.
"""

from __future__ import annotations

from typing import Final

from ffi_builder.cuda.launch import driver
from ffi_builder.extending import MODULE_PREFIX, dataclass

Triple = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Vendor:
    """Names, numbers, limits and words of a vendor."""

    word: str
    """The beginning of the names of symbols, and of functions in C."""
    provider: str
    """The beginning of errors."""
    device: str
    """The device type of a kernel's memory."""
    memory: tuple[str, ...]
    """The device types of memory that a kernel can read."""
    kernel_size: int
    """The bytes of a kernel's state, of an image's, and of a module's."""
    library_size: int
    state_size: int
    max_grid: Triple
    """The most blocks on any GPU, and the most threads of a block by axis and in all."""
    max_block: Triple
    max_threads: int
    special_streams: str
    """The ints that stand for streams of each device, as errors list them."""

    @property
    def prefix(self) -> str:
        """The beginning of the names of symbols."""
        return f"{MODULE_PREFIX}{self.word}_"

    @property
    def state(self) -> str:
        """The symbol of a module's state."""
        return f"{self.prefix}state"

    @property
    def driver(self) -> str:
        """The symbol that has the state once the library was found."""
        return f"{self.prefix}driver"

    def function(self, name: str) -> str:
        """Return the name of a function in C."""
        return f"{self.word}_{name}"


CUDA: Final = Vendor(
    word="cuda",
    provider="CudaLaunchCallProvider",
    device="cuda",
    memory=("cuda", "cuda_host", "cuda_managed"),
    kernel_size=driver.KERNEL_SIZE,
    library_size=driver.LIBRARY_SIZE,
    state_size=driver.STATE_SIZE,
    max_grid=driver.MAX_GRID,
    max_block=driver.MAX_BLOCK,
    max_threads=driver.MAX_THREADS,
    special_streams="0 (NULL), 1 (CU_STREAM_LEGACY) or 2 (CU_STREAM_PER_THREAD)",
)
"""NVIDIA's GPUs."""
