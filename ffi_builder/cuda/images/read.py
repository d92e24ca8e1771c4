"""`kernels`, which recognizes cubins, fatbins and PTX, and names other formats in errors."""

from __future__ import annotations

from typing import Final

from ffi_builder import SpecError
from ffi_builder.cuda.images import fatbin
from ffi_builder.cuda.images.cubin import EM_CUDA, read_cubin
from ffi_builder.cuda.images.embedded import launched as launched
from ffi_builder.cuda.images.fatbin import read_fatbin
from ffi_builder.cuda.images.image import Image
from ffi_builder.cuda.images.ptx import is_ptx, read_ptx
from ffi_builder.extending import elf, formats

_EXPECTED: Final = "image: expected a cubin, a fatbin or PTX, but it is"
_KNOWN: Final = (
    (b"BC\xc0\xde", "LLVM bitcode; ffi_builder.cuda.lower_to_ptx makes PTX of LLVM IR text"),
    (b"ML\xefR", "MLIR bytecode; ffi_builder.cuda.lower_to_ptx makes PTX of a module"),
)
_TEXTS: Final = (
    ("__global__", "CUDA C++; ffi_builder.cuda.compile_cuda makes a cubin of it"),
    ("define ", "LLVM IR; ffi_builder.cuda.lower_to_ptx makes PTX of it"),
    ("gpu.module", "MLIR; ffi_builder.cuda.lower_to_ptx makes PTX of it"),
    ("llvm.func", "MLIR; ffi_builder.cuda.lower_to_ptx makes PTX of it"),
)
_SHOWN: Final = 16
_MOST_TEXT: Final = 4096


def is_image(data: bytes | str) -> bool:
    """Return whether it begins as a cubin, a fatbin or PTX does."""
    if isinstance(data, str):
        return is_ptx(data)
    if data.startswith(elf.MAGIC):
        return (
            len(data) >= elf.EHDR.size
            and elf.Elf(data, "cubin", SpecError).header.machine == EM_CUDA
        )
    return data.startswith(fatbin.MAGIC) or is_ptx(data[:_MOST_TEXT].decode(errors="replace"))


def kernels(data: bytes | bytearray | memoryview | str) -> Image:
    """Read the architectures of a kernel image, and its kernels with their parameters and bounds.

    Nothing is executed or loaded, and no driver is needed.

    Args:
        data: a cubin, a fatbin, or PTX (as bytes, which may end in a NUL, or as str).

    Raises:
        SpecError: if it has another format (the message says which), is truncated or damaged, or
            is PTX that contains a NUL, at which a driver would stop reading.
        TypeError: if it is neither bytes nor str.

    Examples:
        >>> from ffi_builder import cuda
        >>> KERNEL = "gpu.module @k { gpu.func @fill(%x: !llvm.ptr) kernel { gpu.return } }"
        >>> print(cuda.kernels(cuda.lower_to_ptx(KERNEL, arch="sm_90")))
        ptx for compute_90
          fill(u64)
        >>> cuda.kernels(KERNEL)
        Traceback (most recent call last):
        ...
        ffi_builder.errors.SpecError: image: expected a cubin, a fatbin or PTX, but it is
            MLIR; ffi_builder.cuda.lower_to_ptx makes PTX of it
    """
    if isinstance(data, str):
        return _read_text(data.rstrip("\0"), _encoded(data))
    if not isinstance(data, bytes | bytearray | memoryview):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"image: expected bytes but got {data!r} ({type(data).__name__})")
    raw = bytes(data)
    if raw[:4] == fatbin.MAGIC:
        return read_fatbin(raw)
    if raw[:4] == elf.MAGIC:
        machine = elf.Elf(raw, "cubin", SpecError).header.machine
        if machine == EM_CUDA:
            return read_cubin(raw)
        other = f"an object or library for {elf.machine_name(machine)}"
        raise SpecError(
            f"{_EXPECTED} {formats.format_of(raw) or other}"
            ". `nvcc -cubin` and `nvcc -fatbin` write the device code alone"
        )
    return _read_text(raw.rstrip(b"\0").decode(errors="backslashreplace"), raw)


def _read_text(text: str, raw: bytes) -> Image:
    if is_ptx(text):
        if "\0" in text:
            raise SpecError(
                f"The PTX has a NUL at character {text.index(chr(0))} of {len(text)}, where a "
                "driver stops reading; pass each PTX alone"
            )
        return read_ptx(text)
    raise SpecError(f"{_EXPECTED.removesuffix('is')}{_looks(text, raw)}")


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise SpecError(
            f"image: expected text, but character {error.start} is {text[error.start]!r}, which "
            "cannot be encoded"
        ) from None


def _looks(text: str, raw: bytes) -> str:
    """Describe unknown data: ``is empty``, ``is LLVM bitcode``, or how it starts."""
    if not raw.strip(b"\0"):
        return "is empty" if not raw else f"is {len(raw)} zero bytes"
    start = text[:_MOST_TEXT]
    signs = _TEXTS if start.isprintable() or "\n" in start else ()
    descriptions = [words for magic, words in _KNOWN if raw.startswith(magic)]
    descriptions += [words] if (words := formats.format_of(raw)) else []
    descriptions += [words for sign, words in signs if sign in text]
    if descriptions:
        return f"is {descriptions[0]}"
    more = "…" if len(raw) > _SHOWN else ""
    return f"starts with {raw[:_SHOWN]!r}{more} ({len(raw)} bytes). PTX starts with `.version`"
