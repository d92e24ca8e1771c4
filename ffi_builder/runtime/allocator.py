"""`install_allocator`: allocate returned tensors where the caller's framework does not.

tvm-ffi uses PyTorch's allocator for calls with PyTorch tensors; NumPy has none. There are two here
with the same results: one of machine code, and one in Python (10 µs a tensor instead of 0.1), for
processes without llvmlite or the JIT.
"""

from __future__ import annotations

import ctypes
from functools import cache
from types import TracebackType
from typing import Any, Final

from ffi_builder.errors import CompileError
from ffi_builder.runtime import bindings
from ffi_builder.runtime.compiler import compile as compile_
from ffi_builder.runtime.entry.layouts import DLTensor


class InstalledAllocator:
    """An allocator that is in use until :meth:`remove`, or the end of a ``with`` block.

    Examples:
        >>> from ffi_builder import runtime
        >>> installed = runtime.install_allocator()
        >>> installed.remove()
    """

    def __init__(self, before: int | None, *, every_thread: bool = False) -> None:
        self._before = before
        self._every_thread = every_thread
        self._installed = True

    def remove(self) -> None:
        """Reinstall the allocator that was there before; a second call does nothing."""
        if self._installed:
            self._installed = False
            (_install_everywhere if self._every_thread else _install)(self._before)

    def __enter__(self) -> InstalledAllocator:
        """The allocator is installed already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.remove()

    def __repr__(self) -> str:
        state = "installed" if self._installed else "removed"
        where = " on every thread" if self._every_thread else ""
        return f"<InstalledAllocator of CPU memory, {state}{where}>"


def install_allocator(*, every_thread: bool = False) -> InstalledAllocator:
    """Let functions that return tensors allocate CPU memory, in calls without PyTorch tensors too.

    The memory is aligned to 64 bytes, not initialised, and freed with the last tensor that uses it,
    also after :meth:`InstalledAllocator.remove`.

    In calls with PyTorch tensors PyTorch's allocator goes first. C and C++ programs install one of
    their own with `TVMFFIEnvSetDLPackManagedTensorAllocator`.

    Args:
        every_thread: for calls on all threads that have none of their own, such as once when a DSL
            is imported; while no other thread calls a function that allocates. Otherwise it is for
            calls on this thread.

    Examples:
        >>> import numpy as np
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, providers, runtime, spec
        >>> n = spec.Var("n", "int64")
        >>> x = spec.Tensor("x", [n], "float32", device_type="cpu")
        >>> y = spec.Tensor("y", [n], "float32", device_type="cpu")
        >>> module = ir.Module.parse("", ir.Context())
        >>> kernel = providers.DirectCallProvider("memcpy", args=[y, x, n * 4])
        >>> attach(module, spec.Signature("copy", [x], returns=y), kernel)
        >>> copy = runtime.compile(module)["copy"]
        >>> with runtime.install_allocator():
        ...     np.from_dlpack(copy(np.arange(3, dtype="float32")))
        array([0., 1., 2.], dtype=float32)
    """
    if every_thread:
        return InstalledAllocator(_install_everywhere(_address()), every_thread=True)
    return InstalledAllocator(_install(_address()))


@cache
def _address() -> int:
    """The address of the allocator, which is never freed: others may have copied it."""
    try:
        for name in ("llvmlite", "tvm_ffi_orcjit"):
            bindings.load(name)
    except CompileError:
        return python_address()
    return native_address()


@cache
def _library() -> ctypes.CDLL:
    from tvm_ffi import libinfo

    library = ctypes.CDLL(str(libinfo.find_libtvm_ffi()))
    library.TVMFFIEnvGetDLPackManagedTensorAllocator.restype = ctypes.c_void_p
    return library


def _install(address: int | None, *, everywhere: bool = False) -> int | None:
    """Install an allocator, or none, and return the one that this thread had."""
    before = ctypes.c_void_p()
    status = _library().TVMFFIEnvSetDLPackManagedTensorAllocator(
        ctypes.c_void_p(address), ctypes.c_int(everywhere), ctypes.byref(before)
    )
    assert status == 0
    return before.value


def _install_everywhere(address: int | None) -> int | None:
    """Install an allocator for threads without one, and return the one that was there for them.

    This thread's own goes before it, so it is taken away to ask for the other, and put back.
    """
    own = _install(None)
    before = _library().TVMFFIEnvGetDLPackManagedTensorAllocator()
    _install(address, everywhere=True)
    _install(own)
    return before


# ---- in Python

ALIGNMENT: Final = 64
"""Alignment of the data in bytes: a cache line, and the widest vectors of x86-64."""
DEVICE: Final = "install_allocator() allocates on the CPU alone; the result is on another device"
SIZE: Final = "the result has more bytes than can be allocated"

_CPU: Final = 1
_LARGEST: Final = 1 << 62
_SetError = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)


class _Managed(ctypes.Structure):
    """`DLManagedTensorVersioned`, followed by shape, strides and the data."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    )


_Allocate = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.POINTER(DLTensor),
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_void_p,
    _SetError,
)
_libc: Final = ctypes.CDLL(None)
_libc.posix_memalign.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
_FREE: Final = ctypes.cast(_libc.free, ctypes.c_void_p).value
"""The deleter. Everything is in one block, so freeing it needs no Python."""


def python_address() -> int:
    """The address of the function, which is never freed."""
    function = _Allocate(_allocate)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(function))
    found = ctypes.cast(function, ctypes.c_void_p).value
    assert found is not None
    return found


def _allocate(prototype: Any, out: Any, context: int | None, set_error: Any) -> int:
    wanted = prototype.contents
    if wanted.device_type != _CPU:
        set_error(context, b"RuntimeError", DEVICE.encode())
        return -1
    sizes = ctypes.c_int64 * wanted.ndim
    shape = tuple(sizes.from_address(wanted.shape)) if wanted.ndim else ()
    bits = wanted.bits * wanted.lanes
    for size in shape:
        bits *= size
    head = _head(wanted.ndim)
    block = ctypes.c_void_p()
    if bits > _LARGEST or _libc.posix_memalign(
        ctypes.byref(block), ALIGNMENT, head + (bits + 7) // 8
    ):
        set_error(context, b"MemoryError", SIZE.encode())
        return -1
    start = block.value
    assert start is not None
    shape_at = start + ctypes.sizeof(_Managed)
    strides_at = shape_at + ctypes.sizeof(sizes)
    sizes.from_address(shape_at)[:] = shape
    sizes.from_address(strides_at)[:] = _strides(shape)
    managed = _Managed.from_address(start)
    # DLPack 1.0, no flags, no context.
    managed.major, managed.minor, managed.manager_ctx, managed.flags = 1, 0, None, 0
    managed.deleter = _FREE
    ctypes.memmove(ctypes.addressof(managed.tensor), prototype, ctypes.sizeof(DLTensor))
    tensor = managed.tensor
    tensor.data, tensor.shape, tensor.strides = start + head, shape_at, strides_at
    tensor.byte_offset = 0
    out[0] = start
    return 0


def _head(ndim: int) -> int:
    """The number of bytes in front of the data."""
    used = ctypes.sizeof(_Managed) + 2 * ctypes.sizeof(ctypes.c_int64) * ndim
    return (used + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def _strides(shape: tuple[int, ...]) -> list[int]:
    strides: list[int] = []
    stride = 1
    for size in reversed(shape):
        strides.append(stride)
        stride *= size
    return strides[::-1]


# ---- in machine code, compiled once per process

_NATIVE: Final = "allocate"

# One block holds everything, so that libc's free() is the deleter and no code need outlive this
# process' Python: DLManagedTensorVersioned (80 bytes: version 0, manager_ctx 8, deleter 16,
# flags 24, dl_tensor 32), shape, strides, and at the next multiple of 64 the data.
_IR: Final = f"""
@runtime_error = private constant [13 x i8] c"RuntimeError\\00"
@memory_error = private constant [12 x i8] c"MemoryError\\00"
@device_words = private constant [{len(DEVICE) + 1} x i8] c"{DEVICE}\\00"
@size_words = private constant [{len(SIZE) + 1} x i8] c"{SIZE}\\00"
declare i32 @posix_memalign(ptr, i64, i64)
declare void @free(ptr)
declare {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64, i64)

define i32 @__tvm_ffi_{_NATIVE}(ptr %prototype, ptr %out, ptr %context, ptr %set_error) {{
entry:
  %slot = alloca ptr
  %device_at = getelementptr i8, ptr %prototype, i64 8
  %device = load i32, ptr %device_at
  %on_cpu = icmp eq i32 %device, 1
  br i1 %on_cpu, label %sizes, label %elsewhere
elsewhere:
  call void %set_error(ptr %context, ptr @runtime_error, ptr @device_words)
  ret i32 -1
sizes:
  %ndim_at = getelementptr i8, ptr %prototype, i64 16
  %ndim32 = load i32, ptr %ndim_at
  %ndim = sext i32 %ndim32 to i64
  %bits_at = getelementptr i8, ptr %prototype, i64 21
  %bits8 = load i8, ptr %bits_at
  %bits = zext i8 %bits8 to i64
  %lanes_at = getelementptr i8, ptr %prototype, i64 22
  %lanes16 = load i16, ptr %lanes_at
  %lanes = zext i16 %lanes16 to i64
  %width = mul i64 %bits, %lanes
  %shape_at = getelementptr i8, ptr %prototype, i64 24
  %shape = load ptr, ptr %shape_at
  br label %product
product:
  %axis = phi i64 [ 0, %sizes ], [ %axis_next, %multiply ]
  %total = phi i64 [ %width, %sizes ], [ %total_next, %multiply ]
  %over = phi i1 [ false, %sizes ], [ %over_next, %multiply ]
  %more = icmp slt i64 %axis, %ndim
  br i1 %more, label %multiply, label %enough
multiply:
  %dim_at = getelementptr i64, ptr %shape, i64 %axis
  %dim = load i64, ptr %dim_at
  %multiplied = call {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64 %total, i64 %dim)
  %total_next = extractvalue {{ i64, i1 }} %multiplied, 0
  %overflows = extractvalue {{ i64, i1 }} %multiplied, 1
  %over_or_so = or i1 %over, %overflows
  %not_empty = icmp ne i64 %dim, 0  ; of an empty one the product is 0, whatever it was before
  %over_next = and i1 %over_or_so, %not_empty
  %axis_next = add i64 %axis, 1
  br label %product
enough:
  %huge = icmp ugt i64 %total, {2**62}
  %too_large = or i1 %over, %huge
  br i1 %too_large, label %refuse, label %allocate
allocate:
  %rounded_bits = add i64 %total, 7
  %bytes = lshr i64 %rounded_bits, 3
  %arrays = mul i64 %ndim, 16
  %head_exact = add i64 %arrays, {80 + ALIGNMENT - 1}
  %head = and i64 %head_exact, -{ALIGNMENT}
  %size = add i64 %head, %bytes
  %status = call i32 @posix_memalign(ptr %slot, i64 {ALIGNMENT}, i64 %size)
  %fine = icmp eq i32 %status, 0
  br i1 %fine, label %fill, label %refuse
refuse:
  call void %set_error(ptr %context, ptr @memory_error, ptr @size_words)
  ret i32 -1
fill:
  %block = load ptr, ptr %slot
  %data = getelementptr i8, ptr %block, i64 %head
  %own_shape = getelementptr i8, ptr %block, i64 80
  %own_strides = getelementptr i64, ptr %own_shape, i64 %ndim
  store i32 1, ptr %block
  %minor_at = getelementptr i8, ptr %block, i64 4
  store i32 0, ptr %minor_at
  %manager_at = getelementptr i8, ptr %block, i64 8
  store ptr null, ptr %manager_at
  %deleter_at = getelementptr i8, ptr %block, i64 16
  store ptr @free, ptr %deleter_at
  %flags_at = getelementptr i8, ptr %block, i64 24
  store i64 0, ptr %flags_at
  %data_at = getelementptr i8, ptr %block, i64 32
  store ptr %data, ptr %data_at
  %device_both = load i64, ptr %device_at
  %own_device_at = getelementptr i8, ptr %block, i64 40
  store i64 %device_both, ptr %own_device_at
  %type_both = load i64, ptr %ndim_at
  %own_type_at = getelementptr i8, ptr %block, i64 48
  store i64 %type_both, ptr %own_type_at
  %own_shape_at = getelementptr i8, ptr %block, i64 56
  store ptr %own_shape, ptr %own_shape_at
  %own_strides_at = getelementptr i8, ptr %block, i64 64
  store ptr %own_strides, ptr %own_strides_at
  %offset_at = getelementptr i8, ptr %block, i64 72
  store i64 0, ptr %offset_at
  store ptr %block, ptr %out
  br label %layout
layout:
  %left = phi i64 [ %ndim, %fill ], [ %index, %one ]
  %stride = phi i64 [ 1, %fill ], [ %stride_next, %one ]
  %again = icmp sgt i64 %left, 0
  br i1 %again, label %one, label %done
one:
  %index = sub i64 %left, 1
  %from = getelementptr i64, ptr %shape, i64 %index
  %extent = load i64, ptr %from
  %to_shape = getelementptr i64, ptr %own_shape, i64 %index
  store i64 %extent, ptr %to_shape
  %to_strides = getelementptr i64, ptr %own_strides, i64 %index
  store i64 %stride, ptr %to_strides
  %stride_next = mul i64 %stride, %extent
  br label %layout
done:
  ret i32 0
}}
"""

_kept: list[object] = []


def native_address() -> int:
    """Compile the allocator, and return its address; the code is never freed."""
    compiled = compile_(_IR)
    _kept.append(compiled)
    return compiled.address(_NATIVE)
