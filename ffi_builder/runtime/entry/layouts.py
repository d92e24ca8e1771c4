"""Where objects have what the extension reads, found or compared on objects of known contents.

Each function returns a layout, or raises LayoutError with the reason why there is none that can
be relied upon. None of them writes to memory.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_IMPL_WORDS: Final = 24
"""How far the last field of a TensorImpl is looked for, the dispatch keys."""
_META_WORDS: Final = 16
"""How much of an AutogradMeta is looked at: it has 24 words or more."""
_COUNTER_WORDS: Final = 3
"""What a version counter has at least: a vtable, a reference count, the version."""


class LayoutError(Exception):
    """An object is not laid out as expected; the text is a reason to show."""


def words(address: int, count: int) -> list[int]:
    """The 64-bit words at an address."""
    return list((ctypes.c_uint64 * count).from_address(address))


def _expect(right: bool, reason: str) -> None:
    if not right:
        raise LayoutError(reason)


def _only(offsets: Iterable[int], what: str) -> int:
    """The one offset that is left."""
    found = list(offsets)
    _expect(len(found) == 1, f"{what} is at {found or 'no offset'}")
    return found[0]


def address_of(library: ctypes.CDLL, symbol: str) -> int:
    """The address of a function. Raises LayoutError if the library has none of that name."""
    try:
        found = ctypes.cast(library[symbol], ctypes.c_void_p).value
    except AttributeError:
        found = None
    if found is None:
        raise LayoutError(f"{symbol} is not in {Path(str(library._name)).name}")
    return found


# ---- tvm-ffi


@dataclass(frozen=True)
class FunctionLayout:
    """Where a `tvm_ffi.Function` has its handle and its `release_gil`; `size` is the whole."""

    size: int
    handle: int
    release_gil: int


def function_layout(functions: Sequence[Any]) -> FunctionLayout:
    """Of the class of these `tvm_ffi.Function`s, whose `release_gil` is switched on and off."""
    size: int = type(functions[0]).__basicsize__
    handle = _only(_handles(functions), "the handle of a tvm_ffi.Function")
    function = functions[0]
    before = function.release_gil
    numbers = (ctypes.c_int32 * (size // 4)).from_address(id(function))
    function.release_gil = True
    on = list(numbers)
    function.release_gil = False
    off = list(numbers)
    function.release_gil = before
    changed = [4 * at for at in range(size // 4) if on[at] != off[at]]
    release_gil = _only(changed, "release_gil of a tvm_ffi.Function")
    _expect((on[release_gil // 4], off[release_gil // 4]) == (1, 0), "release_gil is no int")
    return FunctionLayout(size, handle, release_gil)


def _handles(objects: Sequence[Any]) -> Iterator[int]:
    """Offsets at which each object has its handle."""
    _expect(all(item.__chandle__() for item in objects), "a handle is NULL")
    size: int = type(objects[0]).__basicsize__
    for at in range(16, size, 8):
        if all(words(id(item) + at, 1) == [item.__chandle__()] for item in objects):
            yield at


# ---- NumPy

DTypes = dict[int, tuple[int, int]]
"""DLPack's code and bits, by a framework's number for the type."""

_NUMPY_CODES: Final = {"b": 6, "i": 0, "u": 1, "f": 2, "c": 5}


def numpy_dtypes(np: Any) -> DTypes:
    """What of NumPy's types DLPack has; compares the layout of arrays with the one in C."""
    found: DTypes = {}
    for letter in "?bBhHiIlLqQefdFD":
        dtype = np.dtype(letter)
        number: int = dtype.num
        _expect(0 <= number < 64, f"dtype {dtype} has the number {number}")
        _check_dtype(dtype)
        found[number] = (_NUMPY_CODES[dtype.kind], 8 * dtype.itemsize)
    _check_dtype(np.dtype(">f4"))
    for array in _numpy_samples(np):
        _check_array(np, array)
    return found


def _numpy_samples(np: Any) -> Iterator[Any]:
    whole = np.zeros((5, 7, 3), "float64")
    frozen = np.zeros(3, "uint8")
    frozen.flags.writeable = False
    yield from (np.zeros((), "int32"), whole, whole[1::2, ::-1], whole.T, whole[:0], frozen)
    yield np.frombuffer(bytes(9), "int8")[1:9].view("int64")


def _check_array(np: Any, array: Any) -> None:
    at = id(array)
    ndim: int = array.ndim
    _expect(words(at + 16, 1) == [array.__array_interface__["data"][0]], "ndarray: data")
    _expect(ctypes.c_int32.from_address(at + 24).value == ndim, "ndarray: number of dimensions")
    for offset, numbers in ((32, array.shape), (40, array.strides)):
        if ndim:
            read = (ctypes.c_int64 * ndim).from_address(words(at + offset, 1)[0])
            _expect(tuple(read) == numbers, "ndarray: shape and strides")
    _expect(words(at + 56, 1) == [id(array.dtype)], "ndarray: dtype")
    flags = ctypes.c_uint32.from_address(at + 64).value
    aligned, writeable = array.flags.aligned, array.flags.writeable
    _expect((bool(flags & 0x100), bool(flags & 0x400)) == (aligned, writeable), "ndarray: flags")


def _check_dtype(dtype: Any) -> None:
    order = ctypes.c_char.from_address(id(dtype) + 26).value
    number = ctypes.c_int32.from_address(id(dtype) + 28).value
    _expect((order.decode("latin-1"), number) == (dtype.byteorder, dtype.num), f"dtype {dtype}")


# ---- PyTorch


class _Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", ctypes.c_uint64),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class ExchangeApi(ctypes.Structure):
    """DLPackExchangeAPI: its functions as addresses."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("older", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("to_managed", ctypes.c_void_p),
        ("from_managed", ctypes.c_void_p),
        ("borrow", ctypes.c_void_p),
        ("current_stream", ctypes.c_void_p),
    )


def exchange_api(cls: Any) -> int:
    """The address of the exchange API of a class. Raises LayoutError if it is of no use."""
    capsule: Any = getattr(cls, "__dlpack_c_exchange_api__", None)
    _expect(capsule is not None, f"{cls.__name__} has no exchange API")
    address: int = capsule
    if not isinstance(capsule, int):
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        try:
            address = pointer(capsule, b"dlpack_exchange_api")
        except ValueError as error:
            raise LayoutError(f"the exchange API of {cls.__name__}: {error}") from None
    api = ExchangeApi.from_address(address)
    _expect(api.major == 1, f"the exchange API of {cls.__name__} has version {api.major}")
    _expect(api.borrow is not None, f"the exchange API of {cls.__name__} borrows nothing")
    return address


@dataclass(frozen=True)
class TorchLayout:
    """What `_entry.use_torch` takes, in its order."""

    dtypes: DTypes
    offsets: tuple[int, int, int, int, int, int]
    keys: tuple[int, int]
    api: int
    addresses: tuple[int, ...]


_SHIM: Final = [
    f"aoti_torch_{name}"
    for name in (
        "get_data_ptr",
        "get_dim",
        "get_sizes",
        "get_strides",
        "get_dtype",
        "get_device_type",
        "get_device_index",
        "grad_mode_is_enabled",
    )
]
_REQUIRES_GRAD: Final = "_ZNK3c1010TensorImpl13requires_gradEv"


def torch_layout(torch: Any) -> TorchLayout:
    """Of exact `torch.Tensor`s and Parameters."""
    folder = Path(torch.__file__).parent / "lib"
    try:
        shim, core = (ctypes.CDLL(str(folder / f"lib{name}.so")) for name in ("torch_cpu", "c10"))
    except OSError as error:
        raise LayoutError(str(error)) from None
    addresses = (*(address_of(shim, name) for name in _SHIM), address_of(core, _REQUIRES_GRAD))
    api = exchange_api(torch.Tensor)
    with torch.inference_mode(mode=False), torch.enable_grad():
        offsets = _torch_offsets(torch)
        impl = offsets[0]
        _check_shim(torch, shim, api, impl)
        dtypes = _torch_dtypes(torch, shim, api, impl)
    return TorchLayout(dtypes, offsets, _torch_keys(torch), api, addresses)


def _torch_keys(torch: Any) -> tuple[int, int]:
    """The dispatch keys that a tensor may have, and those that it must have."""
    key_set, key = torch._C.DispatchKeySet, torch._C.DispatchKey
    allowed: int = torch._C._dispatch_keys(torch.zeros(1)).raw_repr()
    if torch.version.hip is None:  # AMD's devices are called CUDA in torch, and not in DLPack
        allowed |= key_set(key.CUDA).raw_repr()
    needed: int = key_set(key.Dense).raw_repr()
    _expect(bool(needed) and needed & allowed == needed, "the dispatch keys")
    wrong = _conjugate(torch).raw_keys + [
        torch._C._dispatch_keys(item).raw_repr()
        for item in (torch.zeros(2, 2).to_sparse(), torch.zeros(1, device="meta"))
    ]
    _expect(all(keys & ~allowed for keys in wrong), "keys of tensors that are not plain")
    return allowed, needed


@dataclass(frozen=True)
class _Views:
    """A conjugate view and a negative one."""

    tensors: list[Any]
    raw_keys: list[int]


def _conjugate(torch: Any) -> _Views:
    conjugate = torch.zeros(2, dtype=torch.complex64).conj()
    tensors = [conjugate, conjugate.imag]
    return _Views(tensors, [torch._C._dispatch_keys(item).raw_repr() for item in tensors])


def _torch_offsets(torch: Any) -> tuple[int, int, int, int, int, int]:
    plain = [torch.zeros(3), torch.zeros(2, 2, dtype=torch.int8), torch.zeros(())]
    leaf = torch.zeros(3, requires_grad=True)
    graph = [leaf, leaf * 2, torch.nn.Parameter(torch.zeros(2))]
    tensors = [*plain, *graph, *_conjugate(torch).tensors]
    size: int = torch.Tensor.__basicsize__
    impl = _only(
        (
            at
            for at in range(16, size, 8)
            if all(words(id(item) + at, 1) == [item._cdata] for item in tensors)
        ),
        "the at::Tensor in a torch.Tensor",
    )
    # Before torch 2.10 a flag stood before it: whether the at::Tensor is another's.
    _expect(impl == 16, f"the at::Tensor in a torch.Tensor is at {impl}")

    def offsets(right: Callable[[int], bool], end: int = _IMPL_WORDS) -> Iterator[int]:
        return (8 * at for at in range(2, end) if right(at))

    def word(tensor: Any, at: int) -> int:
        return words(tensor._cdata + 8 * at, 1)[0]

    keys = _only(
        offsets(
            lambda at: all(
                word(item, at) == torch._C._dispatch_keys(item).raw_repr() for item in tensors
            )
        ),
        "the dispatch keys",
    )
    autograd = _only(
        offsets(
            lambda at: (
                not any(word(item, at) for item in plain) and all(word(item, at) for item in graph)
            ),
            keys // 8,
        ),
        "the autograd metadata",
    )
    counter, version = _torch_version(torch, range(2, keys // 8), word)
    return impl, keys, autograd, _torch_tangent(torch, autograd, graph), counter, version


def _torch_version(
    torch: Any, places: Iterable[int], word: Callable[[Any, int], int]
) -> tuple[int, int]:
    """Where the version counter is, and the version in it: `detach` shares it, `data` does not."""
    tensors: list[Any] = []
    for version in (2, 5, 9):
        tensor = torch.zeros(2)
        for _ in range(version):
            tensor.zero_()
        _expect(tensor._version == version, "a version")
        tensors.append(tensor)
    others = [(item, item.detach(), item.data) for item in tensors]
    counter = _only(
        (
            8 * at
            for at in places
            if all(
                0 != word(item, at) == word(detached, at) != word(data, at)
                for item, detached, data in others
            )
        ),
        "the version counter",
    )
    halves = 2 * _COUNTER_WORDS
    counters = [
        (ctypes.c_uint32 * halves).from_address(word(item, counter // 8)) for item in tensors
    ]
    version = _only(
        (
            4 * at
            for at in range(2, halves)
            if [read[at] for read in counters] == [item._version for item in tensors]
        ),
        "the version",
    )
    return counter, version


def _torch_tangent(torch: Any, autograd: int, graph: list[Any]) -> int:
    """Where autograd metadata has the tangent of forward-mode AD."""

    def meta(tensor: Any) -> list[int]:
        return words(words(tensor._cdata + autograd, 1)[0], _META_WORDS)

    without = [meta(item) for item in graph]
    # What torch.autograd.forward_ad calls; that itself imports much else.
    level = torch._C._enter_dual_level()
    try:
        make = torch._VF._make_dual
        duals = [make(torch.zeros(2), torch.ones(2), level=level) for _ in range(3)]
        have = [meta(item) for item in duals]
    finally:
        torch._C._exit_dual_level(level=level)
    found = [
        8 * at
        for at in range(1, _META_WORDS)
        if not any(read[at] for read in without) and all(read[at] for read in have)
    ]
    _expect(bool(found), "the tangent is at no offset")
    return found[0]


def _torch_dtypes(torch: Any, shim: ctypes.CDLL, api: int, impl: int) -> DTypes:
    found: DTypes = {}
    names = (
        "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
        "complex64 complex128 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz "
        "float8_e8m0fnu"
    )
    for name in names.split():
        if (dtype := getattr(torch, name, None)) is None:
            continue
        tensor = torch.empty(1, dtype=dtype)
        borrowed = _borrowed(api, tensor)
        if borrowed.lanes == 1:
            number = ctypes.c_int32()
            _ask(shim, "dtype", tensor, impl, number)
            _expect(0 <= number.value < 64, f"{name} has the number {number.value}")
            found[number.value] = (borrowed.code, borrowed.bits)
    return found


def _check_shim(torch: Any, shim: ctypes.CDLL, api: int, impl: int) -> None:
    """The shim and the exchange API say the same of some tensors."""
    whole = torch.zeros(5, 7, 3)
    for tensor in (whole, whole[1:, ::2], whole.mT, torch.zeros(2, 3, 1, 4, 1, 2, 2)):
        borrowed = _borrowed(api, tensor)
        data, ndim = ctypes.c_uint64(), ctypes.c_int64()
        _ask(shim, "data_ptr", tensor, impl, data)
        _ask(shim, "dim", tensor, impl, ndim)
        right = (data.value, ndim.value) == (borrowed.data, borrowed.ndim)
        device = ctypes.c_int32(-1)
        _ask(shim, "device_type", tensor, impl, device)
        right &= (device.value, borrowed.device_type, borrowed.byte_offset) == (0, 1, 0)
        for what, given in (("sizes", borrowed.shape), ("strides", borrowed.strides)):
            numbers = ctypes.POINTER(ctypes.c_int64)()
            _ask(shim, what, tensor, impl, numbers)
            right &= numbers[: tensor.ndim] == given[: tensor.ndim]
        _expect(right, "torch's C shim and its exchange API differ")


def _ask(shim: ctypes.CDLL, what: str, tensor: Any, impl: int, out: Any) -> None:
    function = shim[f"aoti_torch_get_{what}"]
    failed = function(ctypes.c_void_p(id(tensor) + impl), ctypes.byref(out))
    _expect(failed == 0, f"aoti_torch_get_{what} failed")


def _borrowed(api: int, tensor: Any) -> _Tensor:
    signature = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(_Tensor))
    out = _Tensor()
    failed = signature(ExchangeApi.from_address(api).borrow)(tensor, ctypes.byref(out))
    _expect(failed == 0, "the exchange API of torch failed")
    return out
