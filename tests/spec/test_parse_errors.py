"""Text that is no signature: errors show the line, with carets under the place."""

from __future__ import annotations

from pathlib import Path

import pytest

from ffi_builder import SpecError
from ffi_builder.spec import Signature
from ffi_builder.spec.tensors.devices import DEVICES

TYPES = (
    "Tensor, Tuple, Struct, TensorList, List, Shape, Stream, EnvStream, Workspace, DataPointer, Variant, None, Literal, Any, Choice, String, "
    "Bytes, DType, Device, Object, Function, Array, Map, Optional, or one of int8, int16, int32, "
    "int64, uint8, uint16, uint32, uint64, bool, float16, bfloat16, float32, float64, handle"
)

ERRORS = """
expected the name of the function but got the end

^
expected '(' but got the end
f
 ^
expected the name of a parameter but got '3'
f(3)
  ^
expected ',' or ')' but got the end
f(n: int64
          ^
expected ':' but got ','
f(n, k)
   ^
expected '->', 'where' or the end but got 'were'
f(n: int64) were n: int8
            ^^^^
expected ',' or the end but got 'k'
f(n: int64, k: int8) where n <= 3 k <= 4
                                  ^
expected '->', 'where' or the end but got 'g': a text has one signature
f(n: int64) g(n: int64)
            ^
expected 'where' or the end but got ',': several results are in parentheses, as in `-> (x: int32, y: float32)`
f(n: int64) -> x: int32, y: float32
                       ^
expected an expression of symbols
f(s: String) where s.length == 3
                   ^^^^^^^^
unexpected '$'
f(n: int64, $k: int8)
            ^
unexpected '/': sizes are divided by `//`, or by ceildiv
f(x: Tensor([n / 2], float32))
               ^
unexpected 'torch.float32', did you mean 'float32'?
f(x: Tensor([n], torch.float32))
                 ^^^^^
unexpected 'np.x', write the name of a dtype alone
f(x: Tensor([n], np.x))
                 ^^
unexpected '\u00e9'
f(n: int64, é: int64)
            ^
unexpected '\\xa0'
f(n: int64, \u00a0 k: int64)
            ^
unexpected '"'
f(n: "int64)
     ^
expected a type: TYPES, but got 'Tnsor', did you mean 'Tensor'?
f(n: int64, x: Tnsor([n], float32))
               ^^^^^
dtype: expected a DLPack type name such as 'float32', 'bool' or 'float8_e4m3fn' but got 'float23', did you mean 'float32'?
f(x: Tensor([n], float23))
                 ^^^^^^^
option of a Tensor: expected one of strides, device_type, device_id, data_alignment, storage_dtype, intent but got 'stride', did you mean 'strides'?
f(x: Tensor([n], float32, stride=[1]))
                          ^^^^^^
intent is given twice
f(x: Tensor([n], float32, intent=in, intent=out))
                                     ^^^^^^
intent: expected one of in, out, inout but got 'input', did you mean 'inout'?
f(x: Tensor([n], float32, intent=input))
                                 ^^^^^
device_type: expected one of DEVICES but got 'gpu', did you mean 'cuda'?
f(x: Tensor([n], float32, device_type=gpu))
                                      ^^^
strides: expected one of C, F, any but got 'c', did you mean 'C'?
f(x: Tensor([n], float32, strides=c))
                                  ^
expected strides such as [n, 1], or C, F or any, but got '1'
f(x: Tensor([n], float32, strides=1))
                                  ^
expected strides such as [n, 1], or C, F or any, but got '...'
f(x: Tensor(..., float32, strides=...))
                                  ^^^
Tensor 'x': strides: expected None, 'C', 'F' or 'any', as the shape is ..., but got [1]
f(x: Tensor(..., float32, strides=[1]))
     ^^^^^^
'...' is the whole shape of a Tensor and cannot be an entry
f(x: Tensor([n, ...], float32))
                ^^^
'...' is the whole shape of a Tensor and cannot be an entry
f(x: Tensor([n], float32, strides=[...]))
                                   ^^^
'...' is the whole shape of a Tensor and cannot be an entry
f(x: Shape([..., 2]))
            ^^^
expected '[' but got '...'
f(x: Shape(...))
           ^^^
expected the shape, which is before the dtype: Tensor([…], float32)
f(x: Tensor(float32, [n]))
            ^^^^^^^
expected ',' but got '['
f(x: Tensor(...[n], float32))
               ^
expected '[' but got '.'
f(x: Tensor(.., float32))
            ^
expected a dtype such as float32 but got ')'
f(x: Tensor([n], float32 |))
                          ^
float32 is given twice
f(x: Tensor([n], float32 | float16 | float32))
                                     ^^^^^^^
float32x1 is given twice
f(x: Tensor([n], float32 | float32x1))
                           ^^^^^^^^^
dtype: expected a DLPack type name such as 'float32', 'bool' or 'float8_e4m3fn' but got 'float61', did you mean 'float64'?
f(x: Tensor([n], float32 | float61))
                           ^^^^^^^
expected ')' but got '|'
f(x: Tensor([n], int4, storage_dtype=int8 | int16))
                                          ^
Tensor 'x': storage_dtype: expected a single dtype but the tensor has int4, uint4
f(x: Tensor([n], int4 | uint4, storage_dtype=int8))
     ^^^^^^
Tensor 'x': strides: expected 1 entries, one for each dimension of [n], but got 2: [1, 2]
f(x: Tensor([n], float32, strides=[1, 2]))
     ^^^^^^
Tensor 'x': data_alignment: expected a power of two but got 3
f(x: Tensor([n], float32, data_alignment=3))
     ^^^^^^
expected an int, a symbol or an expression but got ']'
f(x: Tensor([n + ], float32))
                 ^
expected ceildiv, max, min before '(', did you mean 'ceildiv'?
f(x: Tensor([n, cdiv(n, 2)], float32))
                ^^^^
expected ',' or ']' but got '='
f(x: Tensor([n = 2], float32))
               ^
divisor of '//': expected a positive int but got 0
f(x: Tensor([n // 0], float32))
               ^^
divisor of '%': expected a positive int but got k, which may be 0; write a number, or a quotient: n == q * k
f(x: Tensor([n, k, n % k], float32))
                     ^
divisor of 'ceildiv': expected a positive int but got k, which may be 0; write a number, or a quotient: n == q * k
f(x: Tensor([n, k, ceildiv(n, k)], float32))
                   ^^^^^^^
expression 2 * 3: expected at least one Var; write the int itself
f(x: Tensor([2 * 3], float32))
               ^
expected an int that fits 64 bits
f(x: Tensor([11111111111111111111111111111111111111111], float32))
             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
'n' is a float32 symbol, not an integer one
f(x: Tensor([n], float32), n: float32)
             ^
symbol 'n' is int8 before, and int16 here
f(n: int8, t: Tuple(n: int16))
                       ^^^^^
expected an int, a float, nan, inf, True or False but got 'maybe'
f(c: Literal[maybe])
             ^^^^^
expected an int, a float, nan, inf, True or False but got 'True'
f(c: Literal[-True])
              ^^^^
ConstInt 'c': value: expected an int that fits int64 but got -9223372036854775809
f(c: Literal[-9223372036854775809])
             ^^^^^^^^^^^^^^^^^^^^
ConstInt 'c': value: expected an int that fits int64 but got 9223372036854775808
f(c: Literal[9223372036854775808])
             ^^^^^^^^^^^^^^^^^^^
TupleParam 't': params: two parameters are named 'n', at 0 and 1; names must differ
f(t: Tuple(n: int8, n: int8))
     ^^^^^
DataPointer 'p': address_space: expected a non-negative int but got -1
f(p: DataPointer(address_space=-1))
     ^^^^^^^^^^^
expected a type: TYPES, but got 'string', did you mean 'String'?
f(s: string)
     ^^^^^^
expected a type: TYPES, but got 'Union', did you mean 'Function'?
f(x: Union(int8, None))
     ^^^^^
expected a type such as Tensor or float32 but got ')'
f(x: Optional())
              ^
expected '(' but got ','
f(x: Optional, y: int8)
             ^
expected ')' but got 'y'
f(x: Optional(int8, y: int8))
                    ^
Optional 'x': a DataPointer takes None already
f(x: Optional(DataPointer))
              ^^^^^^^^^^^
Optional 'x': an Optional takes None already
f(x: Optional(Optional(int8)))
              ^^^^^^^^
Optional 'x': an EnvStream is not an argument
f(x: Optional(EnvStream))
              ^^^^^^^^^
Struct 's': EnvStream 'e' is not an argument, so it cannot be a field of a struct; put it into the parameter list itself
f(s: Struct(e: EnvStream))
     ^^^^^^
Struct 's': fields: two parameters are named 'a', at 0 and 2; names must differ
f(s: Struct(a: int8, b: int8, a: int8))
     ^^^^^^
expected ':' but got ','
f(s: Struct(int8, int16))
                ^
symbol 'n' is int8 before, and int16 here
f(n: Optional(int8), s: Struct(n: Optional(int16)))
                                           ^^^^^
'x' is a float32 symbol, not an integer one
f(x: Optional(float32), s: Shape([x]))
                                  ^
its parameter says the dtype already: int8
f(x: Optional(int8)) where x: int16
                              ^^^^^
expected '{' but got 'relu'
f(c: Choice('relu', 'gelu'))
            ^^^^^^
expected '{' but got 'CBLAS_ORDER': only `wrap` with prototype= reads the enums of C
f(c: Choice(CBLAS_ORDER))
            ^^^^^^^^^^^
Choice 'c': choices: expected a dict such as {'relu': 1} but got {}
f(c: Choice({}))
     ^^^^^^
expected ':' but got ','
f(c: Choice({'relu', 'gelu'}))
                   ^
expected a choice such as 'relu' but got '1'
f(c: Choice({1: 'relu'}))
             ^
expected the int of the choice but got '1.5'
f(c: Choice({'relu': 1.5}))
                     ^^^
expected ',' or '}' but got 'gelu'
f(c: Choice({'relu': 1 'gelu': 2}))
                       ^^^^^^
choice 'relu' is given twice
f(c: Choice({'relu': 1, 'gelu': 2, "relu": 3}))
                                   ^^^^^^
Choice 'c': choices: expected 1 to 255 printable ASCII characters, without quotes and backslashes, but got ''
f(c: Choice({'relu': 1, '': 2}))
                        ^^
Choice 'c': choices: expected 1 to 255 printable ASCII characters, without quotes and backslashes, but got "it's"
f(c: Choice({"it's": 1}))
             ^^^^^^
Choice 'c': choices['b']: -129 does not fit int8 (-128 to 127)
f(c: Choice({'a': 1, 'b': -129}, int8))
                          ^^^^
Choice 'c': dtype: expected one of int8, int16, int32, int64, uint8, uint16, uint32, uint64 but got 'float32'
f(c: Choice({'a': 1}, float32))
                      ^^^^^^^
expected a dtype such as int8 but got '3'
f(c: Choice({'a': 1}, 3))
                      ^
expected ')' but got '3'
f(c: Choice({'a': 1}, int8, 3))
                            ^
unexpected "'"
f(c: Choice({'a: 1}))
             ^
expected a type key such as 'ffi.Module' but got ')'
f(o: Object())
            ^
Object 'o': type_key: expected a registered name such as 'ffi.Module' but got 'ffi Module'
f(o: Object('ffi Module'))
            ^^^^^^^^^^^^
expected ')' but got '.'
f(o: Object(ffi.Module))
               ^
expected ',' or ')' but got '('
f(s: String())
           ^
Signature 'f': EnvStream 's' is the current stream of a tensor's device, but no Tensor here is on another device than the CPU
f(x: Optional(Tensor([], int8)), s: EnvStream)
^
no parameter mentions a symbol 'nn', did you mean 'n'?
f(n: int64) where nn <= 3
                  ^^
expected a comparison such as '<=' but got 'is'
f(n: int64) where n is 3
                    ^^
expected a comparison such as '<=' but got 'n'
f(n: int64) where 8 n
                    ^
divisor of '%': expected a positive int but got 0
f(n: int64) where n % 0 == 0
                    ^
the max of this symbol is given twice
f(n: int64) where n <= 3, 4 > n
                          ^
relation 3 <= 4: expected at least one Var
f(n: int64) where n <= 3, 3 <= 4
                          ^^^^^^
no parameter mentions a symbol 'z'
f(n: int64) where n <= n * (2 - z)
                                ^
'x' is a float32 symbol, not an integer one
f(n: int64, x: float32) where n <= x
                                   ^
expected an int but got 'm'
f(n: int64, m: int64) where 1 <= n <= m
                                      ^
expected ',' or the end but got '<='
f(n: int64, m: int64) where n <= m <= 8
                                   ^^
expected '{' but got '['
f(n: int64) where n in [1, 2]
                       ^
expected an int but got 'n'
f(n: int64) where n * 2 in {n}
                            ^
values of n: expected at least one int but got ()
f(n: int64) where n in {}
                  ^^^^^^^
values of n: 2 is given twice
f(n: int64) where n in {2, 3, 2}
                  ^^^^^^^^^^^^^^
Signature 'f': where: n - 1 == n is always false
f(n: int64) where n - 1 == n
^
Signature 'f': where: n <= m is given twice
f(n: int64, m: int64) where n <= m, n <= m
^
expected ',' but got ')'
f(x: Tensor([n, max(n)], float32))
                     ^
expected ')' but got '3'
f(x: Tensor([n, min(n, 2 3)], float32))
                         ^
the max of this symbol is given twice
f(n: int64) where n <= 3, 1 <= n <= 4
                          ^
its parameter says the dtype already: int64
f(n: int64) where n: int8
                     ^^^^
an earlier constraint says the dtype already: int8
f(x: Tensor([n], int8)) where n: int8, n: int16
                                          ^^^^^
dtype of a symbol: expected one of int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool, float16, bfloat16, float32, float64, handle but got 'int46', did you mean 'int64'?
f(x: Tensor([n], int8)) where n: int46
                                 ^^^^^
Var 'n': min 4 is greater than max 3
f(n: int64) where n <= 3, n >= 4
                          ^
Var 'x': max is for integer symbols, but its dtype is float32; let the kernel check it and return a status (CheckStatus)
f(x: float32) where x <= 3
                    ^
expected an int, a symbol or an expression (no float: let the kernel check one, and return a status) but got '3.0'
f(x: float32) where x <= 3.0
                         ^^^
a text has no defaults: leave it out: Signature.parse(text).with_params(x={"default": …})
f(x: float32 = 3.0)
             ^
a text has no keyword-only parameters: leave it out, and add with_params(x={"kw_only": True})
f(n: int32, *, x: float32)
            ^
Signature 'f': nothing binds symbol 'n', which x.shape[0] = n // 2 needs; it must stand alone as a dimension, stride or scalar parameter, or in an expression a * n + b of ints that fit int64
f(x: Tensor([n // 2], float32))
^
"""


def error_rows() -> list[tuple[str, str, str]]:
    lines = ERRORS.strip("\n").split("\n")
    return list(zip(lines[::3], lines[1::3], lines[2::3], strict=True))


def message(text: str, device: str | None = "cpu") -> str:
    with pytest.raises(SpecError) as error:
        Signature.parse(text, device=device)
    assert error.value.__cause__ is None
    return str(error.value)


@pytest.mark.parametrize(("words", "text", "carets"), error_rows())
def test_errors_point_at_the_place(words: str, text: str, carets: str):
    words = words.replace("DEVICES", ", ".join(DEVICES)).replace("TYPES", TYPES)
    assert message(text) == f"Signature.parse: {words}\n    {text}\n    {carets}"


def test_only_the_line_is_shown():
    words = message("f(\n  n: int64,\n\tx: Tnsor([n]),\n)")
    assert words.endswith("\n    \tx: Tnsor([n]),\n    \t   ^^^^^")


def test_no_device():
    words = message("f(x: Tensor([n], float32))", device=None)
    assert "Tensor 'x': no device_type given. Say device_type=cpu (or cuda, …) in its " in words
    assert words.endswith("\n    f(x: Tensor([n], float32))\n         ^^^^^^")
    with pytest.raises(SpecError, match=r"Signature\.parse: device: expected one of cpu, .* 'gpu'"):
        Signature.parse("f()", device="gpu")


def test_the_grammar_names_every_word():
    """docs/signatures.md has every option and kind that the text may have."""
    page = (Path(__file__).parents[2] / "docs/signatures.md").read_text()
    grammar = page.partition("```ebnf")[2].partition("```")[0]
    words = {"strides", "device_type", "device_id", "data_alignment", "storage_dtype", "intent"}
    words |= {"address_space", "where", "ceildiv", "max", "min", "in", "...", "C", "F", "any"}
    words |= set(TYPES.partition(", or ")[0].split(", "))
    assert {word for word in words if f'"{word}"' not in grammar} == set()
