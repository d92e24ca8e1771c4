"""Globals and constants of a loaded image: where they are, and their values."""

from __future__ import annotations

import ctypes
from typing import Final

from ffi_builder.cuda.launch import driver

_NON_BLOCKING: Final = 1
"""The flag of a stream that does not wait for the legacy one."""


def device_global(library: int, name: str, value: object = None) -> tuple[int, int]:
    """Return the address and the size in bytes of a global or constant, and set its value.

    Each context has memory of its own for it; this is the current context's. So call it in a
    :func:`load_hook`, which has the library and a context.

    Args:
        library: the address of the ``CUlibrary``.
        name: as the image has it. C++ mangles those that are not ``extern "C"``.
        value: what to copy there, all of its bytes: ``bytes``, a NumPy array or number such as
            ``np.float32(2)``, or another object with a buffer. None copies nothing.

    Raises:
        TypeError: the library is no int, the name no str, or the value has no buffer.
        ValueError: the library has no such name, or the value has another size.
        RuntimeError: no context is current, or the driver fails.
        OSError: there is no driver.

    Examples:
        >>> from ffi_builder import cuda
        >>> @cuda.load_hook
        ... def hook(kernel, library, device):
        ...     address, size = cuda.device_global(library, "table")
        ...     cuda.device_global(library, "table", bytes(size))
        >>> cuda.load_hook(None)
    """
    if not isinstance(library, int) or isinstance(library, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"device_global: expected the address of a CUlibrary but got {library!r}")
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"device_global: expected the name of a global but got {name!r}")
    data = None if value is None else _bytes(name, value)
    cuda = ctypes.CDLL(driver.LIBRARY)
    address, size = ctypes.c_uint64(), ctypes.c_size_t()
    outputs = (ctypes.byref(address), ctypes.byref(size))
    result = cuda.cuLibraryGetGlobal(*outputs, ctypes.c_void_p(library), name.encode())
    if result == driver.Result.NOT_FOUND:
        raise ValueError(
            f"device_global: the library has no global or constant {name!r}: give its name in the "
            f'image, which C++ mangles unless it is extern "C"; one that no kernel uses may be gone'
        )
    _check(cuda, "cuLibraryGetGlobal", result)
    if data is not None:
        if len(data) != size.value:
            raise ValueError(
                f"device_global: {name!r} has {size.value} bytes, but the value has {len(data)}"
            )
        _copy(cuda, address, data)
    return address.value, size.value


def _bytes(name: str, value: object) -> bytes:
    try:
        return memoryview(value).tobytes()  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError, BufferError):  # the last two: dtypes that buffers lack
        raise TypeError(
            f"device_global: expected bytes, or an array or number of NumPy such as np.float32(2), "
            f"for {name!r} but got {value!r}"
        ) from None


def _copy(cuda: ctypes.CDLL, address: ctypes.c_uint64, data: bytes) -> None:
    """Copy to a device, and wait for it, through a stream that no capture can be of."""
    stream = ctypes.c_void_p()
    _check(cuda, "cuStreamCreate", cuda.cuStreamCreate(ctypes.byref(stream), _NON_BLOCKING))
    try:
        result = cuda.cuMemcpyHtoDAsync_v2(address, data, ctypes.c_size_t(len(data)), stream)
        _check(cuda, "cuMemcpyHtoDAsync_v2", result)
        _check(cuda, "cuStreamSynchronize", cuda.cuStreamSynchronize(stream))
    finally:
        cuda.cuStreamDestroy_v2(stream)


def _check(cuda: ctypes.CDLL, function: str, result: int) -> None:
    if result == driver.Result.SUCCESS:
        return
    text = ctypes.c_char_p()
    cuda.cuGetErrorName(result, ctypes.byref(text))
    hint = "; no context is current: call this in a load hook"
    raise RuntimeError(
        f"device_global: {function} failed: {(text.value or b'?').decode()} ({result})"
        f"{hint if result == driver.Result.INVALID_CONTEXT else ''}"
    )
