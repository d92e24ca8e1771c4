"""Makes arguments that fit a signature."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any, Final, TypeAlias, Union

from ffi_builder import spec
from ffi_builder.extending import (
    ANY,
    Condition,
    Plain,
    Scalar,
    Subject,
    abi,
    check_signature,
    dataclass,
    did_you_mean,
    elements,
    evaluate,
    importing,
    is_pointer,
    of_symbols,
    parse_dtype,
    sizes,
    symbols_in,
    variables,
)
from ffi_builder.extending import check_call as check
from ffi_builder.spec import MISSING
from ffi_builder.testing.make import devices
from ffi_builder.testing.make.arrays import (
    Array,
    check_framework,
    free_memory,
    layout_of,
    room_for,
    stored,
)
from ffi_builder.testing.make.parts import Entry, Parts, Pick, lists_of, usual
from ffi_builder.testing.make.symbols import (
    Env,
    Search,
    entry_rule,
    list_rule,
    room_rule,
    row_length,
)

Dims: TypeAlias = Mapping[str, Union[Scalar, list[int], tuple[int, ...]]]
"""Values of symbols by name. A symbol in ``each`` has a list: a value for each element."""

LIMIT: Final = 2**30
"""Greatest size of a tensor, in bytes. Larger ones are nearly always a mistake."""
_USUAL: Final = 2
"""The number of elements of a list, unless the signature or the caller says otherwise."""
_ATTEMPTS: Final = 64
"""The number of attempts to find dtypes, ranks and other choices that satisfy conditions."""
_ANY: Final = abi.TYPE_KEYS[abi.FIRST_OBJECT]
_POINTED_TO: Final = 4096
"""The bytes of memory behind a pointer that must not be NULL."""


def make_args(
    signature: spec.Signature,
    dims: Dims | None = None,
    framework: str = "numpy",
    values: Mapping[str, object] | None = None,
) -> list[Any]:
    """Make the simplest arguments that :func:`check` and the compiled wrapper accept.

    They are the same each time; :func:`check_kernel` makes random ones. Tensors hold zeros in
    separate memory, aligned to ``data_alignment``, as conditions such as ``x.data % 128 == 0``
    require, and at least to 64 bytes. They have exactly the strides that the signature requires,
    and the first of several dtypes. With ``dtype="x.dtype"`` they have the dtype of ``x``, also if
    ``x`` is in ``values``.
    Tuples, structs and lists of tensors become tuples; Optionals are present. Lists have two
    elements, unless the signature or ``dims`` says otherwise. Streams and pointers are NULL;
    strings, Arrays and Maps are empty. A Choice has its first value, a DType is float32, and a
    Device is the first CPU. A condition of ``where`` may require other choices: an absent Optional,
    or another dtype, rank or Choice. A pointer that a condition wants not to be NULL points to
    4,096 bytes of zeros, which live as long as the argument.

    Args:
        signature: what the function accepts. Its tensors must be allowed on the CPU, or in the
            block of a :class:`FakeCuda` on CUDA, where they are a :class:`FakeArray`.
        dims: values of symbols, by name. Other symbols get small values that fit: ints from 2 on,
            different if possible, strides without overlap, True, 0.5, 1.5, …, NULL. A symbol with
            one value for each element of a list may have a list of values.
        framework: makes the tensors: ``"numpy"``, ``"torch"`` or ``"tvm_ffi"``. With
            ``"numpy"``, tensors of dtypes that NumPy cannot export (bfloat16, float8, float4,
            sub-byte ints, several lanes) are ``tvm_ffi.Tensor``, even if ml_dtypes is installed.
        values: arguments, elements and fields to use unchanged, by their names in errors:
            ``"mask"``, ``"cfg[1]"``, ``"cfg.alpha"``. None makes an Optional absent. Only their
            dtypes are read: give the values of symbols that they bind in ``dims``.

    Raises:
        ValueError: an unknown framework or name in ``dims`` or ``values``; a value in ``dims`` that
            the signature does not accept; a list in ``dims`` of the wrong length; a tensor that is
            on another device, that the framework cannot represent or that needs more than 1 GiB;
            tensors that together need more memory than is free; an object of a type that cannot be
            made; or no values were found that fit.
        SpecError: ``signature`` is not a Signature.
        ModuleNotFoundError: the framework, or NumPy, which allocates the memory, is not installed.

    Examples:
        >>> from ffi_builder import spec, testing
        >>> axpy = spec.Signature.parse(
        ...     "axpy(a: float32, x: Tensor([n], float32), y: Optional(Tensor([n], float32)))",
        ...     device="cpu",
        ... )
        >>> a, x, y = testing.make_args(axpy, {"n": 1000, "a": 2.0}, values={"y": None})
        >>> a, x.shape, y
        (2.0, (1000,), None)
    """
    check_signature("make_args: ", signature)
    check_framework("make_args: ", framework)
    return make(signature, dims or {}, framework, values or {})


def make(
    signature: spec.Signature,
    dims: Dims,
    framework: str,
    values: Mapping[str, object],
    pick: Pick = usual,
    room: int = LIMIT,
) -> list[Any]:
    """Make arguments as :func:`make_args` does, but let ``pick`` make the choices.

    Args:
        signature: what the function accepts.
        dims: values of symbols.
        framework: makes the tensors.
        values: the given arguments.
        pick: makes the choices.
        room: the greatest size of a tensor, in bytes.

    Raises:
        ValueError: as :func:`make_args`.
    """
    conditions = [of_symbols(condition) for condition in signature.where]
    mentioned = (var for condition in conditions for var in variables(condition))
    subjects = [var for var in mentioned if isinstance(var, Subject)]
    made = partial(_made, signature, dims, framework, values, room, conditions, subjects)
    if not subjects:
        return made(pick)
    error: ValueError | None = None
    for attempt in range(_ATTEMPTS):
        try:
            args = made(partial(_another, Random(attempt), pick) if attempt else pick)
            check(signature, *args)
            return args
        except ValueError as wrong:  # noqa: PERF203
            error = error or wrong
    raise ValueError(
        f"make_args: found no arguments that fit the conditions of {signature.name}: {error}; give "
        f"some in values= or dims="
    )


def _another(random: Random, pick: Pick, kind: str, name: str, subject: Any, usual: Any) -> Any:
    """Make the choices that conditions may depend on at random, and the others with ``pick``."""
    match kind:
        case "present" | "pointer":
            return random.random() < 0.5
        case "dtype":
            return random.choice(subject.dtypes)
        case "choice":
            return random.choice([*subject.choices])
        case "part":
            return random.choice([*subject.parts])
        case "shape":
            return random.choice([(), (2,), (2, 3), (2, 3, 4)])
        case "symbol" if subject.var.dtype == "bool":
            return random.random() < 0.5
        case _:
            return pick(kind, name, subject, usual)


def _made(
    signature: spec.Signature,
    dims: Dims,
    framework: str,
    values: Mapping[str, object],
    room: int,
    conditions: Sequence[Condition],
    subjects: Sequence[Subject],
    pick: Pick,
) -> list[Any]:
    known = {var.name: var for var in symbols_in(signature.params)}
    _check_names(f"{signature.name} has no symbol", dims, known)
    env, lengths = _lengths(signature, dims, room, pick)
    paths = [path for path, _ in spec.with_paths(signature.arguments)]
    paths += [f"{path}[{index}]" for path, count in lengths.items() for index in range(count)]
    _check_names(f"values: {signature.name} has no parameter", values, paths)
    parts = Parts(signature, lengths, values, pick)
    for name, value in dims.items():
        env.update(_given(parts, known[name], value))
    memory = _memory(parts, subjects, pick)
    for path, buffer in memory.items():
        if isinstance(var := parts.params[path], spec.Var):
            env.setdefault(var, ctypes.addressof(buffer))
    entries = [*parts.entries()]
    allocated = [*_allocated(signature)]
    bound = {var for entry in entries for var in variables(entry.value)}
    for var in {var for entry in allocated for var in variables(entry.value)} - bound:
        env.setdefault(var, 0)  # only absent Optionals bind it
    rules = [
        *(entry_rule(entry, _devices(parts, framework)) for entry in entries),
        *(room_rule(path, tensor, room) for path, tensor in parts.tensors.items()),
        *(list_rule(path, numbers, room) for path, numbers in parts.numbers.items()),
        *map(entry_rule, allocated),
    ]
    numbers: dict[spec.Var, int] = {}
    for subject in subjects:
        if (number := _number(parts, subject)) is not None:
            numbers[subject] = number
    tensors = parts.tensors.values()
    Search(signature, entries, rules, env, tensors, conditions, numbers).run(pick)
    _check_memory(parts, env)
    maker = _ArgumentMaker(framework, env, parts, memory)
    return [
        maker.argument(param.name, param)
        for param in signature.arguments
        if not isinstance(param, spec.VarArgs)  # none are simplest
    ]


def _devices(parts: Parts, framework: str) -> Sequence[int] | None:
    """Return the numbers of the devices that tensors may be on; None if that is any number."""
    kinds = {tensor.device for tensor in parts.tensors.values()}
    fakes = [fake.devices for kind in kinds if (fake := devices.active(kind))]
    if fakes:
        return range(min(fakes))
    return None if framework == "tvm_ffi" else (0,)


def _memory(
    parts: Parts, subjects: Iterable[Subject], pick: Pick
) -> dict[str, ctypes.Array[ctypes.c_char]]:
    """Return memory of its own for each pointer that conditions compare with NULL, by path."""
    params = {of.path: of.param for of in (subject.of for subject in subjects)}
    return {
        path: ctypes.create_string_buffer(_POINTED_TO)
        for path, param in params.items()
        if is_pointer(param) and path in parts.params and pick("pointer", path, param, True)
    }


def _number(parts: Parts, subject: Subject) -> int | None:
    """Return the number that a condition compares; None if it is not known before the call."""
    of = subject.of
    given, param = parts.values.get(of.path), parts.params.get(of.path)
    if of.field == "present":
        return param is not None or given is not None
    if isinstance(given, str):
        return of.number(given)
    if not isinstance(param, spec.Tensor) or of.field not in ("dtype", "ndim"):
        return None
    return param.ndim if of.field == "ndim" else of.number(param.dtype)


def _check_names(words: str, given: Iterable[str], known: Collection[str]) -> None:
    for name in given:
        if name not in known:
            raise ValueError(
                f"make_args: {words} {name!r}; it has {', '.join(known) or 'none'}"
                f"{did_you_mean(name, known)}"
            )


def _lengths(
    signature: spec.Signature, dims: Dims, room: int, pick: Pick
) -> tuple[Env, dict[str, int]]:
    """Choose the lengths of lists: return the symbols among them, and all lengths by path."""
    env: Env = {}
    entries: list[Entry] = []
    fixed: dict[str, int] = {}
    lists = lists_of(signature)
    for path, tensors in lists.items():
        values = (dims.get(var.name) for var in tensors.each)
        counts = [len(each) for each in values if isinstance(each, (list, tuple))]
        match tensors.length:
            case int() as number:
                fixed[path] = number
            case None:
                fixed[path] = counts[0] if counts else pick("length", path, tensors, _USUAL)
            case symbol:
                entries.append(Entry(f"length of {path}", "length", symbol))
                if symbol.name in dims:
                    env[symbol] = _value(symbol, dims[symbol.name])
                elif counts:
                    env.setdefault(symbol, counts[0])
    rules = [
        *map(entry_rule, entries),
        *(list_rule(path, tensors, room) for path, tensors in lists.items()),
    ]
    Search(signature, entries, rules, env).run(pick)
    symbols = {path: t.length for path, t in lists.items() if isinstance(t.length, spec.Var)}
    return env, {**fixed, **{path: int(env[symbol]) for path, symbol in symbols.items()}}


def _given(parts: Parts, var: spec.Var, value: Any) -> Env:
    """Return the value of each symbol that a given value is for.

    Raises:
        ValueError: a symbol cannot have the value, or the list has not one for each element.
    """
    symbols = parts.of_elements.get(var.name)
    if symbols is None:
        return {var: _value(var, value)}
    listed = isinstance(value, (list, tuple))
    values: list[Any] = [*value] if listed else [value] * len(symbols)
    if len(values) != len(symbols):
        raise ValueError(
            f"make_args: {var.name} = {value!r}: expected {len(symbols)} values, one for each "
            f"element, but got {len(values)}"
        )
    return {each: _value(each, own) for each, own in zip(symbols, values, strict=True)}


def _value(var: spec.Var, value: Any) -> Scalar:
    """Return the value that the symbol has after a call with ``value``.

    Raises:
        ValueError: the symbol cannot have the value.
    """
    try:
        plain = spec.Var(var.name, "uint64") if var.dtype == "handle" else var
        return check(spec.Signature("f", [plain]), value)[var.name]
    except (TypeError, ValueError, OverflowError) as error:
        words = str(error).rpartition("`, ")[2]
        raise ValueError(f"make_args: {var.name} = {value!r}: {words}") from None


def _allocated(signature: spec.Signature) -> Iterator[Entry]:
    """Yield the sizes and devices of the tensors that the wrapper allocates."""
    for result in (*signature.results, *signature.workspaces):
        for path, entry in sizes(result):
            yield Entry(path, "size", entry)
        if isinstance(result, spec.Tensor):
            yield Entry(f"{result.name}.device_id", "device", result.device_id)


def _check_memory(parts: Parts, env: Env) -> None:
    """Raise ValueError if the tensors need more memory than is free, before any is made."""
    rooms = {
        path: room_for(tensor, *layout_of(tensor, env)) for path, tensor in parts.tensors.items()
    }
    needed, free = sum(rooms.values()), free_memory()
    if free is not None and needed > free:
        largest = max(rooms, key=lambda path: rooms[path])
        raise ValueError(
            f"make_args: the tensors need {needed} bytes together, and {free} bytes of memory are "
            f"free; the largest is {largest} with {rooms[largest]} bytes; give smaller dims="
        )


@dataclass
class _ArgumentMaker:
    _framework: str
    _env: Env
    _parts: Parts
    _memory: Mapping[str, ctypes.Array[ctypes.c_char]]
    _device_id: int | None = None
    """Device id of the first tensor, and of all tensors that do not specify one."""

    def argument(self, path: str, param: spec.Param) -> Any:
        if path in self._parts.values:
            return self._parts.values[path]
        match plain := self._parts.params[path]:
            case spec.Var():
                value = self._env[plain]
                return self._pointer(path, int(value)) if plain.dtype == "handle" else value
            case spec.DataPointer() if path in self._memory:
                return self._pointer(path, ctypes.addressof(self._memory[path]))
            case spec.Tensor():
                return self._tensor(path, plain)
            case spec.TensorList():
                count = self._parts.lengths[path]
                return tuple(self.argument(f"{path}[{i}]", plain.tensor) for i in range(count))
            case spec.List(length=length):
                assert length is not None, "a symbol has replaced it"
                return [_element(plain.element, index) for index in range(self._value(length))]
            case spec.Shape():
                return tuple(self._value(entry) for entry in plain.shape)
            case spec.TupleParam() | spec.Struct():
                return tuple(self.argument(*element) for element in elements(param, path))
            case spec.Variant():
                return self.argument(self._parts.chosen[path], plain)
            case spec.Object():
                return _object(path, plain.type_key)
            case _:
                return _plain(plain)

    def _pointer(self, path: str, address: int) -> ctypes.c_void_p | None:
        """Return an address in the form that tvm_ffi takes, which is None for NULL."""
        pointer: Any = ctypes.c_void_p(address) if address else None
        if pointer is not None:
            pointer.memory = self._memory.get(path)  # it lives as long as the pointer
        return pointer

    def _tensor(self, path: str, tensor: spec.Tensor) -> Any:
        shape, strides = stored(tensor, *layout_of(tensor, self._env))
        device_id = self._device_id or 0
        if tensor.device_id is not None:
            device_id = self._value(tensor.device_id)
        if self._device_id is None:
            self._device_id = device_id
        dtype = parse_dtype(tensor.element_dtypes[0])
        alignment = tensor.data_alignment or 1
        kind = "cpu" if tensor.device == ANY else tensor.device
        made = Array(path, dtype, shape, strides, alignment, device_id, device_type=kind)
        return made.make(self._framework)

    def _value(self, entry: spec.Dim) -> int:
        value = evaluate(entry, lambda var: self._env[var])
        assert value is not None, "a rule has made sure of it"
        return value


def _element(element: Plain, index: int) -> Any:
    """Make an element of a list; an int is small, and below the length of the list."""
    if isinstance(element, spec.List):
        count = row_length(element)
        return [_element(element.element, each) for each in range(count)]
    if not isinstance(element, spec.Var):
        return _plain(element)
    if element.dtype == "bool":
        return index % 2 == 1
    return index % 128 / 2 if "float" in element.dtype else index % 128


def _plain(param: Plain) -> Any:
    """Make an argument for a parameter without symbols or elements."""
    match param:
        case spec.ConstInt() | spec.ConstBool() | spec.ConstFloat():
            return param.value
        case spec.Stream() | spec.DataPointer() | spec.ConstNone():
            return None
        case spec.Function():
            return _nothing
        case spec.Array():
            return []
        case spec.Map(key=str(key), value=str(value)):
            keys, values = (spec.List(param.name, dtype).element for dtype in (key, value))
            return {_element(keys, each): _element(values, each) for each in range(_USUAL)}
        case spec.Map():
            return {}
        case spec.DType():
            return _tvm_ffi("dtype", "float32")
        case spec.Device():
            return _tvm_ffi("device", "cpu", 0)
        case _:
            assert param.accepts.example is not MISSING, "the class of a parameter has an example"
            return param.accepts.example


# ---- objects


def _object(path: str, type_key: str | None) -> Any:
    """Make an object of a type of tvm-ffi, or any object.

    Raises:
        ValueError: objects of this type cannot be made here.
    """
    make = _OBJECTS.get(type_key or _ANY)
    if make is None:
        raise ValueError(
            f"make_args: {path} is a {type_key}, and make_args cannot make one; give it in "
            f"values={{{path!r}: …}}"
        )
    return make()


def _nothing(*_: object) -> None:
    """Do nothing; a function to pass as an argument."""


def _tvm_ffi(name: str, *args: object) -> Any:
    return getattr(importing.load("tvm_ffi"), name)(*args)


_OBJECTS: Final[dict[str, Callable[[], Any]]] = {
    _ANY: list,
    # Shorter strs and bytes are stored in place and are not objects.
    "ffi.String": lambda: "an object",
    "ffi.Bytes": lambda: b"an object",
    "ffi.Function": lambda: _nothing,
    "ffi.Shape": partial(_tvm_ffi, "Shape", ()),
    "ffi.Tensor": partial(Array("", parse_dtype("float32"), (2,), (1,)).make, "tvm_ffi"),
    "ffi.Array": list,
    "ffi.Map": dict,
    "ffi.Module": partial(_tvm_ffi, "system_lib"),
    "ffi.OpaquePyObject": object,
    "ffi.List": partial(_tvm_ffi, "List", ()),
    "ffi.Dict": partial(_tvm_ffi, "Dict", {}),
    "ffi.VisitInterrupt": partial(_tvm_ffi, "VisitInterrupt"),
    "ffi.BigInt": lambda: 2**64,
}
