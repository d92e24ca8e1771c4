"""Raw code addresses as callables."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ffi_builder.runtime import metadata
from ffi_builder.runtime.protocols import Module, Signature
from ffi_builder.runtime.python.table import check_described, check_name

if TYPE_CHECKING:
    import tvm_ffi

_KIND = "the module"


def function(
    address: int,
    *,
    owner: object,
    module: Module | str | None = None,
    signature: Signature | None = None,
    name: str | None = None,
    borrows_tensors: bool = False,
) -> tvm_ffi.Function:
    """The TVM-FFI function whose code is at `address`, for users of a JIT of their own.

    It is what `compiled[name]` is. With `module` or `signature` it knows its signature, and its
    arguments are read in C where they can be.

    Args:
        address: the address of the code, as an int.
        owner: an object that is kept alive as long as the function is: the one that frees the code
            when it is dropped, or None for code that stays.
        module: the MLIR module or the LLVM IR text that the code was made of.
        signature: the `spec.Signature` that was attached. Use it where the module is gone, or has
            lost its attributes. Nothing compares it with the code, which does all checks.
        name: which of the module's functions it is; it can be left out if there is one. With a
            signature, the name to show if it is another than the signature's.
        borrows_tensors: whether the kernel uses tensors only during the call, as providers say it
            (docs/providers.md). With a signature alone, as modules say it themselves. Arrays are
            then read without making a tensor that the kernel could keep.

    Raises:
        TypeError: an `address` that is no int, both a module and a signature, an argument of
            another type, or one that goes with what was not given.
        ValueError: an `address` that cannot be one.
        UnknownFunctionError: a KeyError; the module describes no such function.

    Examples:
        A function of an engine of your own; here it is that of another compiled module:

        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, providers, runtime, spec
        >>> module = ir.Module.parse("", ir.Context())
        >>> signature = spec.Signature.parse("hypot(x: float64, y: float64) -> r: float64")
        >>> attach(module, signature, providers.DirectCallProvider("hypot"))
        >>> engine = runtime.compile(module)
        >>> address = engine.address("hypot")
        >>> hypot = runtime.function(address, owner=engine, signature=signature)
        >>> hypot(3.0, 4.0)
        5.0
    """
    from ffi_builder.runtime.python.entries import made

    at = _function(address, owner)
    found = _described(module, signature, name, borrows_tensors)
    if found is None:
        return at
    own_name, text = found
    return made(at, own_name, metadata.read(own_name, text))


def callable(
    address: int,
    *,
    owner: object,
    module: Module | str | None = None,
    signature: Signature | None = None,
    name: str | None = None,
    borrows_tensors: bool = False,
) -> Callable[..., Any]:
    """The same function as a Python function: what `compiled.callable(name)` is.

    Takes what `function` takes.

    Raises:
        TypeError: neither a module nor a signature is given, the module says nothing of the
            parameters, or a default cannot travel with code. Also as for `function`, like the next.
        ValueError: an `address` that cannot be one.
        UnknownFunctionError: a KeyError; the module describes no such function.

    Examples:
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, providers, runtime, spec
        >>> module = ir.Module.parse("", ir.Context())
        >>> signature = spec.Signature.parse("hypot(x: float64, y: float64) -> r: float64")
        >>> attach(module, signature, providers.DirectCallProvider("hypot"))
        >>> engine = runtime.compile(module)
        >>> hypot = runtime.callable(engine.address("hypot"), owner=engine, module=module)
        >>> hypot(3.0, y=4.0)
        5.0
    """
    from ffi_builder.runtime.python.entries import made_callable

    at = _function(address, owner)
    found = _described(module, signature, name, borrows_tensors)
    if found is None:
        raise TypeError(
            "A callable needs the names of its parameters: pass signature= or module=, or make a "
            "function that is called by position with runtime.function"
        )
    own_name, text = found
    info = check_described(own_name, metadata.read(own_name, text), text, _KIND)
    return made_callable(at, own_name, info)


def _function(address: int, owner: object) -> tvm_ffi.Function:
    import tvm_ffi

    _check_address(address)
    return tvm_ffi.core.Function.__from_extern_c__(address, keep_alive_object=owner)


def _described(
    module: Module | str | None,
    signature: Signature | None,
    name: str | None,
    borrows_tensors: bool,
) -> tuple[str, str] | None:
    """Return the function's name and its metadata, if something describes it."""
    if signature is not None:
        if module is not None:
            raise TypeError("Pass module= or signature=, not both: each describes the function")
        _check_signature(signature)
        return name or signature.name, signature.metadata(borrows_tensors=borrows_tensors)
    if borrows_tensors:
        raise TypeError("borrows_tensors= goes with signature=: a module says it itself")
    if module is None:
        return None
    texts = metadata.of_llvm_ir(module) if isinstance(module, str) else metadata.of_module(module)
    if name is None and len(texts) == 1:
        (name,) = texts
    if name is None and texts:
        raise TypeError(f"The module has several functions: pass name=, one of {', '.join(texts)}")
    check_name(name, tuple(texts), _KIND)
    assert name is not None
    return name, texts[name]


def _check_signature(signature: object) -> None:
    if isinstance(signature, str):
        raise TypeError(
            "signature: expected a spec.Signature but got a str: "
            "spec.Signature.parse makes one of a text"
        )
    if not hasattr(signature, "metadata"):
        raise TypeError(f"signature: expected a spec.Signature but got {type(signature).__name__}")


def _check_address(address: object) -> None:
    if not isinstance(address, int) or isinstance(address, bool):
        raise TypeError(
            f"Expected the code address as an int, but got {type(address).__name__}: "
            "for a ctypes function pass ctypes.cast(f, ctypes.c_void_p).value"
        )
    if not 0 < address < 1 << 64:
        raise ValueError(f"Expected a code address, but got {address:#x}: was the symbol found?")
