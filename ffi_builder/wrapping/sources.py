"""Tells what a kernel was given as, by its type or by how its bytes or text begin."""

from __future__ import annotations

import ctypes
import re
from numbers import Integral
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, Union

from ffi_builder import CompileError, spec
from ffi_builder.extending import abi, addons, dataclass, did_you_mean, formats
from ffi_builder.providers import CallProvider
from ffi_builder.runtime.extending import (
    AddressSource,
    ArchiveSource,
    Item,
    LibrarySource,
    LlvmSource,
    ObjectSource,
    is_llvm_ir,
    is_name,
    path_of,
    read_item,
    symbols_of,
)
from ffi_builder.wrapping.addresses import address_of, is_code
from ffi_builder.wrapping.c_types import first_of, mangled_hint
from ffi_builder.wrapping.functions import TvmFunction, is_function

_MODULE: Final = "builtin.module"
_SHOWN: Final = 40
_MLIR_BYTECODE: Final = b"ML\xefR"
UNOWNED: Final[Any] = object()
"""Stands for an owner that was not given."""


@dataclass(frozen=True)
class Mlir:
    """A module of any bindings, its text or its bytecode."""

    module: Any


class Image(Protocol):
    """A kernel that is launched, of a kind that an add-on registers.

    ``addons.register("source", name, read)`` adds a kind. The wrapper calls ``read(source, data,
    launched=…)``, where ``data`` is the source or the content of the file that it names, and
    ``launched`` says whether ``launch=`` was given. It returns None for all other sources. What
    launches the kernel may need objects: they are in a member ``linked``. Where a member
    ``has_names`` is True, ``args`` may be a dict, by the names of the kernel's parameters.
    """

    device: str
    """The device type of tensors whose type the text of a signature leaves open."""

    def called(
        self, signature: spec.Signature, function: str | None, args: Any, launch: Any
    ) -> tuple[spec.Signature, CallProvider, str]:
        """Return the signature, what launches the kernel, and with what the types were compared.

        ``function``, ``args`` and ``launch`` are the options of ``wrap``.
        """
        ...


CODE: Final = (LlvmSource, ObjectSource, ArchiveSource, LibrarySource, AddressSource)
"""The sources that are code, which is linked."""
Kernel: TypeAlias = Union[Mlir, Image, TvmFunction, Item]
WORDS: Final = {
    Mlir: "MLIR",
    LlvmSource: "LLVM IR",
    ObjectSource: "an object",
    ArchiveSource: "an archive",
    LibrarySource: "a shared library",
    AddressSource: "an address",
    TvmFunction: "a function of TVM-FFI",
    Image: "a kernel image",
}
"""What errors call them."""


def kind_of(kernel: Kernel) -> type[Any]:
    """Return the class of a kernel that WORDS has."""
    return type(kernel) if type(kernel) in WORDS else Image


def read(source: object, owner: object, *, launched: bool) -> Kernel:
    """Tell what a source is, and read it.

    Args:
        source: what a compiler made, or the path of a file with it.
        owner: keeps the code at an address alive; :data:`UNOWNED` if nothing was said.
        launched: whether text is an image for certain.

    Raises:
        TypeError: something else, or an int without an owner.
        ValueError: an address that is none.
        CompileError: a file or bytes of another kind.
        OSError: the file cannot be read.
    """
    if is_name(source):
        return read_item(source, "the kernel")
    path = path_of(source)
    data = source if path is None else path.read_bytes()
    if isinstance(data, bytearray):
        data = bytes(data)
    text = _text(data) if isinstance(data, (str, bytes)) else None
    suffix = "" if path is None else path.suffix
    language = None if text is None else formats.language_of(text, suffix)
    if launched or language != formats.MLIR:
        # The last comes first, as CUDA takes any text that is launched.
        for read_image in reversed(addons.registered("source").values()):
            image = read_image(source, data, launched=launched)
            if image is not None:
                return image
    if isinstance(data, (str, bytes)):
        if text is not None:
            _check_no_source(text, path, language)
            return LlvmSource(text) if is_llvm_ir(text) else Mlir(text)
        assert isinstance(data, bytes)
        if data.startswith(_MLIR_BYTECODE):
            return Mlir(data)
        return read_item(data if path is None else path, "the kernel")
    address = address_of(source)
    if address is not None:
        return _of_address(source, address, owner)
    if is_function(source):
        return TvmFunction(source)
    if hasattr(source, "operation") or hasattr(source, "get_asm"):
        return Mlir(source)
    if getattr(source, "name", None) == _MODULE:  # of bindings without `operation`, such as xDSL's
        return Mlir(str(source))
    code = getattr(source, "code", None)  # the bytes of an ObjectCode of cuda.core
    if isinstance(code, (bytes, bytearray)):
        return read(code, owner, launched=launched)
    raise TypeError(
        f"wrap: expected MLIR, LLVM IR, an object, an archive, a shared library, a kernel image, a "
        f"path of one of them, or the address of a function, but got {_shown(source)}"
    )


def _shown(source: object) -> str:
    kind = f"{type(source).__module__}.{type(source).__qualname__}".removeprefix("builtins.")
    if kind in ("list", "tuple"):
        return f"a {kind}: give the kernel, and what else it needs in link="
    if kind.startswith("llvmlite."):
        return f"{kind}: give its text, str(module)"
    if kind.startswith("triton."):
        return f"{kind}: give what triton.compile returns"
    if kind == "builtin_function_or_method":
        return f"{kind}; a function of a cffi library is ffi.addressof(library, 'name')"
    if callable(source):
        return f"{kind}, which is Python: compile it first"
    if isinstance(source, ctypes.CDLL):
        return f"{kind}: give a function of it"
    return kind


def _check_no_source(text: str, path: Path | None, language: str | None) -> None:
    """Raise CompileError for text that is neither LLVM IR nor MLIR."""
    where = "wrap" if path is None else f"{path}"
    if not text.strip():
        raise CompileError(f"{where}: expected MLIR or LLVM IR, but the text is empty")
    if path is not None and path.suffix == ".so":
        raise CompileError(f"{path} is text, a script of the linker: give the library, or -lname")
    if language == formats.MLIR:
        return
    if language is not None:
        what = "wrap: the text" if path is None else where
        raise CompileError(f"{what} is {language}: compile it, and give the object")
    if not is_llvm_ir(text):
        raise CompileError(
            f"{where}: expected MLIR or LLVM IR, but the text begins with {text.strip()[:_SHOWN]!r}"
        )


def check_defines(kernel: Item, function: str, source: object) -> None:
    """Raise CompileError if an object, an archive or a library lacks a function.

    A library that the system finds by its name is not read. ``source`` is what the kernel was given
    as.
    """
    symbols = symbols_of(kernel)
    names = [symbol.name for symbol in symbols or () if symbol.defined and not symbol.data]
    if symbols is None or function in names:
        return
    path = path_of(source)
    what = f"{'' if path is None else f'{path}: '}{WORDS[type(kernel)]}"
    if any(symbol.name == function and symbol.defined for symbol in symbols):
        raise CompileError(f"{what} defines {function!r} as a variable")
    if f"{abi.PREFIX}{function}" in names:
        raise CompileError(
            f"{what} defines {function!r} as a function of TVM-FFI, which "
            f"provider=providers.PackedCallProvider calls with function={function!r} and another "
            f"name in the signature"
        )
    inside = rf"_Z(N.*)?(?<!\d){len(function)}{re.escape(function)}"
    mangled = next((name for name in names if re.match(inside, name)), None)
    hint = did_you_mean(function, names)
    if mangled is not None:
        hint = f", but `{mangled}`, which is C++: {mangled_hint(mangled)}"
    it_has = f"it has {first_of(names)}; say which with function="
    if not names:
        it_has = "it has none: export it (no `static`; `#[no_mangle]` in Rust), and leave out -flto"
    raise CompileError(f"{what} defines no function {function!r}{hint}; {it_has}")


def _text(data: str | bytes) -> str | None:
    """Return text that was given as such, or as bytes; None for other bytes."""
    if isinstance(data, str):
        return data
    if b"\0" in data[:1024]:
        return None
    try:
        return data.decode() if not data.startswith((b"!<", b"\x7fELF")) else None
    except UnicodeDecodeError:
        return None


def _of_address(source: object, address: int, owner: object) -> AddressSource:
    if owner is UNOWNED:
        if isinstance(source, (Integral, ctypes.c_void_p)):
            raise TypeError(
                f"wrap: the address {address:#x} needs owner=: the object that frees its code when "
                f"it is dropped, or None for code that stays"
            )
        owner = source
    if not is_code(address):
        raise ValueError(
            f"wrap: expected the address of a function but got {address:#x}, where this process "
            f"has no code"
        )
    return AddressSource("", address, owner)
