"""Tensors of memory that is not in an array: DLPack's capsules, and the buffer protocol.

The extension reads buffers by the same rules (`entry/_buffers.h`), if a kernel only borrows them.
"""

from __future__ import annotations

import atexit
import ctypes
import sys
from typing import Any, Final, cast

import tvm_ffi

from ffi_builder.runtime.bindings import capsule_name, capsule_pointer, new_capsule
from ffi_builder.runtime.python.dlpack import DLTensor, Managed
from ffi_builder.runtime.python.position import Position

_CPU: Final = 1
_READ_ONLY: Final = 1
"""The flag of a managed tensor that must not be written."""
_MAJOR: Final = 1
"""The version of DLPack whose layout this is."""
_NAME: Final = b"dltensor"
_VERSIONED: Final = b"dltensor_versioned"


def is_capsule(cls: type[object]) -> bool:
    """Return whether a class is Python's of capsules, which has a name since Python 3.13."""
    return (cls.__module__, cls.__qualname__) == ("builtins", "PyCapsule")


def tensor_of_capsule(capsule: Any, at: Position) -> Any:
    """Return a tensor that owns what a capsule of DLPack holds; the capsule is used up then.

    Raises ValueError for one that is used up already, or is read-only and must not be, and
    TypeError for another capsule.
    """
    name: bytes | None = capsule_name(capsule)
    if name in (b"used_" + _NAME, b"used_" + _VERSIONED):
        raise at.mismatch(
            "a DLPack capsule that holds a tensor",
            f'one that is used up ("{name.decode()}"): each call takes a new one of __dlpack__()',
        )
    if name == _VERSIONED:
        managed = Managed.from_address(capsule_pointer(capsule, name))
        if managed.major != _MAJOR:
            version = f"{managed.major}.{managed.minor}"
            raise at.mismatch(f"a DLPack capsule of version {_MAJOR}", f"one of version {version}")
        if managed.flags & _READ_ONLY and at.intent != "in":
            raise at.read_only("a read-only DLPack capsule")
    elif name != _NAME:
        shown = "without a name" if name is None else f'named "{name.decode(errors="replace")}"'
        raise at.mismatched_type("Tensor", f"a capsule {shown}, which is not DLPack's")
    return tvm_ffi.from_dlpack(capsule)


# ---- the buffer protocol

_NATIVE: Final = "@=<" if sys.byteorder == "little" else "@=>!"
"""The first letters of formats whose bytes are in this machine's order."""
_CODES: Final[dict[str, int]] = {
    **dict.fromkeys("bhilqn", 0),
    **dict.fromkeys("BHILQN", 1),
    **dict.fromkeys("efd", 2),
    **dict.fromkeys(("Zf", "Zd", "F", "D"), 5),
    "?": 6,
}
"""DLPack's code, by the format. The bits are those of an item, since sizes of letters vary."""
_TEXT: Final = ("c", "s", "p", "u", "w")


def tensor_of_buffer(value: Any, at: Position) -> Any:
    """Return a tensor on the memory of an object with the buffer protocol, which it holds.

    Any other value is returned unchanged. Raises TypeError for a format that is no dtype, and
    ValueError for memory that is gone, or that is read-only and must not be.
    """
    name = _name(cast("type[object]", type(value)))
    try:
        view = memoryview(value)
    except TypeError:
        return value
    except (BufferError, ValueError) as error:
        raise at.mismatch("a buffer that gives its memory", f"{name}: {error}") from error
    code = _CODES.get(view.format.lstrip(_NATIVE))
    if code is None:
        shown = f"{name} of format {view.format!r}, which is {_why_not(view.format, at)}"
        raise at.mismatched_type("Tensor", shown)
    if view.readonly and at.intent != "in":
        raise at.read_only(f"a read-only buffer ({name})")
    strides = view.strides or ()
    if view.suboffsets or any(stride % view.itemsize for stride in strides):
        odd = f"{name} of strides {strides} in bytes, of items of {view.itemsize}: copy it"
        raise at.mismatch("a buffer whose items are whole strides apart", odd)
    return tvm_ffi.from_dlpack(_capsule_of(view, code))


def _name(kind: type[object]) -> str:
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")


def _why_not(form: str, at: Position) -> str:
    if form[:1] in "<>=!" and form[0] not in _NATIVE:
        return "of swapped bytes: copy its items to this machine's byte order"
    if form.endswith(_TEXT):
        return f"text: np.frombuffer({at.path}, 'uint8') makes an array of its bytes"
    return "no dtype: pass a buffer of ints, bools, floats or complex numbers"


class _PyBuffer(ctypes.Structure):
    """Python's `Py_buffer`."""

    _fields_ = (("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("rest", ctypes.c_int64 * 8))


_get_buffer: Final = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_int
)(("PyObject_GetBuffer", ctypes.pythonapi))
_release_buffer: Final = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(
    ("PyBuffer_Release", ctypes.pythonapi)
)
_FULL_RO: Final = 0x11C
"""`PyBUF_FULL_RO`."""


def _address(view: memoryview) -> int | None:
    """Return the address of the first item, which is valid as long as the view is."""
    buffer = _PyBuffer()
    _get_buffer(view, ctypes.addressof(buffer), _FULL_RO)
    address = buffer.buf
    _release_buffer(ctypes.addressof(buffer))
    return address


_Deleter: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_held: Final[dict[int, tuple[Managed, object, memoryview]]] = {}
"""The tensors that were made and not dropped, by address, with what they need."""


@_Deleter
def _drop(address: int) -> None:
    del _held[address]


@atexit.register
def _keep_the_rest() -> None:
    """Replace the deleter of tensors that outlive Python by a function that does nothing."""
    nothing = ctypes.cast(ctypes.pythonapi.Py_IsInitialized, ctypes.c_void_p).value
    for managed, *_ in _held.values():
        managed.deleter = nothing


def _capsule_of(view: memoryview, code: int) -> object:
    size = view.itemsize
    numbers = (*(view.shape or ()), *(stride // size for stride in view.strides or ()))
    dims = (ctypes.c_int64 * len(numbers))(*numbers)
    shape = ctypes.addressof(dims)
    strides = shape + 8 * view.ndim
    tensor = DLTensor(_address(view), _CPU, 0, view.ndim, code, 8 * size, 1, shape, strides, 0)
    deleter = ctypes.cast(_drop, ctypes.c_void_p)
    managed = Managed(_MAJOR, 0, None, deleter, 0, tensor)
    address = ctypes.addressof(managed)
    _held[address] = managed, dims, view
    return new_capsule(address, _VERSIONED, None)
