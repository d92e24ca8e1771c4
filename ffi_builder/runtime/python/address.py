"""Raw code addresses as callables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ffi_builder.runtime import metadata
from ffi_builder.runtime.python.table import check_name

if TYPE_CHECKING:
    import tvm_ffi

    from ffi_builder.runtime.protocols import Module


def function(
    address: int, *, owner: object, module: Module | str | None = None, name: str | None = None
) -> tvm_ffi.Function:
    """The TVM-FFI function whose code is at `address`, for users of a JIT of their own.

    `owner` is kept alive as long as the function is: pass the object that frees the code when it is
    dropped, or None for code that stays.

    With `module`, the MLIR module or the LLVM IR text that the code was made of, the function knows
    its signature, as functions of a `CompiledModule` do. `name` says which of the module's
    functions it is, and can be left out if there is one.

    Raises TypeError or ValueError for an invalid `address`, and UnknownFunctionError, a KeyError,
    if the module describes no such function.
    """
    import tvm_ffi

    _check_address(address)
    made = tvm_ffi.core.Function.__from_extern_c__(address, keep_alive_object=owner)
    if module is None:
        return made
    from ffi_builder.runtime.python.entries import made as described

    texts = metadata.of_llvm_ir(module) if isinstance(module, str) else metadata.of_module(module)
    if name is None and len(texts) == 1:
        (name,) = texts
    check_name(name or "", tuple(texts), "the module")
    assert name is not None
    return described(made, name, metadata.read(name, texts[name]))


def _check_address(address: object) -> None:
    if not isinstance(address, int) or isinstance(address, bool):
        raise TypeError(
            f"Expected the code address as an int, but got {type(address).__name__}: "
            "for a ctypes function pass ctypes.cast(f, ctypes.c_void_p).value"
        )
    if not 0 < address < 1 << 64:
        raise ValueError(f"Expected a code address, but got {address:#x}: was the symbol found?")
