"""Values between wrappers and C where the C ABIs of machines differ.

Registers that are wider than a value, structs of one and two registers, and what is on the stack.
The code generator of level 0 is not that of other levels on every machine.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Final

import pytest
from tvm_ffi import libinfo

from ffi_builder import attach_ffi_func, runtime, spec
from ffi_builder.providers import CallProvider, DirectCallProvider, NestedTensorCallProvider
from ffi_builder.spec import Var, dims
from ffi_builder.spec.results import Result
from tests.differential.description import DLTensor, Plain, Value, of_float, of_int, tensor
from tests.support.native import loaded
from tests.support.wrapping import RawWrapper, new_module

LEVELS: Final = (0, 2)
SOURCE: Final = r"""
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <tvm/ffi/c_api.h>

uint64_t ffib_register(uint64_t bits) { return bits; }
double ffib_float_register(uint64_t bits) { double v; memcpy(&v, &bits, 8); return v; }

int64_t ffib_seen[8];
#define SEE(i, value) ffib_seen[i] = (int64_t)(value)

void ffib_structs(DLDevice in_register, DLDataType narrow, int64_t a, int64_t b, int64_t c, int64_t d,
                  int8_t e, DLDevice f, DLDataType g, int16_t h, DLDevice on_stack,
                  DLDataType narrow_on_stack) {
  SEE(0, in_register.device_type * 100 + in_register.device_id);
  SEE(1, narrow.code * 100000 + narrow.bits * 100 + narrow.lanes);
  SEE(2, a + b + c + d + e);
  SEE(3, f.device_type * 100 + f.device_id);
  SEE(4, g.code * 100000 + g.bits * 100 + g.lanes);
  SEE(5, h);
  SEE(6, on_stack.device_type * 100 + on_stack.device_id);
  SEE(7, narrow_on_stack.code * 100000 + narrow_on_stack.bits * 100 + narrow_on_stack.lanes);
}

TVMFFIByteArray ffib_text(int64_t length) {
  TVMFFIByteArray text = {"a text of some length", (size_t)length};
  return text;
}
"""


# Once in a process: whatever is linked later finds the library that was loaded first.
@pytest.fixture(scope="session")
def library() -> ctypes.CDLL:
    """The C functions, which compiled modules find."""
    return loaded(SOURCE, "-O2", *(f"-I{include}" for include in libinfo.include_paths()))


def compiled(
    level: int,
    params: list[spec.Param],
    provider: CallProvider,
    returns: Result | None = None,
    link: Sequence[bytes] = (),
) -> runtime.CompiledModule:
    module = new_module()
    attach_ffi_func(module, "f", params, provider, returns=returns)
    return runtime.compile(module, opt_level=level, link=link)


ABOVE: Final = 0xA5A5_5A5A_C3C3_3C3C
"""The content of the bits of a register that a narrow value leaves free."""
NARROW: Final[dict[str, list[tuple[int, object]]]] = {
    "bool": [(0x00, False), (0x01, True)],
    "int8": [(0x80, -128), (0x7F, 127)],
    "uint8": [(0x80, 128), (0x01, 1)],
    "int16": [(0x8000, -32768), (0x7FFF, 32767)],
    "uint16": [(0x8000, 32768), (0x0001, 1)],
    "int32": [(0x8000_0000, -(2**31)), (0x7FFF_FFFF, 2**31 - 1)],
    "uint32": [(0x8000_0000, 2**31), (0x0000_0001, 1)],
    "float16": [(0xBE00, -1.5), (0x0001, 2.0**-24)],
    "bfloat16": [(0xC000, -2.0), (0x3F80, 1.0)],
    "float32": [(0x3F00_0000, 0.5), (0x0000_0001, 2.0**-149)],
}
BITS: Final = {"bool": 8, "bfloat16": 16}


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", NARROW)
def test_bits_above_a_result_mean_nothing(dtype: str, level: int) -> None:
    """On AArch64 functions leave there what they like, and callers extend what they need."""
    name = "ffib_float_register" if "float" in dtype else "ffib_register"
    provider = DirectCallProvider(name)
    f = compiled(level, [Var("bits", "uint64")], provider, Var("r", dtype))["f"]
    width = BITS.get(dtype) or int(dtype.lstrip("uintfloa"))
    for low, expected in NARROW[dtype]:
        got = f((ABOVE >> width << width) | low)
        assert (got, type(got)) == (expected, type(expected))


KINDS: Final[list[spec.Param]] = [
    spec.Device("p0"),
    spec.DType("p1"),
    *(Var(f"p{i}", "int64") for i in range(2, 6)),
    Var("p6", "int8"),
    spec.Device("p7"),
    spec.DType("p8"),
    Var("p9", "int16"),
    spec.Device("p10"),
    spec.DType("p11"),
]


def device(type_: int, id_: int) -> Value:
    return Plain(6, id_ << 32 | type_)


def dtype_of(code: int, bits: int, lanes: int) -> Value:
    return Plain(5, lanes << 16 | bits << 8 | code)


@pytest.mark.parametrize("level", LEVELS)
def test_structs_of_one_register_also_on_the_stack(library: ctypes.CDLL, level: int) -> None:
    module = compiled(level, KINDS, DirectCallProvider("ffib_structs"))
    given = [
        *(device(2, 3), dtype_of(2, 16, 4), of_int(1), of_int(2), of_int(3), of_int(4), of_int(-8)),
        *(device(1, 0), dtype_of(0, 8, 1), of_int(-300), device(4, 7), dtype_of(1, 64, 2)),
    ]
    assert RawWrapper(module, "f")(*given) is None
    seen = list((ctypes.c_int64 * 8).in_dll(library, "ffib_seen"))
    assert seen == [203, 201604, 2, 100, 801, -300, 407, 106402]


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("level", LEVELS)
def test_a_struct_of_two_registers_is_returned(level: int) -> None:
    provider = DirectCallProvider("ffib_text")
    f = compiled(level, [Var("length", "int64")], provider, spec.String("r"))["f"]
    assert [f(0), f(6), f(21)] == ["", "a text", "a text of some length"]


n, m = dims("n m")
STRUCT: Final = "!llvm.struct<(ptr, struct<(struct<(i64, i64)>, i64)>)>"
NESTED: Final = f"""
llvm.func @k(%x: {STRUCT}, %v: i8 {{llvm.signext}}, %y: {STRUCT}, %h: f16, %z: {STRUCT}) -> i32 {{
  %a = llvm.extractvalue %x[0] : {STRUCT}
  %b = llvm.extractvalue %y[1, 1] : {STRUCT}
  %c = llvm.extractvalue %z[1, 0, 1] : {STRUCT}
  %d = llvm.sext %v : i8 to i64
  %e = llvm.fptosi %h : f16 to i64
  llvm.store %b, %a : i64, !llvm.ptr
  %a1 = llvm.getelementptr %a[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %c, %a1 : i64, !llvm.ptr
  %a2 = llvm.getelementptr %a[16] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %d, %a2 : i64, !llvm.ptr
  %a3 = llvm.getelementptr %a[24] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %e, %a3 : i64, !llvm.ptr
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.return %zero : i32
}}
"""


@pytest.mark.parametrize("callee_level", LEVELS)
@pytest.mark.parametrize("level", LEVELS)
def test_structs_in_and_between_code_generators(level: int, callee_level: int) -> None:
    """LLVM passes structs as their members, some of which are on the stack."""
    x, y, z = (
        spec.Tensor(name, [n, m], "int64", strides=[s, 1], device_type="cpu")
        for name, s in zip("xyz", dims("s_x s_y s_z"), strict=True)
    )
    params: list[spec.Param] = [x, Var("v", "int8"), y, Var("h", "float16"), z]
    provider = NestedTensorCallProvider("k", address_space=0)
    kernel = runtime.lower(NESTED, opt_level=callee_level).object
    module = compiled(level, params, provider, link=[kernel])
    out = (ctypes.c_int64 * 4)()
    at = ctypes.addressof(out)

    def with_stride(outer: int) -> Value:
        return tensor(DLTensor((5, 6), (outer, 1), at, dtype=(0, 64, 1)))

    given = [with_stride(7), of_int(-2), with_stride(8), of_float(3.0)]
    assert RawWrapper(module, "f")(*given, with_stride(9)) is None
    assert list(out) == [8, 6, -2, 3]
