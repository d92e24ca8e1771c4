"""Arrays in memory that ends where nobody may read, and what a kernel gets of them."""

from __future__ import annotations

import ctypes
import math
import mmap
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

import numpy as np

from tests.wrapping.drawn.cases import Array, Case, Sizes, Tensor

PAGE: Final = mmap.PAGESIZE
FILL: Final = 0xA5
Expected: TypeAlias = "tuple[str, Any]"
"""What a parameter should get: its kind and the value."""
_libc: Final = ctypes.CDLL(None, use_errno=True)


class Wrong(Exception):
    """A kernel has not got what was passed."""


class Memory:
    """Arrays, each right before a page that nobody may touch."""

    def __init__(self, slots: int = 64) -> None:
        self._pages = mmap.mmap(-1, 2 * slots * PAGE)
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._pages))
        self._slots, self._used = slots, list[tuple[int, int]]()
        for slot in range(slots):
            self._protect(2 * slot + 1, mmap.PROT_READ * 0)

    def _protect(self, page: int, rights: int) -> None:
        address = ctypes.c_void_p(self._base + page * PAGE)
        assert _libc.mprotect(address, ctypes.c_size_t(PAGE), rights) == 0

    def clear(self) -> None:
        for slot in range(len(self._used)):
            self._protect(2 * slot, mmap.PROT_READ | mmap.PROT_WRITE)
        self._used.clear()

    def place(self, array: Array, seed: int) -> np.ndarray[Any, Any]:
        """Return an array with random elements."""
        slot = len(self._used)
        page = self._base + 2 * slot * PAGE
        ctypes.memset(page, FILL, PAGE)
        dtype = dtype_of(array.dtype)
        steps = array.steps or _contiguous(array.shape)
        ends = [(size - 1) * step for size, step in zip(array.shape, steps, strict=True)]
        last, first = sum(max(end, 0) for end in ends), sum(min(end, 0) for end in ends)
        size = (last - first + 1) * dtype.itemsize if math.prod(array.shape) else 0
        start = PAGE - size - array.shift
        whole: Any = (ctypes.c_char * (PAGE - start)).from_address(page + start)
        strides = [step * dtype.itemsize for step in steps]
        offset = -first * dtype.itemsize if size else 0
        found = np.ndarray(array.shape, dtype, whole, offset, strides)
        rng = np.random.default_rng(seed)
        raw = rng.integers(0, 2 if array.dtype == "bool" else 100, found.shape)
        found[...] = raw.astype(dtype)
        self._used.append((page, start))
        return found

    def seal(self, slot: int) -> None:
        """Make an array read-only for the kernel, too."""
        self._protect(2 * slot, mmap.PROT_READ)

    def check(self) -> None:
        for page, start in self._used:
            if ctypes.string_at(page, start) != bytes([FILL]) * start:
                raise Wrong("memory before an array was written")


def _contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[at + 1 :]) for at in range(len(shape)))


def dtype_of(name: str) -> np.dtype[Any]:
    return np.dtype(name)


class Given:
    """The arguments of a call, laid out in memory."""

    def __init__(self, case: Case, memory: Memory) -> None:
        self.case = case
        self.arrays = dict[str, np.ndarray[Any, Any]]()
        values = dict[str, Any]()
        overlaps = dict[str, str]()
        slot = 0
        for at, (name, value) in enumerate(case.values.items()):
            match value:
                case Array():
                    values[name] = self.arrays[name] = memory.place(value, at)
                    if value.overlaps:
                        overlaps[name] = value.overlaps
                    if not value.writeable:
                        values[name].flags.writeable = False
                        memory.seal(slot)
                    slot += 1
                case tuple():
                    values[name] = [memory.place(each, at + own) for own, each in enumerate(value)]
                    slot += len(value)
                case Sizes():
                    values[name] = value
                case str() if case.types[name] == "Bytes":
                    values[name] = value.encode()
                case Mapping():
                    values[name] = {**value}
                case _:
                    values[name] = value
        for one, two in overlaps.items():
            a, b = self.arrays[one], self.arrays[two]
            alias: Any = b
            if a.nbytes and a.nbytes == b.nbytes and a.flags.c_contiguous and b.flags.c_contiguous:
                values[one] = self.arrays[one] = (
                    alias.view(a.dtype).reshape(a.shape) if b.ndim else a
                )
        self.values = values
        self.before = {name: array.tobytes() for name, array in self.arrays.items()}

    def passed(self) -> list[Any]:
        return [self._passed(name) for name in self.case.types]

    def _passed(self, name: str) -> Any:
        value, type_ = self.values[name], self.case.types[name]
        if f"{type_}".startswith(("Struct", "Tuple")):
            return tuple(value.values())
        if isinstance(value, Sizes):
            return value.sizes
        if f"{type_}".startswith("Choice"):
            return value.partition("=")[0]
        if type_ == "handle" and value is not None:
            return ctypes.c_void_p(value)
        return value

    def expected(self, entry: object) -> Iterator[Expected]:
        """Yield what an entry of ``args=`` stands for."""
        case, values = self.case, self.values
        if entry is None:
            yield "null", None
        elif isinstance(entry, (bool, int, float)):
            yield "number", entry
        elif isinstance(entry, bytes):
            yield "bytes", entry
        elif isinstance(entry, str) and entry in case.results:
            yield "result", case.results[entry]
        elif isinstance(entry, str) and entry in case.sizes:
            yield "number", case.sizes[entry]
        elif isinstance(entry, str) and entry in values:
            yield from self._of_value(entry)
        else:
            yield self._of_text(f"{entry}")

    def _of_value(self, name: str) -> Iterator[Expected]:
        type_: Any = self.case.types[name]
        value: Any = self.values[name]
        if f"{type_}".startswith(("Struct", "Tuple")):
            yield from (("number", each) for each in value.values())
            return
        match value:
            case None:
                yield "null", None
            case np.ndarray():
                is_any = isinstance(type_, Tensor) and type_.dims is None
                yield ("dltensor" if is_any else "tensor"), (name, value)
            case list():
                for part in ("pointers", "shapes", "strides", "length"):
                    yield self._of_list(self.values[name], part)
            case Sizes(sizes=(first, _, last)):
                yield from (("number", first), ("number", last))
            case str() | bytes() if not f"{type_}".startswith("Choice"):
                data = value.encode() if isinstance(value, str) else value
                yield "bytes", data
                yield "number", len(data)
            case str():
                yield "number", int(value.partition("=")[2])
            case _:
                yield ("address" if type_ == "handle" else "number"), value

    def _of_list(self, arrays: list[Any], part: str) -> Expected:
        if part == "length":
            return "number", len(arrays)
        if part == "pointers":
            return "list", arrays
        if part == "strides":
            return "strides", None  # compact ones have none
        return "int64s", [each for array in arrays for each in array.shape]

    def _of_text(self, entry: str) -> Expected:
        name, _, part = entry.rpartition(".")
        if entry.endswith("]"):
            name, _, part = entry[:-1].rpartition("[")
            return "number", [*self.values[name].values()][int(part)]
        value: Any = self.values.get(name)
        kind = f"{self.case.types.get(name)}"
        if kind.startswith("Struct"):
            return "number", value[part]
        if kind.startswith("TensorList"):
            return self._of_list(value, part)
        match part:
            case "present":
                return "number", value is not None
            case "data" if value is None:
                return "null", None
            case "data":
                return "tensor", (name, value)
            case "dltensor":
                return "dltensor", (name, value)
            case "ndim":
                return "number", value.ndim
            case _:
                return "number", eval(entry, dict(self.case.sizes))


def entries_of(case: Case) -> list[object]:
    """Return the entries of ``args=`` as a call has them: by a list, by names, or by position."""
    names = [param.name for param in case.params]
    if case.door == "ctypes":
        names = []
    if isinstance(case.args, tuple):
        return [*case.args]
    if isinstance(case.args, Mapping):
        return [case.args.get(name, name) for name in names]
    known = {*case.types, *case.sizes, *case.results}
    return [*names] if any(name in known for name in names) else [*case.types]
