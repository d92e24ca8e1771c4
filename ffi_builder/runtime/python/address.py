"""Raw code addresses as callables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tvm_ffi


def function(address: int, *, owner: object) -> tvm_ffi.Function:
    """The TVM-FFI function whose code is at `address`, for users of a JIT of their own.

    `owner` is kept alive as long as the function is: pass the object that frees the code when it is
    dropped, or None for code that stays. Raises TypeError or ValueError for an invalid `address`.
    """
    import tvm_ffi

    _check_address(address)
    return tvm_ffi.core.Function.__from_extern_c__(address, keep_alive_object=owner)


def _check_address(address: object) -> None:
    if not isinstance(address, int) or isinstance(address, bool):
        raise TypeError(
            f"Expected the code address as an int, but got {type(address).__name__}: "
            "for a ctypes function pass ctypes.cast(f, ctypes.c_void_p).value"
        )
    if not 0 < address < 1 << 64:
        raise ValueError(f"Expected a code address, but got {address:#x}: was the symbol found?")
