"""The face of the fake HIP library: what the tests of an author of kernels need."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from typing_extensions import override

from ffi_builder.fakecuda.driver import FakeDriver
from ffi_builder.fakecuda.gpus import FakeGpus, version_numbers
from ffi_builder.fakehip.build import library
from ffi_builder.fakehip.driver import FakeHipDriver

_TARGET: Final = re.compile(r"gfx\d{1,2}[\da-f]{2}(:sramecc[+-])?(:xnack[+-])?")


@cache
def the_driver() -> FakeHipDriver:
    """Return the library of this process. It is built and loaded once.

    Raises:
        FileNotFoundError, ModuleNotFoundError, OSError, RuntimeError: as :class:`FakeHip`.
    """
    return FakeHipDriver(library())


class FakeHip(FakeGpus):
    """AMD GPUs without one, in a ``with`` block: to test code that launches kernels.

    All is as with :class:`FakeCuda`, but for the library, which is a ``libamdhip64.so.7``. It
    refuses what HIP refuses, as far as its documentation and sources say so: no AMD GPU was there
    to compare. A kernel that is launched while another device than that of its module is current is
    a broken rule, as HIP ends the process then.

    A process may be in the blocks of a FakeCuda and of a FakeHip.

    Args:
        targets: the target of each device, with its settings if code depends on them, such as
            ``"gfx90a:sramecc+:xnack-"``. The default is one device, ``"gfx942"``.
        version: the version of HIP, such as ``"6.2"``. The default is 7.1.

    Raises:
        TypeError: the version is no str.
        ValueError: no target, more than 8 devices, or a version before 6.0.
        FileNotFoundError: entering, and there is no C compiler.
        ModuleNotFoundError: entering, and nvidia-cuda-runtime is not installed: it has cuda.h,
            with which the sources of FakeCuda are compiled, which are in it.
        OSError: entering, on another system than Linux.
        RuntimeError: entering, within another block, or after the process has loaded a real HIP
            library.

    Examples:
        >>> import numpy as np
        >>> from ffi_builder import testing
        >>> with testing.FakeHip("gfx942") as gpu:
        ...
        ...     @gpu.kernel("twice", ["float32*", "int32"])
        ...     def emulated(launch, x, n):
        ...         x[:n] *= 2
        ...
        ...     x = gpu.array(np.ones(300, "float32"))
        >>> x.__dlpack_device__()  # kDLROCM
        (10, 0)
    """

    _kind = "rocm"
    _of_whom = "HIP"
    _library, _driver = staticmethod(library), staticmethod(the_driver)

    def __init__(self, *targets: str, version: str | None = None) -> None:
        for each in targets:
            if not isinstance(each, str) or _TARGET.fullmatch(each) is None:  # pyright: ignore[reportUnnecessaryIsInstance]
                raise ValueError(
                    f"FakeHip: expected a target such as 'gfx942' or 'gfx90a:sramecc+:xnack-' but "
                    f"got {each!r}"
                )
        major, minor = version_numbers(
            version,
            "FakeHip: expected a version of HIP from '6.0' on, such as '7.1'",
            r"([6-9]|\d\d)\.(\d)",
        )
        super().__init__(targets or ("gfx942",), 10**7 * major + 10**5 * minor)

    @override
    def _set_up(self, driver: FakeDriver) -> None:
        assert isinstance(driver, FakeHipDriver)
        for number, target in enumerate(self._archs):
            driver.set_target(target, number)
