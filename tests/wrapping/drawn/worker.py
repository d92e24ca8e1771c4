"""The process that wraps and calls drawn kernels, so that a crash is one case's result.

``python -m tests.wrapping.drawn.worker`` reads a pickled list of cases at a time from standard
input. For each it writes a pickled pair: what became of the case, and what is wrong, or nothing.
"""

from __future__ import annotations

import ctypes
import faulthandler
import math
import mmap
import os
import pickle
import re
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from tvm_ffi.libinfo import include_paths

from ffi_builder import BuildError, CompileError, SpecError, providers, wrap
from tests.wrapping.drawn.cases import BYTES, ENUMS, RANGES, Array, Case, Param, Sizes, Tensor
from tests.wrapping.drawn.code import Record, c_source, ctypes_function, is_bytes, llvm_ir

TIMEOUT: Final = 60
PAGE: Final = mmap.PAGESIZE
FILL: Final = 0xA5
Expected: TypeAlias = "tuple[str, Any]"
"""What a parameter should get: its kind and the value."""
UNCALLED: Final = ("bfloat16", "int4x2", "float32x2", "float8_e4m3fn")
"""Dtypes that NumPy lacks."""
REFUSED: Final = (BuildError, CompileError, SpecError, TypeError, ValueError)
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
        whole = (ctypes.c_char * (PAGE - start)).from_address(page + start)
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


# ---- what each parameter should get


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
            if a.nbytes and a.nbytes == b.nbytes and a.flags.c_contiguous and b.flags.c_contiguous:
                values[one] = self.arrays[one] = b.view(a.dtype).reshape(a.shape) if b.ndim else a
        self.values = values
        self.before = {name: array.tobytes() for name, array in self.arrays.items()}

    def passed(self) -> list[Any]:
        return [self._passed(name) for name in self.case.types]

    def _passed(self, name: str) -> Any:
        value, type_ = self.values[name], self.case.types[name]
        if isinstance(value, dict):
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
        type_, value = self.case.types[name], self.values[name]
        match value:
            case None:
                yield "null", None
            case np.ndarray():
                is_any = isinstance(type_, Tensor) and type_.dims is None
                yield ("dltensor" if is_any else "tensor"), (name, value)
            case list():
                for part in ("pointers", "shapes", "strides", "length"):
                    yield self._of_list(value, part)
            case dict():
                for each in value.values():
                    yield "number", each
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
        value = self.values.get(name)
        if isinstance(value, dict):
            return "number", value[part]
        if isinstance(value, list):
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


# ---- what it got


def number_of(param: Param, data: bytes) -> Any:
    dtype = f"{param.dtype}"
    if dtype == "bool":
        return data[0]
    return np.frombuffer(data, dtype)[0].item()


def size_of(param: Param) -> int:
    return dtype_of(param.dtype).itemsize if param.kind == "number" and param.dtype else 8


def is_alike(param: Param, got: Any, value: Any, case: Case) -> bool:
    """Return whether a number arrived as it was passed."""
    dtype = f"{param.dtype}"
    if isinstance(value, float) != dtype.startswith("float"):
        return False
    if isinstance(value, float):
        return bool(got == np.dtype(dtype).type(value)) or (got != got and value != value)
    if case.door in ("LLVM IR", "direct") and not has_sign(param):
        bits = 8 * size_of(param)
        low = -(2 ** (bits - 1))
        return low <= value < 2**bits and (got - value) % 2**bits == 0
    return got == value


def has_sign(param: Param) -> bool:
    return param.dtype in ("int8", "uint8", "int16", "uint16") and not param.is_signless


def check_type(case: Case, param: Param, dtypes: list[str]) -> None:
    """Raise Wrong if elements of these dtypes are read as others."""
    if case.door in ("LLVM IR", "direct") or param.type == "void":
        return
    if is_bytes(param, case):
        return
    if param.dtype in BYTES and not param.row:
        return
    for dtype in dtypes:
        halves = ("float16", "bfloat16") if param.dtype == "uint16" else ()
        one_byte = param.dtype in BYTES and dtype in ("int8", "uint8", "bool", "float8_e4m3fn")
        if dtype != param.dtype and dtype not in halves and not one_byte:
            raise Wrong(f"elements of {dtype} are {param.type} for {param.c}")


def knows_elements(case: Case) -> bool:
    return case.door not in ("LLVM IR", "direct")


class Checked:
    """What a case's parameters are told before the call, and checked for after it."""

    def __init__(self, case: Case, given: Given, record: Record) -> None:
        self.case, self.given, self.record = case, given, record
        self.written = dict[str, bytes]()
        entries = entries_of(case)
        self.expected = [each for entry in entries for each in given.expected(entry)]
        names = [e for e in entries if isinstance(e, str)]
        self.by_pointer = "r" in names and "r" in case.results

    def count(self) -> None:
        if len(self.expected) != len(self.case.params):
            raise Wrong(f"{len(self.expected)} arguments for {len(self.case.params)} parameters")

    def check_types(self) -> None:
        """Check what is accepted without a call."""
        self.count()
        for param, (kind, value) in zip(self.case.params, self.expected, strict=True):
            is_number = kind == "number"
            if is_number != (param.kind == "number"):
                raise Wrong(f"{param.c} gets {kind} {value!r}")
            type_: Any = None
            if kind == "tensor":
                type_ = self.case.types[value[0]]
                check_type(self.case, param, type_.dtype.split(" | "))
                if knows_elements(self.case) and param.is_const and type_.intent in ("out", "inout"):
                    if self.case.door != "ctypes":
                        raise Wrong(f"{param.c} is to be written")
            if kind in ("tensor", "bytes", "result") and param.type == "DLTensor":
                if knows_elements(self.case) and self.case.door != "ctypes":
                    raise Wrong(f"{param.c} gets {kind}")
            if knows_elements(self.case) and kind in ("tensor", "bytes", "result", "int64s", "strides"):
                if param.kind == "list":
                    raise Wrong(f"{param.c} gets {kind}")
            if knows_elements(self.case) and kind == "result" and param.is_const:
                if self.case.door != "ctypes":
                    raise Wrong(f"{param.c} gets a result")
            if knows_elements(self.case) and kind == "bytes" and self.case.door != "ctypes":
                if param.type != "void" and (param.dtype not in BYTES or param.row):
                    raise Wrong(f"{param.c} gets bytes")
            if knows_elements(self.case) and kind == "dltensor" and self.case.door != "ctypes":
                if param.type not in ("void", "DLTensor"):
                    raise Wrong(f"{param.c} gets a DLTensor")
            if knows_elements(self.case) and kind in ("int64s", "strides"):
                if param.type != "void" and param.dtype not in ("int64",):
                    raise Wrong(f"{param.c} gets {kind}")

    def tell(self) -> None:
        """Say to the kernel how many elements there are."""
        self.count()
        for at, (param, (kind, value)) in enumerate(zip(self.case.params, self.expected, strict=True)):
            info, pattern = [0] * 8, b""
            match kind:
                case "tensor":
                    name, array = value
                    info, pattern = self._of_array(param, name, array, at)
                case "list":
                    info[:2] = [len(value), value[0].size if value else 0]
                    info[7] = 0
                    if is_bytes(param, self.case) or param.dtype in BYTES:
                        info[1] = value[0].nbytes if value else 0
                case "dltensor" if value[1] is not None:
                    info[0] = 1
                case "bytes":
                    info[0], info[7] = (0, len(value))
                case "int64s":
                    info[:6] = [len(value), 1, 1, 1, 0, 0]
                    info[7] = 8 * len(value)
                case "result":
                    pattern = self._returned(value)
                    info[:7] = [1, 1, 1, 0, 0, 0, 1]
                    info[7] = len(pattern)
                case _:
                    pass
            self.record.tell(at, info, pattern)
        result = self.case.result
        if result.kind == "number":
            value = self.case.returned
            low, high = RANGES.get(f"{result.dtype}", (0, 0))
            if f"{result.dtype}".startswith("float"):
                data = np.array(float(value), f"{result.dtype}").tobytes()
            else:
                whole = int(value) if math.isfinite(value) else 0
                self.value = min(max(whole, low), high)
                data = np.array(self.value, f"{result.dtype}").tobytes()
            signed = result.dtype
            is_status = not self.case.results or self.by_pointer
            if is_status and self.case.door in ("LLVM IR", "direct"):
                signed = signed if has_sign(result) else f"{signed}".removeprefix("u")
            self.value = np.frombuffer(data, f"{signed}".replace("bool", "uint8"))[0].item()
            self.record.returns(data)

    def _returned(self, dtype: str) -> bytes:
        value = self.case.returned
        if dtype.startswith("float"):
            return np.array(float(value), dtype).tobytes()
        low, high = RANGES[dtype]
        whole = int(value) if math.isfinite(value) else 0
        return np.array(min(max(whole, low), high), dtype).tobytes()

    def _of_array(
        self, param: Param, name: str, array: np.ndarray[Any, Any], at: int
    ) -> tuple[list[int], bytes]:
        type_ = self.case.types[name]
        assert isinstance(type_, Tensor)
        pattern = np.random.default_rng(at).integers(0, 2, array.shape).astype(array.dtype)
        writes = not param.is_const and type_.intent != "in" and array.flags.writeable
        if is_bytes(param, self.case):
            size = array.nbytes if array.flags.c_contiguous else 0
            info = [size, 1, 1, 1, 0, 0, int(writes), size]
        elif param.row:
            lead = array.shape[0] if array.ndim == 1 + len(param.row) else 1
            limits = array.shape[-2:] if type_.strides else (PAGE, PAGE)
            limits = (*limits[-len(param.row) :], PAGE, PAGE)
            info = [lead, *limits[:2], 0, 0, 0, int(writes), 0]
        else:
            shape = [*array.shape, 1, 1, 1][:3]
            steps = [each // array.itemsize for each in array.strides] + [0, 0, 0]
            info = [*shape, *steps[:3], int(writes), 0]
        if writes and array.size and knows_elements(self.case) and info[0]:
            self.written[name] = pattern.tobytes()
        return info, pattern.tobytes()

    def check(self) -> None:
        """Raise Wrong if the kernel has got something else."""
        if not self.record.called:
            raise Wrong("the kernel was not called")
        for at, (param, (kind, value)) in enumerate(zip(self.case.params, self.expected, strict=True)):
            got = self.record.got(at, size_of(param))
            if kind == "number":
                if not is_alike(param, number_of(param, got), value, self.case):
                    raise Wrong(f"{param.c} got {number_of(param, got)!r} for {value!r}")
                continue
            address = int.from_bytes(got, "little")
            if param.is_restrict:
                self._apart(param, kind, value)
            if address % param.align and self.case.door in ("LLVM IR", "both"):
                raise Wrong(f"{param.name} got {address:#x}, not aligned to {param.align}")
            if kind == "null" and address:
                raise Wrong(f"{param.c} got {address:#x} for NULL")
            if kind == "address" and address != (value or 0):
                raise Wrong(f"{param.c} got {address:#x} for {value}")
            if kind == "tensor" and address != value[1].ctypes.data and value[1].size:
                raise Wrong(f"{param.c} got {address:#x} for {value[0]}")
            if knows_elements(self.case) and kind != "result":
                self._elements(at, param, kind, value)

    def _apart(self, param: Param, kind: str, value: Any) -> None:
        if kind != "tensor" or param.is_const or self.case.door in ("ctypes", "direct"):
            return
        if [each for of, each in self.expected if of == "tensor" and each[0] == value[0]][1:]:
            raise Wrong(f"{param.c} is restrict, and {value[0]} is passed twice")
        for name, other in self.given.arrays.items():
            if name != value[0] and other.size and value[1].size:
                if np.may_share_memory(other, value[1]):
                    raise Wrong(f"{param.c} is restrict, but shares the memory of {name}")

    def _elements(self, at: int, param: Param, kind: str, value: Any) -> None:
        if self.case.door == "both":
            return  # the code is LLVM IR, which touches nothing
        match kind:
            case "tensor":
                name, array = value
                data = self.given.before[name]
                if is_bytes(param, self.case) and not array.flags.c_contiguous:
                    return
                # what was read before a write by another parameter of the same memory is unknown
                shared = [n for n, a in self.given.arrays.items() if np.may_share_memory(a, array)]
                if len(shared) > 1:
                    return
                if [v for k, v in self.expected if k == "tensor" and v[0] == name][1:]:
                    return
                if self.record.elements(at, len(data)) != data:
                    raise Wrong(f"{param.c} read other elements than {name} has")
            case "bytes" if param.dtype in BYTES or param.type == "void":
                if self.record.elements(at, len(value)) != value:
                    raise Wrong(f"{param.c} read other bytes than {value!r}")
            case "int64s":
                data = np.array(value, "int64").tobytes()
                if self.record.elements(at, len(data)) != data:
                    raise Wrong(f"{param.c} read other sizes than {value!r}")
            case "list" if param.type not in ("void", "DLTensor"):
                if value:
                    check_type(self.case, param, [f"{value[0].dtype}"])
                data = b"".join(each.tobytes() for each in value)
                if param.kind == "list" and self.record.elements(at, len(data)) != data:
                    raise Wrong(f"{param.c} read other elements than the list has")
            case "dltensor" if param.type == "DLTensor" and value[1] is not None:
                array = value[1]
                words = np.frombuffer(self.record.elements(at, 16 + 8 * array.ndim), "int64")
                if [*words] != [array.ctypes.data, array.ndim, *array.shape]:
                    raise Wrong(f"{param.c} read the DLTensor {words}")
            case _:
                pass

    def check_after(self, returned: Any) -> None:
        """Check what was written and returned."""
        if self.case.door in ("prototype", "header", "ctypes"):
            for name, array in self.given.arrays.items():
                kinds = [v[0] for k, v in self.expected if k == "tensor"]
                shared = [n for n, a in self.given.arrays.items() if np.may_share_memory(a, array)]
                if len(shared) > 1 or kinds.count(name) > 1:
                    continue
                if array.tobytes() != self.written.get(name, self.given.before[name]):
                    raise Wrong(f"{name} has other elements than the kernel wrote")
        results = [*self.case.results.values()]
        if not results:
            if returned is not None:
                raise Wrong(f"returned {returned!r}")
            if self.case.result.kind == "number" and self.value != 0 and self.case.door != "direct":
                raise Wrong(f"the status {self.value} raised nothing")
            return
        if self.by_pointer:
            if self.case.result.kind == "number" and self.value and self.case.door != "direct":
                raise Wrong(f"the status {self.value} raised nothing")
            if self.case.door in ("prototype", "header", "ctypes"):
                dtype = results[0]
                data = self._returned(dtype)
                value = np.frombuffer(data, "uint8" if dtype == "bool" else dtype)[0].item()
                if returned != value:
                    raise Wrong(f"returned {returned!r} for {value!r}")
            return
        dtype, own = results[0], self.case.result
        is_signless = self.case.door in ("LLVM IR", "direct") and not has_sign(own)
        if is_signless and isinstance(returned, int):
            bits = 8 * size_of(own)
            if (returned - int(self.value)) % 2**bits:
                raise Wrong(f"returned {returned!r} for {self.value!r}")
        elif returned != self.value:
            raise Wrong(f"returned {returned!r} for {self.value!r}, as {dtype}")


# ---- running


class Batch:
    """Compiled cases."""

    def __init__(self, cases: list[Case], folder: Path) -> None:
        source, flags = folder / "k.c", [f"-I{path}" for path in include_paths()]
        source.write_text(c_source(cases))
        # optimised, as the code then relies on the types
        command = ["gcc", "-O1", "-w", "-fPIC", *flags, "-c", source, "-o", folder / "k.o"]
        subprocess.run([*map(str, command)], check=True, capture_output=True, text=True)
        self.data = (folder / "k.o").read_bytes()
        self.header = folder / "k.h"
        head = "#include <stdint.h>\n#include <stddef.h>\n#include <dlpack/dlpack.h>\n"
        lines = "".join(f"{case.prototype};\n" for case in cases)
        self.header.write_text(f"{head}{ENUMS}{lines}")
        self.library = None
        if any(case.door == "ctypes" for case in cases):
            subprocess.run(["ld", "-shared", folder / "k.o", "-o", folder / "k.so"], check=True)
            self.library = ctypes.CDLL(str(folder / "k.so"))

    def wrapped(self, case: Case) -> Any:
        args: Any = case.args
        args = [*args] if isinstance(args, tuple) else args
        how: dict[str, Any] = {"device": "cpu", "args": args}
        text = f"{ENUMS if 'enum' in case.prototype else ''}{case.prototype}"
        match case.door:
            case "prototype":
                return wrap(self.data, case.signature, prototype=text, **how)
            case "header":
                return wrap(self.data, case.signature, prototype=self.header, **how)
            case "LLVM IR":
                return wrap(llvm_ir(case), case.signature, **how)
            case "both":
                return wrap(llvm_ir(case), case.signature, prototype=text, **how)
            case "direct":
                direct = providers.DirectCallProvider
                return wrap(llvm_ir(case), case.signature, provider=direct, **how)
            case _:
                assert self.library is not None
                return wrap(ctypes_function(case, self.library), case.signature, **how)


def is_callable(case: Case) -> bool:
    arrays = [a for v in case.values.values() for a in (v if isinstance(v, tuple) else [v])]
    names = [a.dtype for a in arrays if isinstance(a, Array)]
    return not any(name in UNCALLED for name in names)


def check_uncalled(case: Case) -> None:
    """Check what no array of NumPy is passed for."""
    if case.args is None or not knows_elements(case):
        return
    entries = [entry for entry in entries_of(case) if entry is not None]
    for param, entry in zip(case.params, entries, strict=False):
        type_ = case.types.get(f"{entry}".removesuffix(".data"))
        if isinstance(type_, Tensor) and type_.dims is None and ".data" not in f"{entry}":
            continue
        if isinstance(type_, Tensor) and len(entries) == len(case.params):
            check_type(case, param, type_.dtype.split(" | "))


def run(case: Case, batch: Batch, record: Record, memory: Memory) -> tuple[str, str]:
    """Return what became of a case, and what is wrong."""
    must = "" if case.step else "refused, but right: "
    is_aligned = all(param.align == 1 for param in case.params)
    try:
        compiled = batch.wrapped(case)
    except REFUSED as error:
        words = f"{type(error).__name__}: {error}"
        if not is_aligned and re.search(r"aligned to \d+ bytes, but", words):
            must = ""
        return f"refused: {type(error).__name__}", f"{must}{words}" if must else ""
    if not is_callable(case):
        check_uncalled(case)
        return "not called", ""
    memory.clear()
    record.clear()
    given = Given(case, memory)
    checked = Checked(case, given, record)
    checked.check_types()
    checked.tell()
    try:
        returned = compiled(*given.passed())
    except (TypeError, ValueError, OverflowError) as error:
        if record.called:
            raise Wrong(f"an error after the call: {error}") from None
        if must and (is_aligned or " == 0 but got" not in f"{error}"):
            return "refused", f"{must}{error}"
        return f"error: {type(error).__name__}", ""
    except RuntimeError as error:
        own = case.result.kind == "number" and (not case.results or checked.by_pointer)
        if not own or not record.called:
            raise Wrong(f"{error}") from None
        if not checked.value or f"status {checked.value} " not in f"{error}":
            raise Wrong(f"the status {checked.value} raised: {error}") from None
        checked.check()
        memory.check()
        return "status", ""
    checked.check()
    checked.check_after(returned)
    memory.check()
    return "accepted" if not case.step else "accepted: a step", ""


def serve(requests: Any, replies: Any) -> None:
    """Answer requests until there are no more."""
    record, memory = Record(), Memory()
    while True:
        try:
            cases = pickle.load(requests)
        except EOFError:
            return
        with tempfile.TemporaryDirectory() as folder:
            try:
                batch = Batch(cases, Path(folder))
            except subprocess.CalledProcessError as error:
                for at, _ in enumerate(cases):
                    pickle.dump(("broken", f"{error.stderr}" * (at == 0)), replies)
                replies.flush()
                continue
            for case in cases:
                faulthandler.dump_traceback_later(TIMEOUT, exit=True)
                try:
                    reply = run(case, batch, record, memory)
                except Wrong as error:
                    reply = "wrong", f"{error}"
                except Exception:
                    reply = "broken", traceback.format_exc()
                pickle.dump(reply, replies)
                replies.flush()
                faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    faulthandler.enable()
    warnings.simplefilter("ignore")
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, channel)
