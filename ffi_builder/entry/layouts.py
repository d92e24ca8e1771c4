"""Finds the offsets at which the extension reads, or verifies them, on objects with known contents.

Each function returns a layout, or raises LayoutError with the reason why it found no reliable one.
No function writes to memory.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

from ffi_builder.runtime.extending import DLTensor


class LayoutError(Exception):
    """An object is not laid out as expected. The text is a reason for users."""


def words(address: int, count: int) -> list[int]:
    """Read 64-bit words at an address."""
    return list((ctypes.c_uint64 * count).from_address(address))


def expect(condition: bool, reason: str) -> None:
    """Raise LayoutError unless `right`."""
    if not condition:
        raise LayoutError(reason)


def only(offsets: Iterable[int], what: str) -> int:
    """Return the single item of `offsets`. Raises LayoutError if there is none, or several."""
    places = list(offsets)
    expect(len(places) == 1, f"{what} is at {places or 'no offset'}")
    return places[0]


def slot(cls: Any, name: str) -> int:
    """Return the offset of a slot in the instances of a class."""
    instance = cls.__new__(cls)
    value = object()
    setattr(instance, name, value)
    content = words(id(instance), cls.__basicsize__ // 8)
    return only((8 * at for at, word in enumerate(content) if word == id(value)), f"{cls}.{name}")


def contents_of_pointer() -> int:
    """Return the offset at which a ``c_void_p`` has the address of what it contains."""
    one, other = ctypes.c_void_p(1), ctypes.c_void_p(2)
    offsets = range(0, ctypes.c_void_p.__basicsize__, 8)

    def has(pointer: ctypes.c_void_p, at: int) -> bool:
        return words(id(pointer) + at, 1) == [ctypes.addressof(pointer)]

    return only((at for at in offsets if has(one, at) and has(other, at)), "a c_void_p's address")


def address_of(library: ctypes.CDLL, symbol: str) -> int:
    """Return the address of a function. Raises LayoutError if the library lacks it."""
    try:
        address = ctypes.cast(library[symbol], ctypes.c_void_p).value
    except AttributeError:
        address = None
    if address is None:
        raise LayoutError(f"{symbol} is not in {Path(str(library._name)).name}")
    return address


# ---- tvm-ffi


class FunctionLayout(NamedTuple):
    """The size of a `tvm_ffi.Function`, and the offsets of `handle` and `release_gil` in it."""

    size: int
    handle: int
    release_gil: int


def function_layout(functions: Sequence[Any]) -> FunctionLayout:
    """Find the layout of `tvm_ffi.Function`s, by switching `release_gil` on and off."""
    size: int = type(functions[0]).__basicsize__
    handle = only(_handles(functions), "the handle of a tvm_ffi.Function")
    function = functions[0]
    before = function.release_gil
    numbers = (ctypes.c_int32 * (size // 4)).from_address(id(function))
    function.release_gil = True
    on = list(numbers)
    function.release_gil = False
    off = list(numbers)
    function.release_gil = before
    changed = [4 * at for at in range(size // 4) if on[at] != off[at]]
    release_gil = only(changed, "release_gil of a tvm_ffi.Function")
    expect((on[release_gil // 4], off[release_gil // 4]) == (1, 0), "release_gil is no int")
    return FunctionLayout(size, handle, release_gil)


def _handles(objects: Sequence[Any]) -> Iterator[int]:
    """Offsets at which each object has its handle."""
    expect(all(item.__chandle__() for item in objects), "a handle is NULL")
    size: int = type(objects[0]).__basicsize__
    for at in range(16, size, 8):
        if all(words(id(item) + at, 1) == [item.__chandle__()] for item in objects):
            yield at


# ---- NumPy

DTypes = dict[int, tuple[int, int]]
"""DLPack's code and bits, by a framework's number for the type."""

_NUMPY_CODES: Final = {"b": 6, "i": 0, "u": 1, "f": 2, "c": 5}


def numpy_dtypes(np: Any) -> DTypes:
    """Return the NumPy types that DLPack has, after checking the layout that C relies on."""
    dtypes: DTypes = {}
    for letter in "?bBhHiIlLqQefdFD":
        dtype = np.dtype(letter)
        number: int = dtype.num
        expect(0 <= number < 64, f"dtype {dtype} has the number {number}")
        _check_dtype(dtype)
        dtypes[number] = (_NUMPY_CODES[dtype.kind], 8 * dtype.itemsize)
    _check_dtype(np.dtype(">f4"))
    for array in _numpy_samples(np):
        _check_array(np, array)
    return dtypes


def _numpy_samples(np: Any) -> Iterator[Any]:
    whole = np.zeros((5, 7, 3), "float64")
    frozen = np.zeros(3, "uint8")
    frozen.flags.writeable = False
    yield from (np.zeros((), "int32"), whole, whole[1::2, ::-1], whole.T, whole[:0], frozen)
    yield np.frombuffer(bytes(9), "int8")[1:9].view("int64")


def _check_array(np: Any, array: Any) -> None:
    at = id(array)
    ndim: int = array.ndim
    expect(words(at + 16, 1) == [array.__array_interface__["data"][0]], "ndarray: data")
    expect(ctypes.c_int32.from_address(at + 24).value == ndim, "ndarray: number of dimensions")
    for offset, numbers in ((32, array.shape), (40, array.strides)):
        if ndim:
            read = (ctypes.c_int64 * ndim).from_address(words(at + offset, 1)[0])
            expect(tuple(read) == numbers, "ndarray: shape and strides")
    expect(words(at + 56, 1) == [id(array.dtype)], "ndarray: dtype")
    flags = ctypes.c_uint32.from_address(at + 64).value
    aligned, writeable = array.flags.aligned, array.flags.writeable
    expect((bool(flags & 0x100), bool(flags & 0x400)) == (aligned, writeable), "ndarray: flags")


def _check_dtype(dtype: Any) -> None:
    order = ctypes.c_char.from_address(id(dtype) + 26).value
    number = ctypes.c_int32.from_address(id(dtype) + 28).value
    expect((order.decode("latin-1"), number) == (dtype.byteorder, dtype.num), f"dtype {dtype}")


# ---- PyTorch


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
    """Return the address of the exchange API of a class. Raises LayoutError if it is of no use."""
    capsule: Any = getattr(cls, "__dlpack_c_exchange_api__", None)
    expect(capsule is not None, f"{cls.__name__} has no exchange API")
    address: int = capsule
    if not isinstance(capsule, int):
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        try:
            address = pointer(capsule, b"dlpack_exchange_api")
        except ValueError as error:
            raise LayoutError(f"the exchange API of {cls.__name__}: {error}") from None
    api = ExchangeApi.from_address(address)
    expect(api.major == 1, f"the exchange API of {cls.__name__} has version {api.major}")
    expect(api.borrow is not None, f"the exchange API of {cls.__name__} borrows nothing")
    return address


# ---- tensors of PyTorch

_impl_of: Final = attrgetter("_cdata")
"""Returns the address of the TensorImpl of a tensor."""
_version_of: Final = attrgetter("_version")
_IMPL_WORDS: Final = 24
"""The number of words of a TensorImpl in which to search for its last field, the dispatch keys."""
_META_WORDS: Final = 16
"""The number of words of an AutogradMeta to search; it has at least 24."""
_CONTROL_BLOCK: Final = 16
"""The size of libstdc++'s control block. std::make_shared puts the object after it."""
_COUNTER_WORDS: Final = 3
"""The least number of words of a version counter: a vtable, a reference count, the version."""


class TorchLayout(NamedTuple):
    """The arguments of `_entry.use_torch`, in its order."""

    dtypes: DTypes
    offsets: tuple[int, int, int, int, int, int]
    keys: tuple[int, int, int, int]
    local_keys: int
    api: int
    addresses: tuple[int, ...]


SHIM: Final = [
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
REQUIRES_GRAD: Final = "_ZNK3c1010TensorImpl13requires_gradEv"
FORWARD_GRADIENT: Final = "_ZNK3c1010TensorImpl8_fw_gradEmRKN2at10TensorBaseE"


LOCAL_KEYS: Final = "_ZN3c104impl26raw_local_dispatch_key_setE"
FUNCTION_MODE: Final = "_ZN2at4impl27torch_function_mode_enabledEv"


def modes(torch: Any) -> tuple[int, int]:
    """Find torch's function that says whether a function mode is on, and the keys of autocast.

    Return the arguments of `_entry.use_modes`. Both are tried with modes on and off.

    Raises:
        LayoutError: torch lacks the function, or it gives a wrong answer.
    """
    cpu, core = _libraries(torch, "torch_cpu", "c10")
    address = address_of(cpu, FUNCTION_MODE)
    function = ctypes.CFUNCTYPE(ctypes.c_bool)(address)
    with torch.overrides.BaseTorchFunctionMode():
        expect(function(), "function modes are not seen")
    expect(function() == torch._C._is_torch_function_mode_enabled(), "function modes differ")
    autocast = _autocast_keys(torch)
    excluded = _local_keys(core) + 8
    with torch._C._ExcludeDispatchKeyGuard(autocast):
        seen = [words(excluded, 1)[0] & autocast.raw_repr()]
        with torch.autocast("cpu"):
            seen += [words(excluded, 1)[0] & autocast.raw_repr()]
    expect(not seen[0] and bool(seen[1]), "autocast is not seen")
    return address, autocast.raw_repr()


def _libraries(torch: Any, *names: str) -> list[ctypes.CDLL]:
    folder = Path(torch.__file__).parent / "lib"
    try:
        return [ctypes.CDLL(str(folder / f"lib{name}.so")) for name in names]
    except OSError as error:
        raise LayoutError(str(error)) from None


def _local_keys(core: ctypes.CDLL) -> int:
    """Return where this thread has the dispatch keys that it adds, and those that it leaves out."""
    try:
        return ctypes.addressof(ctypes.c_char.in_dll(core, LOCAL_KEYS))
    except ValueError:
        raise LayoutError(f"{LOCAL_KEYS} is not in {Path(str(core._name)).name}") from None


def _autocast_keys(torch: Any) -> Any:
    """Return the dispatch keys of autocast on all devices."""
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)
    for name, key in torch._C.DispatchKey.__members__.items():
        if name.startswith("Autocast"):
            keys |= torch._C.DispatchKeySet(key)
    return keys


def torch_layout(torch: Any) -> TorchLayout:
    """Find the layout of exact `torch.Tensor`s and Parameters."""
    shim, core = _libraries(torch, "torch_cpu", "c10")
    addresses = (*(address_of(shim, name) for name in SHIM), address_of(core, REQUIRES_GRAD))
    api = exchange_api(torch.Tensor)
    with torch.inference_mode(mode=False), torch.enable_grad():
        offsets = _torch_offsets(torch)
        impl = offsets[0]
        _check_shim(torch, shim, api, impl)
        dtypes = _torch_dtypes(torch, shim, api, impl)
        forward = address_of(core, FORWARD_GRADIENT)
        addresses = (*addresses, forward, _undefined(torch, forward, impl))
    local_keys = _local_keys(core)
    keys = (*_torch_keys(torch), _watching_keys(torch, local_keys))
    return TorchLayout(dtypes, offsets, keys, local_keys, api, addresses)


@contextmanager
def _dual_level(torch: Any) -> Generator[Callable[..., Any]]:
    """Enter a level of forward-mode AD, and yield a function that makes dual tensors.

    torch.autograd.forward_ad calls the same functions, but its `make_dual` imports much else.
    """
    enter, leave = torch._C._enter_dual_level, torch._C._exit_dual_level
    make = torch._VF._make_dual
    level = enter()
    try:
        yield partial(make, level=level)
    finally:
        leave(level=level)


def _undefined(torch: Any, forward_gradient: int, impl: int) -> int:
    """Return the TensorImpl that is the tangent of tensors without one."""
    get = ctypes.PYFUNCTYPE(
        ctypes.POINTER(ctypes.c_uint64), ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p
    )(forward_gradient)

    def tangent(tensor: Any) -> int:
        return int(get(_impl_of(tensor), 0, id(tensor) + impl)[0])

    base = torch.zeros(4)
    view = base[:2]
    without = {tangent(item) for item in (base, view, torch.zeros(2, requires_grad=True))}
    with _dual_level(torch) as make_dual:
        base.copy_(make_dual(torch.zeros(4), torch.ones(4)))
        have = [tangent(item) for item in (base, view)]
    expect(len(without) == 1 and not without.intersection(have), "tangents of views")
    return without.pop()


def _watching_keys(torch: Any, local_keys: int) -> int:
    """Return the dispatch keys of which a thread adds one while a mode or a trace is on."""
    watching = 0
    # Modes, modes that come before autograd, and traces of `torch.jit` have these keys.
    for name in ("PythonTLSSnapshot", "PreDispatch", "Tracer"):
        key = torch._C._parse_dispatch_key(name)
        bit: int = torch._C.DispatchKeySet(key).raw_repr()
        seen = [bool(words(local_keys, 1)[0] & bit)]
        with torch._C._IncludeDispatchKeyGuard(key):
            seen += [bool(words(local_keys, 1)[0] & bit)]
        expected = [torch._C._dispatch_tls_is_dispatch_key_included(name), True]
        expect(seen == expected, f"the dispatch key {name} is not seen")
        watching |= bit
    return watching


def _torch_keys(torch: Any) -> tuple[int, int, int]:
    """Return the dispatch keys that a tensor may have, that it must have, and that of the CPU."""
    key_set, key = torch._C.DispatchKeySet, torch._C.DispatchKey
    allowed: int = torch._C._dispatch_keys(torch.zeros(1)).raw_repr()
    if torch.version.hip is None:  # torch calls AMD's devices CUDA, and DLPack does not
        # Each tensor has the key of autocast on its device, also while autocast is off.
        allowed |= key_set(key.CUDA).raw_repr() | key_set(key.AutocastCUDA).raw_repr()
    needed: int = key_set(key.Dense).raw_repr()
    expect(bool(needed) and needed & allowed == needed, "the dispatch keys")
    others = torch.zeros(2, 2).to_sparse(), torch.zeros(1, device="meta")
    wrong = [torch._C._dispatch_keys(item).raw_repr() for item in (*_conjugate(torch), *others)]
    expect(all(keys & ~allowed for keys in wrong), "keys of tensors that are not plain")
    cpu: int = key_set(key.CPU).raw_repr() & ~key_set(key.CUDA).raw_repr()
    expect(bool(cpu) and cpu & allowed == cpu, "the key of the CPU")
    return allowed, needed, cpu


def _conjugate(torch: Any) -> list[Any]:
    """Return a conjugate view and a negative view."""
    conjugate = torch.zeros(2, dtype=torch.complex64).conj()
    return [conjugate, conjugate.imag]


def _torch_offsets(torch: Any) -> tuple[int, int, int, int, int, int]:
    plain = [torch.zeros(3), torch.zeros(2, 2, dtype=torch.int8), torch.zeros(())]
    leaf = torch.zeros(3, requires_grad=True)
    graph = [leaf, leaf * 2, torch.nn.Parameter(torch.zeros(2))]
    tensors = [*plain, *graph, *_conjugate(torch)]
    size: int = torch.Tensor.__basicsize__
    impl = only(
        (
            at
            for at in range(16, size, 8)
            if all(words(id(item) + at, 1) == [_impl_of(item)] for item in tensors)
        ),
        "the at::Tensor in a torch.Tensor",
    )
    # Before torch 2.10 a flag preceded it, which says whether the at::Tensor is borrowed.
    expect(impl == 16, f"the at::Tensor in a torch.Tensor is at {impl}")

    def offsets(fits: Callable[[int], bool], end: int = _IMPL_WORDS) -> Iterator[int]:
        return (8 * at for at in range(2, end) if fits(at))

    def word(tensor: Any, at: int) -> int:
        return words(_impl_of(tensor) + 8 * at, 1)[0]

    keys = only(
        offsets(
            lambda at: all(
                word(item, at) == torch._C._dispatch_keys(item).raw_repr() for item in tensors
            )
        ),
        "the dispatch keys",
    )
    autograd = only(
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
    """Find the version counter, and the version in it: `detach` shares it, `data` does not."""
    tensors: list[Any] = []
    for version in (2, 5, 9):
        tensor = torch.zeros(2)
        for _ in range(version):
            tensor.zero_()
        expect(_version_of(tensor) == version, "a version")
        tensors.append(tensor)
    others = [(item, item.detach(), item.data) for item in tensors]
    counter = only(
        (
            8 * at
            for at in places
            if all(
                0 != word(item, at) == word(detached, at) != word(data, at)
                for item, detached, data in others
            )
            # Uninitialised words may look the same, but do not differ for each tensor.
            and len({word(item, at) for item in tensors}) == len(tensors)
        ),
        "the version counter",
    )
    halves = 2 * _COUNTER_WORDS
    counters = [
        (ctypes.c_uint32 * halves).from_address(word(item, counter // 8)) for item in tensors
    ]
    version = only(
        (
            4 * at
            for at in range(2, halves)
            if [read[at] for read in counters] == [_version_of(item) for item in tensors]
        ),
        "the version",
    )
    return counter, version


def _torch_tangent(torch: Any, autograd: int, graph: list[Any]) -> int:
    """Find the tangent of forward-mode AD in autograd metadata: a `shared_ptr`.

    Uninitialised words precede it, so both words of the pointer are checked.
    """

    def meta(tensor: Any) -> list[int]:
        return words(words(_impl_of(tensor) + autograd, 1)[0], _META_WORDS)

    without = [meta(item) for item in graph]
    with _dual_level(torch) as make_dual:
        duals = [make_dual(torch.zeros(2), torch.ones(2)) for _ in range(3)]
        have = [meta(item) for item in duals]
    return only(
        (
            8 * at
            for at in range(1, _META_WORDS - 1)
            if not any(read[at] or read[at + 1] for read in without)
            and all(read[at] and read[at] - read[at + 1] == _CONTROL_BLOCK for read in have)
        ),
        "the tangent",
    )


def _torch_dtypes(torch: Any, shim: ctypes.CDLL, api: int, impl: int) -> DTypes:
    dtypes: DTypes = {}
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
            expect(0 <= number.value < 64, f"{name} has the number {number.value}")
            dtypes[number.value] = (borrowed.code, borrowed.bits)
    return dtypes


def _check_shim(torch: Any, shim: ctypes.CDLL, api: int, impl: int) -> None:
    """Check that the shim and the exchange API agree about some tensors."""
    whole = torch.zeros(5, 7, 3)
    for tensor in (whole, whole[1:, ::2], whole.mT, torch.zeros(2, 3, 1, 4, 1, 2, 2)):
        borrowed = _borrowed(api, tensor)
        data, ndim = ctypes.c_uint64(), ctypes.c_int64()
        _ask(shim, "data_ptr", tensor, impl, data)
        _ask(shim, "dim", tensor, impl, ndim)
        is_equal = (data.value, ndim.value) == (borrowed.data, borrowed.ndim)
        device = ctypes.c_int32(-1)
        _ask(shim, "device_type", tensor, impl, device)
        is_equal &= (device.value, borrowed.device_type, borrowed.byte_offset) == (0, 1, 0)
        for what, given in (("sizes", borrowed.shape), ("strides", borrowed.strides)):
            numbers = ctypes.POINTER(ctypes.c_int64)()
            _ask(shim, what, tensor, impl, numbers)
            is_equal &= numbers[: tensor.ndim] == words(given, tensor.ndim)
        expect(is_equal, "torch's C shim and its exchange API differ")


def _ask(shim: ctypes.CDLL, what: str, tensor: Any, impl: int, out: Any) -> None:
    function = shim[f"aoti_torch_get_{what}"]
    failed = function(ctypes.c_void_p(id(tensor) + impl), ctypes.byref(out))
    expect(failed == 0, f"aoti_torch_get_{what} failed")


def _borrowed(api: int, tensor: Any) -> DLTensor:
    signature = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))
    out = DLTensor()
    failed = signature(ExchangeApi.from_address(api).borrow)(tensor, ctypes.byref(out))
    expect(failed == 0, "the exchange API of torch failed")
    return out
