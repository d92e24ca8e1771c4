"""The code of the kernels: C, LLVM IR, and types of ctypes.

Each writes what it gets to a page at a fixed address, which :class:`Record` has.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterable
from typing import Any, Final

from tests.wrapping.drawn.cases import BYTES, ENUMS, Case, Param

BASE: Final = 0x2A0000000000
MOST: Final = 32
"""So many parameters."""
_INFO, _GOT, _ELEMENTS, _PATTERN = (BASE + offset for offset in (4096, 12288, 16384, 16384 + 2**18))
_SIZE: Final = 16384 + 2**19
_EACH: Final = 2**18 // MOST
_HEAD: Final = f"""
#include <stdint.h>
#include <stddef.h>
#include <string.h>
#include <dlpack/dlpack.h>
#define CALLED ((long *){BASE}L)
#define RETURNED ((void *){BASE + 64}L)
#define INFO(i) ((long *)({_INFO}L + (i) * 128))
#define GOT(i) ((char *)({_GOT}L + (i) * 64))
#define READ(i, k, x) memcpy((char *)({_ELEMENTS}L + (i) * {_EACH}) + (k) * sizeof(x), (void *)&(x), sizeof(x))
#define WRITE(i, k, x) \\
  if (INFO(i)[6]) memcpy((void *)&(x), (char *)({_PATTERN}L + (i) * {_EACH}) + (k) * sizeof(x), sizeof(x))
{ENUMS}
"""


class Record:
    """What the kernel has got, and what the test tells it."""

    def __init__(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [
            *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int),
            ctypes.c_long,
        ]
        fixed = 0x100000  # MAP_FIXED_NOREPLACE
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | fixed
        found = libc.mmap(BASE, _SIZE, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
        assert found == BASE, (found, ctypes.get_errno())

    def clear(self) -> None:
        ctypes.memset(BASE, 0, _SIZE)

    @property
    def called(self) -> int:
        return ctypes.c_int64.from_address(BASE).value

    def returns(self, data: bytes) -> None:
        ctypes.memmove(BASE + 64, data, len(data))

    def tell(self, at: int, info: Iterable[int], pattern: bytes) -> None:
        """Tell a parameter's counts and strides, whether to write, its bytes, and what to write."""
        (ctypes.c_int64 * 8).from_address(_INFO + 128 * at)[:] = [*info]
        ctypes.memmove(_PATTERN + _EACH * at, pattern, len(pattern))

    def got(self, at: int, size: int) -> bytes:
        return ctypes.string_at(_GOT + 64 * at, size)

    def elements(self, at: int, size: int) -> bytes:
        return ctypes.string_at(_ELEMENTS + _EACH * at, size)


def c_source(cases: Iterable[Case]) -> str:
    """Return the code of kernels in C."""
    return _HEAD + "".join(f"{case.prototype} {{\n{_body(case)}}}\n" for case in cases)


def is_bytes(param: Param, case: Case) -> bool:
    """Return whether a pointer points to any elements."""
    if case.door == "ctypes" and param.kind != "list" and (param.row or param.dtype not in _CTYPES):
        return param.type != "DLTensor"
    return not param.row and (param.type == "void" or param.dtype in BYTES)


def _body(case: Case) -> str:
    lines = ["CALLED[0]++;"]
    for at, param in enumerate(case.params):
        name, info = param.name, f"INFO({at})"
        lines.append(f"memcpy(GOT({at}), (void *)&{name}, sizeof {name}); long k{at} = 0;")
        if param.kind == "number":
            continue
        if param.kind == "list":
            if param.type not in ("void", "DLTensor"):
                element = f"{name}[a][b]"
                loops = f"for (long a = 0; a < {info}[0]; a++) for (long b = 0; b < {info}[1]; b++)"
            else:
                continue
        elif is_bytes(param, case):
            element = f"((char *){name})[a]"
            loops = f"for (long a = 0; a < {info}[7]; a++)"
        elif param.type == "DLTensor":
            lines.append(
                f"if ({name} && {info}[0]) {{ READ({at}, 0, {name}->data); "
                f"long ndim = {name}->ndim; READ({at}, 1, ndim); "
                f"for (long a = 0; a < ndim; a++) READ({at}, 2 + a, {name}->shape[a]); }}"
            )
            continue
        elif param.row:
            loops = f"for (long a = 0; a < {info}[0]; a++)"
            element = f"{name}[a]"
            for depth, size in enumerate(param.row):
                limit = f"r{depth} < {size} && r{depth} < {info}[{depth + 1}]"
                loops += f" for (long r{depth} = 0; {limit}; r{depth}++)"
                element += f"[r{depth}]"
        else:
            loops = " ".join(
                f"for (long {v} = 0; {v} < {info}[{i}]; {v}++)" for i, v in enumerate("abc")
            )
            element = f"{name}[a * {info}[3] + b * {info}[4] + c * {info}[5]]"
        write = "" if param.is_const else f"WRITE({at}, k{at}, {element}); "
        lines.append(f"if ({name}) {loops} {{ READ({at}, k{at}, {element}); {write}k{at}++; }}")
    if case.result.kind == "pointer":
        lines.append("return 0;")
    elif case.result.kind == "number":
        lines.append(
            f"{case.result.type} own_result; memcpy(&own_result, RETURNED, sizeof own_result); return own_result;"
        )
    return "".join(f"  {line}\n" for line in lines)


_LLVM: Final = {"bool": "i1", "float16": "half", "float32": "float", "float64": "double"}


def llvm_ir(case: Case) -> str:
    """Return a kernel as LLVM IR, which has no types of elements."""
    params, body = list[str](), [f"  store i64 1, ptr inttoptr (i64 {BASE} to ptr)"]
    for at, param in enumerate(case.params):
        place = f"ptr inttoptr (i64 {_GOT + 64 * at} to ptr)"
        own = f'%"{param.name}"'
        if param.kind != "number":
            noalias = " noalias" * (param.is_restrict and not param.is_const)
            align = f" align {param.align}" if param.align > 1 else ""
            params.append(f"ptr{noalias}{align} {own}")
            body.append(f"  store ptr {own}, {place}")
            continue
        type_ = llvm_type(param)
        params.append(f"{type_}{_extension(param)} {own}")
        if type_ == "i1":
            body.append(f"  %wide{at} = zext i1 {own} to i8")
            type_, own = "i8", f"%wide{at}"
        body.append(f"  store {type_} {own}, {place}")
    result = "void"
    if case.result.kind == "number":
        result = llvm_type(case.result)
        memory = "i8" if result == "i1" else result
        body.append(f"  %r = load {memory}, ptr inttoptr (i64 {BASE + 64} to ptr)")
        if result == "i1":
            body.append("  %bit = trunc i8 %r to i1")
        body.append(f"  ret {result} {'%bit' if result == 'i1' else '%r'}")
        result = f"{_extension(case.result).strip()} {result}"
    elif case.result.kind == "pointer":
        result = "ptr"
        body.append("  ret ptr null")
    else:
        body.append("  ret void")
    lines = "\n".join(body)
    return f"define {result} @{case.name}({', '.join(params)}) {{\n{lines}\n}}\n"


def llvm_type(param: Param) -> str:
    dtype = f"{param.dtype}"
    return _LLVM.get(dtype) or f"i{dtype.lstrip('uint')}"


def _extension(param: Param) -> str:
    if param.is_signless or param.dtype not in ("int8", "uint8", "int16", "uint16", "bool"):
        return ""
    return " signext" if f"{param.dtype}"[0] == "i" else " zeroext"


_CTYPES: Final = {
    "bool": ctypes.c_bool,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
    **{f"int{bits}": getattr(ctypes, f"c_int{bits}") for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": getattr(ctypes, f"c_uint{bits}") for bits in (8, 16, 32, 64)},
}


def has_ctypes(case: Case) -> bool:
    """Return whether ctypes has the types of numbers."""
    numbers = [param for param in (*case.params, case.result) if param.kind == "number"]
    return all(param.dtype in _CTYPES for param in numbers)


def ctypes_function(case: Case, library: ctypes.CDLL) -> Any:
    """Return a kernel as a function of ctypes."""
    function: Any = library[case.name]
    function.argtypes = [_ctype(param) for param in case.params]
    function.restype = _ctype(case.result)
    if case.result.dtype == "int32" and case.result.kind == "number":
        # An int may be what ctypes says where nothing is set.
        class_ = ctypes.CFUNCTYPE(function.restype, *function.argtypes)
        return class_(ctypes.cast(function, ctypes.c_void_p).value or 0)
    return function


def _ctype(param: Param) -> Any:
    type_ = _CTYPES.get(f"{param.dtype}")
    match param.kind:
        case "void":
            return None
        case "number":
            return type_
        case "list":
            return ctypes.POINTER(ctypes.POINTER(type_) if type_ else ctypes.c_void_p)
        case _:
            return ctypes.POINTER(type_) if type_ and not param.row else ctypes.c_void_p
