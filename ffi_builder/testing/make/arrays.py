"""Lays out tensors, and makes arrays of zeros, of a framework, of tvm_ffi or on a fake device.

NumPy does not export bfloat16, float8, float4, ints below 8 bits and types of several lanes, even
with ml_dtypes installed. Arrays of these dtypes are ``tvm_ffi.Tensor``. NumPy makes a DLPack
capsule of the memory, this module overwrites its dtype, shape and strides, and NumPy frees it.
"""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from ffi_builder import spec
from ffi_builder.extending import (
    DataType,
    abi,
    contiguous,
    dataclass,
    did_you_mean,
    evaluate,
    importing,
    install,
    parse_dtype,
    variables,
)
from ffi_builder.testing.make import devices

FRAMEWORKS: Final = ("numpy", "torch", "tvm_ffi")

NUMPY_NAMES: Final = {
    "bool",
    *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
    *("float16", "float32", "float64", "complex64", "complex128"),
}
"""Dtypes that NumPy has and exports."""

_ALIGNMENT: Final = 64
"""The usual alignment of memory that frameworks allocate, in bytes."""
_ALIGNMENT_OF_NONE: Final = 4096
"""The greatest alignment without elements: conditions may want one, ``data_alignment`` does not."""

_MEMINFO: Final = Path("/proc/meminfo")
_CGROUP: Final = Path("/sys/fs/cgroup")

_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


@dataclass(frozen=True)
class Memory:
    """Memory for an array: an array of uint8, and the offset of the first element, in bytes.

    ``address`` is that of the first byte, where the array's device finds it.
    """

    bytes: Any
    offset: int
    address: int


@dataclass(frozen=True)
class Array:
    """Describes an array; ``shape`` and ``strides`` are in elements of ``dtype``.

    Its address is a multiple of ``alignment`` and, unless it is the ``least_aligned``, of 64.
    """

    path: str
    dtype: DataType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    alignment: int = 1
    device_id: int = 0
    least_aligned: bool = False
    device_type: str = "cpu"

    @property
    def least(self) -> int:
        """The least alignment that it may have: the element's, or ``alignment`` if greater."""
        size = max(self.dtype.total_bits // 8, 1)
        return max(size & -size, self.alignment)

    @property
    def extent(self) -> tuple[int, int]:
        """The number of bytes of elements before the first one in memory, and from it on."""
        bits = self.dtype.total_bits
        before, after = reach(self.shape, self.strides)
        return -(-before * bits // 8), -(-after * bits // 8)

    def make(self, framework: str) -> Any:
        """Make the array with a framework, in new memory.

        Raises:
            ValueError: the framework cannot represent it.
            ModuleNotFoundError: the framework is not installed.
        """
        memory = self.allocate()
        made = self.place(framework, memory)
        if framework != "numpy" or not isinstance(made, numpy().ndarray):
            return made
        # Some versions of NumPy export another value for a stride that may have any.
        changed = made.flags.c_contiguous and self.strides != contiguous(self.shape, "C")
        return self._tvm_ffi(memory) if changed else made

    def allocate(self, guard: int = 0) -> Memory:
        """Allocate zeros for the array, and at least ``guard`` bytes on both sides of it."""
        before, after = self.extent
        most = self.alignment if before + after else _ALIGNMENT_OF_NONE
        alignment = max(min(self.alignment, most), _ALIGNMENT)
        shift = 0
        if self.least_aligned and before + after:
            alignment, shift = max(2 * self.least, _ALIGNMENT), self.least
        room = before + after + alignment + shift + max(_EXPORTED_BYTES, 2 * guard)
        memory = devices.active(self.device_type)
        if memory is None:
            zeros = numpy().zeros(room, "uint8")
            address = zeros.ctypes.data
        else:
            zeros, address = memory.allocate(self.device_id, room)
        offset = guard + before
        offset += -(address + offset) % alignment + shift
        if memory is not None:
            memory.limit(address, offset - before, offset + after)
        return Memory(zeros, offset, address)

    def place(self, framework: str, memory: Memory) -> Any:
        """Make the array with a framework, in memory that :meth:`allocate` returned.

        Raises:
            ValueError: the framework cannot represent it.
            ModuleNotFoundError: the framework is not installed.
        """
        if self.device_type != "cpu" and framework != "tvm_ffi":
            if framework != "numpy":
                raise ValueError(
                    f"make_args: {self.path} is on a fake device, where {framework} has no "
                    f"tensors; framework='numpy' makes a FakeArray, and 'tvm_ffi' a tvm_ffi.Tensor"
                )
            return FakeArray(self, memory)
        if framework == "torch":
            return self._torch(memory)
        return self._numpy(memory) if framework == "numpy" else self._tvm_ffi(memory)

    def _numpy(self, memory: Memory) -> Any:
        if str(self.dtype) not in NUMPY_NAMES:
            return self._tvm_ffi(memory)
        try:
            return self.view(memory.bytes, memory.offset)
        except (ValueError, OverflowError):  # empty, with a huge dimension or stride
            return self._tvm_ffi(memory)

    def _tvm_ffi(self, memory: Memory) -> Any:
        return importing.load("tvm_ffi").from_dlpack(_Exported(self, memory))

    def _torch(self, memory: Memory) -> Any:
        torch = needed("torch", "PyTorch")
        if any(stride < 0 for stride in self.strides):
            raise ValueError(
                f"make_args: {self.path} has the strides {list(self.strides)}, and PyTorch has no "
                f"negative ones; framework='numpy' does"
            )
        try:
            return torch.from_dlpack(_Exported(self, memory))
        except (BufferError, RuntimeError) as error:
            raise ValueError(
                f"make_args: {self.path} is {self.dtype}, of which PyTorch makes no tensor "
                f"({error}); framework='tvm_ffi' does"
            ) from error

    def view(self, bytes_: Any, offset: int) -> Any:
        """Return the array as a NumPy array in an array of uint8, the first element at ``offset``.

        Raises:
            ValueError, ModuleNotFoundError: as :func:`numpy_dtype`.
        """
        itemsize = self.dtype.total_bits // 8
        strides = [stride * itemsize for stride in self.strides]
        return numpy().ndarray(self.shape, numpy_dtype(str(self.dtype)), bytes_, offset, strides)

    def capsule(self, memory: Memory) -> Any:
        """Make a DLPack capsule of the array in this memory."""
        # NumPy exports the strides of a view that is not contiguous.
        shape = [1] * (len(self.shape) - 1) + [2] if self.shape else []
        view = numpy().ndarray(shape, "uint8", memory.bytes, memory.offset, [2] * len(shape))
        capsule = view.__dlpack__()
        tensor = _capsule_pointer(capsule, b"dltensor")
        assert tensor is not None
        kind = struct.pack("<BBH", *self.dtype)
        ctypes.memmove(tensor + abi.DLTENSOR_DTYPE, kind, len(kind))
        ctypes.c_uint64.from_address(tensor + abi.DLTENSOR_DATA).value = (
            memory.address + memory.offset
        )
        code = abi.DEVICE_TYPES[self.device_type]
        ctypes.c_int32.from_address(tensor + abi.DLTENSOR_DEVICE_TYPE).value = code
        ctypes.c_int32.from_address(tensor + abi.DLTENSOR_DEVICE_ID).value = self.device_id
        _write(tensor + abi.DLTENSOR_SHAPE, self.shape)
        _write(tensor + abi.DLTENSOR_STRIDES, self.strides)
        return capsule


_EXPORTED_BYTES: Final = 4
"""The size of the exported view, in bytes."""


class _Exported:
    """An array in the form that ``from_dlpack`` takes."""

    def __init__(self, array: Array, memory: Memory) -> None:
        self._array, self._memory = array, memory

    def __dlpack_device__(self) -> tuple[int, int]:
        return abi.DEVICE_TYPES[self._array.device_type], self._array.device_id

    def __dlpack__(self, **_: object) -> Any:
        return self._array.capsule(self._memory)


class FakeArray(_Exported):
    """An array on a device of a :class:`FakeCuda`, which compiled functions take as a tensor.

    :meth:`FakeCuda.array` and :func:`make_args` make them. ``array[1:, ::2]`` is a part of one, in
    the same memory. An array keeps its memory, also after the end of its ``FakeCuda``.

    Examples:
        >>> import numpy as np
        >>> from ffi_builder import testing
        >>> with testing.FakeCuda() as gpu:
        ...     x = gpu.array(np.arange(6, dtype="float32").reshape(2, 3))
        >>> x, x[1].numpy(), x[1].address - x.address
        (<FakeArray float32[2, 3] on cuda:0>, array([3., 4., 5.], dtype=float32), 12)
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return self._array.shape

    @property
    def dtype(self) -> str:
        """The name of the dtype."""
        return str(self._array.dtype)

    @property
    def device(self) -> int:
        """The number of the device."""
        return self._array.device_id

    @property
    def address(self) -> int:
        """The address of the first element, which the host must not use."""
        return self._memory.address + self._memory.offset

    def numpy(self) -> Any:
        """Return the array for the host: a NumPy array in the same memory, to read and to write.

        Raises:
            Exception: what an emulated kernel has raised since the last time.
            ValueError: NumPy and ml_dtypes lack the dtype.
            ModuleNotFoundError: ml_dtypes, which has the dtype, is not installed.
        """
        devices.raise_errors()
        return self._array.view(self._memory.bytes, self._memory.offset)

    def __getitem__(self, index: Any) -> FakeArray:
        array, memory = self._array, self._memory
        entries = cast("tuple[Any, ...]", index if isinstance(index, tuple) else (index,))
        basic = (int, numpy().integer, slice, type(...), type(None))
        if any(isinstance(entry, bool) or not isinstance(entry, basic) for entry in entries):
            raise IndexError(f"FakeArray: expected ints and slices, but got {index!r}")
        # With an ellipsis, all ints select an array without dimensions, and not a number.
        every = entries if any(entry is ... for entry in entries) else (*entries, ...)
        whole = array.view(memory.bytes, memory.offset)
        part = whole[every]
        made = Array(
            *(array.path, array.dtype, part.shape),
            tuple(stride // part.itemsize for stride in part.strides),
            device_id=array.device_id,
            device_type=array.device_type,
        )
        # One without elements may begin outside of the memory.
        distance = part.ctypes.data - whole.ctypes.data if part.size else 0
        return FakeArray(made, Memory(memory.bytes, memory.offset + distance, memory.address))

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        kind = self._array.device_type
        return f"<FakeArray {self.dtype}{list(self.shape)} on {kind}:{self.device}>"


def described(path: str, tensor: Any, alignment: int = 1) -> tuple[Array, int]:
    """Describe a ``tvm_ffi.Tensor``, and return the address of its first element on its device."""
    shape, strides = tuple(map(int, tensor.shape)), tuple(map(int, tensor.strides))
    dtype, device = parse_dtype(str(tensor.dtype)), tensor.device
    array = Array(path, dtype, shape, strides, alignment, device.index, device_type=device.type)
    if hasattr(tensor, "data_ptr"):
        return array, tensor.data_ptr()
    at = tensor.__chandle__() + abi.OBJECT_SIZE  # the DLTensor; before apache-tvm-ffi 0.1.13
    word = ctypes.c_uint64.from_address
    return array, word(at + abi.DLTENSOR_DATA).value + word(at + abi.DLTENSOR_BYTE_OFFSET).value


def numpy_dtype(name: str) -> Any:
    """Return the dtype of that name, of NumPy or ml_dtypes, whose elements have whole bytes.

    Raises:
        ValueError: there is none.
        ModuleNotFoundError: ml_dtypes is not installed.
    """
    if name in NUMPY_NAMES:
        return numpy().dtype(name)
    scalar_type = getattr(needed("ml_dtypes", "ml_dtypes", extra="testing"), name, None)
    if scalar_type is None or parse_dtype(name).total_bits % 8:
        raise ValueError(f"{name} is no dtype of NumPy or ml_dtypes with elements of whole bytes")
    return numpy().dtype(scalar_type)


def _write(field: int, values: Sequence[int]) -> None:
    """Overwrite the int64 values that a field points to."""
    if values:
        pointer = ctypes.c_uint64.from_address(field).value
        assert pointer, "NumPy exports the strides of what is not contiguous"
        (ctypes.c_int64 * len(values)).from_address(pointer)[:] = values


def numpy() -> Any:
    """Import NumPy. Importing :mod:`ffi_builder.testing` does not need it.

    Raises:
        ModuleNotFoundError: it is not installed.
    """
    return needed("numpy", "NumPy", extra="testing")


def needed(module: str, name: str, *, extra: str | None = None) -> Any:
    """Import a module that only some uses of :mod:`ffi_builder.testing` need.

    Raises:
        ModuleNotFoundError: it is not installed.
    """
    try:
        return importing.load(module)
    except ModuleNotFoundError as error:
        how = install(extra, name) if extra else f"pip install {module}"
        raise ModuleNotFoundError(f"testing needs {name} here: {how}", name=module) from error


def check_framework(what: str, framework: object) -> None:
    """Check that the framework is a known one; ``what`` begins the message.

    Raises:
        ValueError: it is not.
    """
    if framework not in FRAMEWORKS:
        raise ValueError(
            f"{what}framework: expected one of {', '.join(FRAMEWORKS)} but got {framework!r}"
            f"{did_you_mean(framework, FRAMEWORKS)}"
        )


# ---- the memory that arrays may take


def free_memory() -> int | None:
    """Return how many bytes can be used without swapping or being killed; None if unknown.

    It is the smaller of two numbers: the memory that Linux calls available, and the rest of the
    limit of the container's control group.
    """
    match = re.search(r"^MemAvailable:\s+(\d+) kB", _read(_MEMINFO), re.MULTILINE)
    free = [int(match[1]) * 1024] if match else []
    limit, used = (_read(_CGROUP / name).strip() for name in ("memory.max", "memory.current"))
    if limit.isdecimal() and used.isdecimal():
        free.append(max(int(limit) - int(used), 0))
    return min(free, default=None)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


# ---- layouts


def layout_of(
    tensor: spec.Tensor, symbols: Mapping[spec.Var, int | float]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return shape and strides in elements of ``dtype``, as the spec counts them.

    Every dimension of the tensor must have an entry. A stride that may have any value, or whose
    symbols have no values yet, is chosen so that elements do not overlap. Entries that do not fit
    int64 become 0; the caller refuses them.
    """
    shape = [_known(entry, symbols) or 0 for entry in tensor.dims]
    if tensor.order is not None:
        return tuple(shape), contiguous(shape, tensor.order)
    strides = [_known(entry, symbols) for entry in tensor.stride_entries or ()]
    for axis in reversed(range(len(shape))):
        if strides[axis] is None:
            pairs = zip(shape, strides, strict=True)
            extent = max([dim * abs(stride) for dim, stride in pairs if stride is not None] + [1])
            strides[axis] = -(-extent // tensor.packing) * tensor.packing
    return tuple(shape), tuple(stride or 0 for stride in strides)


def stored(
    tensor: spec.Tensor, shape: Sequence[int], strides: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return shape and strides as stored, in elements of the storage dtype."""
    axis, packing = tensor.packed_axis, tensor.packing
    if axis is None:
        return tuple(shape), tuple(strides)
    dims = tuple(dim // packing if i == axis else dim for i, dim in enumerate(shape))
    if tensor.order is not None:
        return dims, contiguous(dims, tensor.order)
    return dims, tuple(s if i == axis else s // packing for i, s in enumerate(strides))


def reach(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, int]:
    """Count the elements before the first one in memory, and those from it on."""
    if 0 in shape:
        return 0, 0
    steps = [(dim - 1) * stride for dim, stride in zip(shape, strides, strict=True)]
    return -sum(min(step, 0) for step in steps), 1 + sum(max(step, 0) for step in steps)


def room_for(tensor: spec.Tensor, shape: Sequence[int], strides: Sequence[int]) -> int:
    """Return how many bytes the tensor and its alignment need."""
    bits = parse_dtype(tensor.element_dtypes[0]).total_bits
    elements = sum(reach(*stored(tensor, shape, strides)))
    return -(-elements * bits // 8) + (tensor.data_alignment or 0 if elements else 0)


def _known(entry: spec.Dim | None, symbols: Mapping[spec.Var, int | float]) -> int | None:
    """Return the value of an entry; None if it may have any value, or is not known yet."""
    if entry is None or any(var not in symbols for var in variables(entry)):
        return None
    return evaluate(entry, lambda var: symbols[var]) or 0
