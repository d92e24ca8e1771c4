"""Plans as people read them."""

from __future__ import annotations

import re
from textwrap import dedent

from ffi_builder import spec
from ffi_builder.plan import explain, make_plan
from ffi_builder.spec import (
    ConstBool,
    ConstFloat,
    DataPointer,
    DefaultConfig,
    Shape,
    Signature,
    Tensor,
    TupleParam,
    Var,
    ceildiv,
    dims,
)

n, k = dims("n k")


def assert_explains(signature: Signature, text: str):
    assert explain(signature) == dedent(text).strip("\n")
    assert explain(signature) == str(make_plan(signature))


def test_scalars_and_constants():
    alpha, rows = Var("alpha", "float32"), Var("rows", "int32", min=1, divisibility=8)
    signature = Signature(
        "scale", [alpha, rows, ConstBool("flip", False), ConstFloat("eps", 1e-5), DataPointer("p")]
    )
    assert_explains(
        signature,
        """
        scale(alpha: float32, rows: int32, flip: Literal[False], eps: Literal[1e-05], p: DataPointer)
              at                   expected                                              otherwise
           0  number of arguments  5                                                     TypeError
           1  argument array       a non-NULL pointer                                    ValueError
           2  type of alpha        float                                                 TypeError
           3  alpha                binds alpha
           4  type of rows         int                                                   TypeError
           5  rows                 a value that fits int32 (-2147483648 to 2147483647)   ValueError
           6  rows                 at least 1 (min of rows)                              ValueError
           7  rows                 a multiple of 8 (divisibility of rows)                ValueError
           8  rows                 binds rows
           9  type of flip         bool                                                  TypeError
          10  flip                 False                                                 ValueError
          11  type of eps          float                                                 TypeError
          12  eps                  1e-05                                                 ValueError
          13  type of p            opaque pointer, None or int                           TypeError
          14  p                    a non-negative value                                  ValueError
          15  p                    a value that fits uint64 (0 to 18446744073709551615)  ValueError
        """,
    )


def test_tensors():
    with DefaultConfig(device_type="cuda"):
        x = Tensor("x", [n, 8], "float16", data_alignment=16)
        y = Tensor("y", [n, ceildiv(k, 2)], "float16", strides=[k, 1])
    assert_explains(
        Signature("f", [x, y]),
        """
        f(x: Tensor([n, 8], float16), y: Tensor([n, ceildiv(k, 2)], float16, strides=[k, 1]))
              at                   expected                                              otherwise
           0  number of arguments  2                                                     TypeError
           1  argument array       a non-NULL pointer                                    ValueError
           2  type of x            Tensor                                                TypeError
           3  x                    a non-NULL object                                     ValueError
           4  x.ndim               2                                                     ValueError
           5  x.dtype              float16                                               TypeError
           6  x.device_type        cuda                                                  ValueError
           7  x.shape              a non-NULL pointer                                    ValueError
           8  x.shape[0]           a non-negative value                                  ValueError
           9  x.shape[0]           binds n
          10  x.shape[1]           a non-negative value                                  ValueError
          11  x.shape[1]           8                                                     ValueError
          12  x.strides[0]         {product of later dims} (row-major contiguous)        ValueError
          13  x.strides[1]         {product of later dims} (row-major contiguous)        ValueError
          14  x.shape              a product of dimensions that fits int64               ValueError
          15  x.byte_offset        data + byte_offset within the address space           ValueError
          16  x.data               a non-NULL pointer, as x has elements                 ValueError
          17  x.data               an address aligned to 16 bytes (data_alignment of x)  ValueError
          18  type of y            Tensor                                                TypeError
          19  y                    a non-NULL object                                     ValueError
          20  y.ndim               2                                                     ValueError
          21  y.dtype              float16                                               TypeError
          22  y.device_type        cuda                                                  ValueError
          23  y.device_id          {x.device_id} (the device of x)                       ValueError
          24  y.shape              a non-NULL pointer                                    ValueError
          25  y.shape[0]           a non-negative value                                  ValueError
          26  y.shape[0]           {n} (n = x.shape[0])                                  ValueError
          27  y.shape[1]           a non-negative value                                  ValueError
          28  y.strides[0]         binds k, for now
          29  y.strides[1]         1                                                     ValueError
          30  y.shape              a product of dimensions that fits int64               ValueError
          31  y.byte_offset        data + byte_offset within the address space           ValueError
          32  y.data               a non-NULL pointer, as y has elements                 ValueError
          33  y.data               an address aligned to 2 bytes, as elements of y are   ValueError
        what had to wait for a later argument:
          34  y.shape[1]           {ceildiv(k, 2)} (ceildiv(k, 2) with k = {k} from y.strides[0])  ValueError
        Strides of size-1 dimensions and of tensors without elements are free: they need only fit.
        """,
    )


def test_a_tuple_and_a_solved_symbol():
    inner = TupleParam("cfg", [Shape("dims", [n * 2 + 1]), k])
    assert_explains(
        Signature("f", [inner]),
        """
        f(cfg: Tuple(dims: Shape([n * 2 + 1]), k: int64))
              at                   expected                               otherwise
           0  number of arguments  1                                      TypeError
           1  argument array       a non-NULL pointer                     ValueError
           2  type of cfg          tuple                                  TypeError
           3  cfg                  a non-NULL object                      ValueError
           4  length of cfg        2                                      ValueError
           5  cfg                  non-NULL elements                      ValueError
           6  type of cfg[0]       Shape or list of ints                  TypeError
           7  cfg[0]               a non-NULL object                      ValueError
           8  length of cfg[0]     1                                      ValueError
           9  cfg[0]               non-NULL elements                      ValueError
          10  type of cfg[0][0]    int                                    TypeError
          11  cfg[0][0]            a non-negative value                   ValueError
          12  cfg[0][0]            a value of n * 2 + 1 for an integer n  ValueError
          13  n in cfg[0][0]       binds n
          14  type of cfg[1]       int                                    TypeError
          15  cfg[1]               a value that fits int64 (-9223372036854775808 to 9223372036854775807)  ValueError
          16  cfg[1]               binds k
        """,
    )


def test_nothing_to_pass():
    assert_explains(
        Signature("f", []),
        """
        f()
             at                   expected  otherwise
          0  number of arguments  0         TypeError
        """,
    )


def test_a_symbol_that_strides_share():
    params: list[spec.Param] = [
        Tensor(name, [4], "int8", device_type="cpu", strides=[n]) for name in "xy"
    ]
    found = [
        line
        for line in explain(Signature("f", [*params, n])).splitlines()
        if "{n}" in line or "binds" in line
    ]
    assert [" ".join(line.split()[1:]) for line in found] == [
        "x.strides[0] binds n, for now",
        "y.strides[0] {n} (n = x.strides[0]) ValueError",
        "n {n} (n = x.strides[0] or y.strides[0]) ValueError",
    ]


def test_tensors_of_any_kind():
    x = Tensor("x", ..., ("float16", "bfloat16"), device_type="any", strides="F")
    y = Tensor("y", [n], "int8", device_type="cuda", strides="any")
    assert_explains(
        Signature("f", [x, spec.Optional(y), Tensor("z", [n], "int8", device_type="cuda")]),
        """
        f(x: Tensor(..., float16 | bfloat16, strides=F), y: Optional(Tensor([n], int8, strides=any)), z: Tensor([n], int8))
              at                   expected                                               otherwise
           0  number of arguments  3                                                      TypeError
           1  argument array       a non-NULL pointer                                     ValueError
           2  type of x            Tensor                                                 TypeError
           3  x                    a non-NULL object                                      ValueError
           4  x.ndim               a non-negative value                                   ValueError
           5  x.dtype              one of float16, bfloat16                               TypeError
           6  x.shape              a non-NULL pointer                                     ValueError
           7  x.shape[i]           a non-negative value                                   ValueError
           8  x.strides[i]         {product of earlier dims} (column-major contiguous)    ValueError
           9  x.shape              a product of dimensions that fits int64                ValueError
          10  x.byte_offset        data + byte_offset within the address space            ValueError
          11  x.data               a non-NULL pointer, as x has elements                  ValueError
          12  x.data               an address aligned to 2 bytes, as elements of x are    ValueError
          13  y                    may be None: it is then absent
          14  type of y            Tensor or None                                         TypeError
          15  y                    a non-NULL object                                      ValueError
          16  y.ndim               1                                                      ValueError
          17  y.dtype              int8                                                   TypeError
          18  y.device_type        cuda                                                   ValueError
          19  y.device_id          {x.device_id} (the device of x)                        ValueError
          20  y.shape              a non-NULL pointer                                     ValueError
          21  y.shape[0]           a non-negative value                                   ValueError
          22  y.shape[0]           binds n
          23  y.shape              a product of dimensions that fits int64                ValueError
          24  y.byte_offset        data + byte_offset within the address space            ValueError
          25  y.data               a non-NULL pointer, as y has elements                  ValueError
          26  type of z            Tensor                                                 TypeError
          27  z                    a non-NULL object                                      ValueError
          28  z.ndim               1                                                      ValueError
          29  z.dtype              int8                                                   TypeError
          30  z.device_type        cuda                                                   ValueError
          31  z.device_id          {x.device_id} or {y.device_id} (the device of x or y)  ValueError
          32  z.shape              a non-NULL pointer                                     ValueError
          33  z.shape[0]           a non-negative value                                   ValueError
          34  z.shape[0]           {n} (n = y.shape[0])                                   ValueError
          35  z.strides[0]         {product of later dims} (row-major contiguous)         ValueError
          36  z.shape              a product of dimensions that fits int64                ValueError
          37  z.byte_offset        data + byte_offset within the address space            ValueError
          38  z.data               a non-NULL pointer, as z has elements                  ValueError
        Strides of size-1 dimensions and of tensors without elements are free: they need only fit.
        Nothing in an Optional that is None is checked; the next place of a symbol then binds it.
        Of several tensors, the device is that of the first that is there and of this device type.
        """,
    )


def test_strings_and_objects():
    act = spec.Choice("act", {"relu": 1, "gelu": 2})
    assert_explains(
        Signature(
            "f",
            [
                spec.Struct("cfg", [act, spec.Object("m", "ffi.Module")]),
                spec.Function("g"),
                spec.Optional(spec.Bytes("b")),
                spec.Optional(spec.Object("o")),
                spec.DType("d"),
            ],
        ),
        """
        f(cfg: Struct(act: Choice({'relu': 1, 'gelu': 2}), m: Object('ffi.Module')), g: Function, b: Optional(Bytes), o: Optional(Object), d: DType)
              at                   expected                           otherwise
           0  number of arguments  5                                  TypeError
           1  argument array       a non-NULL pointer                 ValueError
           2  type of cfg          tuple                              TypeError
           3  cfg                  a non-NULL object                  ValueError
           4  length of cfg        2                                  ValueError
           5  cfg                  non-NULL elements                  ValueError
           6  type of cfg.act      str                                TypeError
           7  cfg.act              a non-NULL object                  ValueError
           8  length of cfg.act    at most 7, as it is held in place  ValueError
           9  cfg.act              non-NULL elements                  ValueError
          10  cfg.act              one of 'relu', 'gelu'              ValueError
          11  type of cfg.m        ffi.Module                         TypeError
          12  cfg.m                a non-NULL object                  ValueError
          13  type of g            Function                           TypeError
          14  g                    a non-NULL object                  ValueError
          15  b                    may be None: it is then absent
          16  type of b            bytes or None                      TypeError
          17  b                    a non-NULL object                  ValueError
          18  length of b          at most 7, as it is held in place  ValueError
          19  b                    non-NULL elements                  ValueError
          20  o                    may be None: it is then absent
          21  type of o            Object or None                     TypeError
          22  o                    a non-NULL object                  ValueError
          23  type of d            dtype                              TypeError
        Nothing in an Optional that is None is checked; the next place of a symbol then binds it.
        """,
    )


def test_a_step_by_itself():
    x = Tensor("x", [4, 5], "int8", device_type="cpu")
    steps = make_plan(Signature("f", [Shape("s", [n, 4, n]), x])).steps
    texts = [str(step) for step in steps]
    assert texts[0] == "number of arguments: expected 2, otherwise TypeError"
    assert "s[0]: binds n" in texts
    stride = "expected {product of later dims} (row-major contiguous), otherwise ValueError"
    assert f"x.strides[0]: {stride}\nx.strides[1]: {stride}" in texts
    assert "s[1]: expected 4, otherwise ValueError" in texts
    assert "s[2]: expected {n} (n = where it is bound), otherwise ValueError" in texts


def results_of(params: list[spec.Param], returns: list[spec.Tensor | spec.Var]) -> list[str]:
    """Return the lines on results: each row in columns, then how they come."""
    text = explain(Signature("f", params, returns))
    _, _, rows = text.partition("then, of what is returned:\n")
    return [re.sub(r" {2,}", " | ", row.strip()) for row in rows.splitlines()]


def test_results():
    """Each size that may be none is checked, and nothing that is known."""
    device, size, unsigned = Var("d", "int32"), Var("size", "int64"), Var("u", "uint64")
    small = Var("small", "uint32")
    x = Tensor("x", [n], "float32", device_type="cuda", strides=[1])
    shape: list[spec.Dim] = [n, n * 2, size, unsigned, small, 3]
    y = Tensor("y", shape, "float32", device_type="cuda", device_id=device, data_alignment=2)
    z = Tensor("z", [n], "int8", device_type="cpu", data_alignment=1)
    assert results_of([x, device, size, unsigned, small], [y, z, Var("r", "int32")]) == [
        "y.shape[1] | n * 2, at least 0 | ValueError",
        "y.shape[2] | size, at least 0 | ValueError",
        "y.shape[3] | u, at least 0 | ValueError",
        "y.device_id | d, 0 to 2147483647 | ValueError",
        "y | allocated | RuntimeError, or the allocator's",
        "y.data | aligned to 2 bytes by the allocator | RuntimeError",
        "z | allocated | RuntimeError, or the allocator's",
        "Strides of size-1 dimensions and of tensors without elements are free: they need only fit.",
        "Returns (y: Tensor([n, n * 2, size, u, small, 3], float32), z: Tensor([n], int8), r: int32).",
    ]


def test_the_bounds_of_a_symbol():
    rows = explain(Signature("f", [Var("a", "int8", min=-2, max=5)])).splitlines()
    said = [re.sub(r" {2,}", " | ", row.strip()) for row in rows]
    assert "5 | a | at most 5 (max of a) | ValueError" in said
    assert "4 | a | at least -2 (min of a) | ValueError" in said


def test_a_symbol_is_bound_once() -> None:
    signature = Signature.parse("f(p: handle, b: bool) where p.present, b", device="cpu")
    rows = [" ".join(line.split()[1:]) for line in explain(signature).splitlines()]
    for name in "p", "b":
        assert rows.count(f"{name} binds {name}") == 1
        assert rows.count(f"{name} conditions see {name}") == 1
