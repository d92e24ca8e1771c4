"""Compares what a kernel has got with what was passed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.wrapping.drawn.cases import BYTES, RANGES, Case, Param, Tensor
from tests.wrapping.drawn.code import Record, is_bytes
from tests.wrapping.drawn.memory import PAGE, Given, Wrong, dtype_of, entries_of


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
    if case.door == "direct" or (case.door == "LLVM IR" and not has_sign(param)):
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
    if is_bytes(param, case) or (case.door == "ctypes" and param.type == "DLTensor"):
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
        groups = [[*given.expected(entry)] for entry in entries]
        texts = [
            at for at, e in enumerate(entries) if case.types.get(f"{e}") in ("String", "Bytes")
        ]
        if knows_elements(case) and sum(map(len, groups)) - len(case.params) == len(texts):
            for at in texts:  # with a parameter less for each, they end in a NUL
                del groups[at][1:]
        self.expected = [each for group in groups for each in group]
        names = [e for e in entries if isinstance(e, str)]
        self.by_pointer = "r" in names and "r" in case.results

    def count(self) -> None:
        if len(self.expected) != len(self.case.params):
            raise Wrong(f"{len(self.expected)} arguments for {len(self.case.params)} parameters")

    def check_types(self) -> None:
        """Check what is accepted without a call."""
        self.count()
        for param, (kind, value) in zip(self.case.params, self.expected, strict=True):
            if (kind == "number") != (param.kind == "number"):
                raise Wrong(f"{param.c} gets {kind} {value!r}")
            if kind == "tensor":
                type_: Any = self.case.types[value[0]]
                check_type(self.case, param, type_.dtype.split(" | "))
            if knows_elements(self.case) and not self._may_get(param, kind, value):
                raise Wrong(f"{param.c} gets {kind}")

    def _may_get(self, param: Param, kind: str, value: Any) -> bool:
        """Return whether a pointer may be passed for another."""
        is_ctypes = self.case.door == "ctypes"  # which lacks const, and some types
        is_opaque = param.type == "DLTensor" and not is_ctypes
        match kind:
            case "tensor":
                type_: Any = self.case.types[value[0]]
                is_written = type_.intent in ("out", "inout") and param.is_const
                return param.kind != "list" and not is_opaque and (is_ctypes or not is_written)
            case "result":
                is_const = param.is_const and not is_ctypes
                return param.kind != "list" and not is_opaque and not is_const
            case "bytes":
                is_bytes = param.dtype in BYTES and not param.row
                return param.kind != "list" and (is_bytes or param.type == "void" or is_ctypes)
            case "int64s" | "strides":
                return param.kind != "list" and (param.type == "void" or param.dtype == "int64")
            case "dltensor":
                return is_ctypes or param.type in ("void", "DLTensor")
            case _:
                return True

    def tell(self) -> None:
        """Say to the kernel how many elements there are."""
        self.count()
        for at, (param, (kind, value)) in enumerate(
            zip(self.case.params, self.expected, strict=True)
        ):
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
                    info[:7] = [int(param.type != "DLTensor"), 1, 1, 0, 0, 0, 1]
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
        rng: Any = np.random.default_rng(at)
        pattern: bytes = rng.integers(0, 2, array.shape).astype(array.dtype).tobytes()
        writes = not param.is_const and type_.intent != "in" and array.flags.writeable
        if param.type == "DLTensor":
            return [0] * 8, b""
        if is_bytes(param, self.case):
            size = array.nbytes if array.flags.c_contiguous else 0
            info = [size, 1, 1, 1, 0, 0, int(writes), size]
        elif param.row:
            lead = math.prod(array.shape[: array.ndim - len(param.row)])
            limits = array.shape[-2:] if type_.strides else (PAGE, PAGE)
            limits = (*limits[-len(param.row) :], PAGE, PAGE)
            info = [lead, *limits[:2], 0, 0, 0, int(writes), 0]
        else:
            shape = [*array.shape, 1, 1, 1][:3]
            steps = [each // array.itemsize for each in array.strides] + [0, 0, 0]
            info = [*shape, *steps[:3], int(writes), 0]
        if writes and array.size and knows_elements(self.case) and info[0]:
            self.written[name] = pattern
        return info, pattern

    def check(self) -> None:
        """Raise Wrong if the kernel has got something else."""
        if not self.record.called:
            raise Wrong("the kernel was not called")
        for at, (param, (kind, value)) in enumerate(
            zip(self.case.params, self.expected, strict=True)
        ):
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
            both = name != value[0] and other.size and value[1].size
            if both and np.may_share_memory(other, value[1]):
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
                if param.type == "DLTensor":
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
            place = next(
                p
                for p, (k, _) in zip(self.case.params, self.expected, strict=True)
                if k == "result"
            )
            if (
                self.case.door in ("prototype", "header", "ctypes")
                and not place.is_const
                and place.type != "DLTensor"
            ):
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
